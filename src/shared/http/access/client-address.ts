import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

/**
 * The IP address of the client, or of the peer where `X-Forwarded-For` holds none: a port, a leading zero or any other text
 * must not pass for a client of its own.
 */
export function clientAddress({ ip, socket }: FastifyRequest): string {
  return isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip;
}
