import ipaddr from 'ipaddr.js';

/**
 * Returns the network that counts as one client: the address itself for IPv4 (also IPv4-mapped IPv6), the /64 for IPv6; `unknown`
 * for the empty address of a connection that was closed.
 */
export function getClientNetwork(ip: string): string {
  if (!ipaddr.isValid(ip)) {
    return ip === '' ? 'unknown' : ip;
  }
  const parsed = ipaddr.process(ip);
  return parsed instanceof ipaddr.IPv6
    ? `${parsed.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
    : parsed.toString();
}
