import ipaddr from 'ipaddr.js';

/** What counts as one address. IPv4 addresses as they are, also when written as IPv6; IPv6 addresses by the /64 that one customer holds. */
export function toNetwork(address: string): string {
  if (!ipaddr.isValid(address)) {
    return address;
  }
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? `${parsed.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
    : parsed.toString();
}
