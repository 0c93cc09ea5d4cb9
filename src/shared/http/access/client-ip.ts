import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

/**
 * The client IP address, or that of the peer if `X-Forwarded-For` contains no valid one: an address with a port or a leading zero, or any
 * other text, must not count as a separate client.
 */
export function getClientIp({ ip, socket }: FastifyRequest): string {
  return isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip;
}
