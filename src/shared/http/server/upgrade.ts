import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { completeRequests, forgetConnection } from './request-queue';

const [NODE_MAJOR = 0] = process.versions.node.split('.').map(Number);
const ignoring = new WeakSet<Server>();

/**
 * Serves a request with an `Upgrade` field as if it had none (RFC 9110 section 7.8), and what follows it on the connection. Node itself
 * would lose what arrives in the same packet. A module that accepts upgrades, such as a WebSocket gateway, replaces this.
 */
export function ignoreUpgrades(server: Server): void {
  const serve = async (request: IncomingMessage, socket: Socket, rest: Buffer) => {
    const completed = await completeRequests(socket);
    if (completed === undefined || socket.destroyed) {
      return;
    }
    forgetConnection(socket);
    socket.unshift(Buffer.concat([createHead(request), rest]));
    server.emit('connection', socket);
    socket.resume();
  };
  server.once('listening', () => {
    if (server.listenerCount('upgrade') === 0) {
      ignoring.add(server);
      server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
        if (request.headers.upgrade !== undefined && isIgnoredByNode(server, request)) {
          response.setHeader('connection', 'close');
        }
      });
      server.on('upgrade', (request, socket, rest) => {
        serve(request, socket as Socket, rest).catch(() => socket.destroy());
      });
    }
  });
}

/** The `shouldUpgradeCallback` of a server. */
export function isUpgrade(server: Server, request: IncomingMessage): boolean {
  return server.listenerCount('upgrade') > 0 && !isIgnoredByNode(server, request);
}

/**
 * Whether Node itself ignores the field, and the connection closes after the response: from Node.js 26 on, the event for upgrades lacks the
 * body, or comes before the body has arrived.
 */
function isIgnoredByNode(server: Server, { headers }: IncomingMessage): boolean {
  return NODE_MAJOR >= 26 && ignoring.has(server) && ('content-length' in headers || 'transfer-encoding' in headers);
}

/** The request line and header fields of a request, without those that name a protocol: the parser then ignores `Connection: upgrade`. */
function createHead({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const fields = rawHeaders.flatMap((name, index) =>
    index % 2 === 1 || /^(upgrade|http2-settings)$/i.test(name) ? [] : `${name}: ${rawHeaders[index + 1] ?? ''}`,
  );
  return Buffer.from(`${[`${method} ${url} HTTP/${httpVersion}`, ...fields].join('\r\n')}\r\n\r\n`, 'latin1');
}
