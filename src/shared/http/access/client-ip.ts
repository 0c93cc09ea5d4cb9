import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';

const FORWARDED_FOR = 'x-forwarded-for';
/** More gateways than any request passes; entries further to the left come from the client. */
const MAX_ENTRIES = 32;
/** An address in brackets, or an IPv4 address, each with the port of the client. */
const ADDRESS_WITH_PORT = /^(?:\[([^\]]*)\](?::\d*)?|([\d.]+):\d*)$/;

/** The client IP address in canonical form; empty if the connection was closed before it was known. */
export function getClientIp({ ip, socket }: FastifyRequest): string {
  return parseAddress(ip) ?? parseAddress(socket.remoteAddress) ?? '';
}

/**
 * Lets Fastify find the client in any `X-Forwarded-For` that gateways send: before it compares the entries with TRUST_PROXY, they become
 * addresses in canonical form. The first entry from the right that is no address ends the list, so that the entry to its right is the client.
 */
export function normalizeForwardedFor(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ headers }, _reply, done) => {
    const header = headers[FORWARDED_FOR];
    if (header !== undefined) {
      headers[FORWARDED_FOR] = parseForwardedFor(String(header)).join(', ');
    }
    done();
  });
}

function parseForwardedFor(header: string): string[] {
  const addresses: string[] = [];
  for (const entry of header.split(',').slice(-MAX_ENTRIES).reverse()) {
    const text = entry.trim();
    const address = parseAddress(text);
    if (address !== undefined) {
      addresses.unshift(address);
    } else if (text !== '') {
      break;
    }
  }
  return addresses;
}

/** @returns the address in canonical form, without quotes, port and zone; undefined if the text contains none */
function parseAddress(text = ''): string | undefined {
  const unquoted = /^"(.*)"$/.exec(text)?.[1] ?? text;
  const [, inBrackets, beforePort] = ADDRESS_WITH_PORT.exec(unquoted) ?? [];
  const [address = ''] = (inBrackets ?? beforePort ?? unquoted).split('%', 1);
  // Stricter than ipaddr.js, which reads `010.1` as 8.0.0.1.
  return isIP(address) === 0 ? undefined : ipaddr.process(address).toString();
}
