import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { completeRequests, endConnection, forgetConnection } from './request-queue';

/** From Node.js 26 on, the event for upgrades lacks the body, or comes before the body has arrived. */
const NODE_READS_BODY = parseInt(process.versions.node, 10) >= 26;
/** The servers whose upgrades no module accepts. */
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
      if (NODE_READS_BODY) {
        server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
          if (request.headers.upgrade !== undefined && hasBody(request)) {
            closeAfterResponse(request, response);
          }
        });
      }
      server.on('upgrade', (request, socket, rest) => {
        serve(request, socket as Socket, rest).catch(() => socket.destroy());
      });
    }
  });
}

/** Node loses what arrives behind the body of an upgrade that it ignores itself. */
function closeAfterResponse(request: IncomingMessage, response: ServerResponse): void {
  request.once('end', () => {
    if (!response.headersSent) {
      response.setHeader('connection', 'close');
    }
  });
  response.once('finish', () => {
    const { socket } = request;
    if (!response.hasHeader('connection')) {
      // With the header, Node would reset the connection while the client still sends, and the client could not read the response.
      void completeRequests(socket);
      socket.resume();
      endConnection(socket);
    }
  });
}

/** The `shouldUpgradeCallback` of a server. Beside the upgrades that a module accepts, clients may offer HTTP/2, as those of Java do. */
export function isUpgrade(server: Server, request: IncomingMessage): boolean {
  return ignoring.has(server)
    ? !(NODE_READS_BODY && hasBody(request))
    : server.listenerCount('upgrade') > 0 && request.headers.upgrade !== 'h2c';
}

function hasBody({ headers }: IncomingMessage): boolean {
  return 'content-length' in headers || 'transfer-encoding' in headers;
}

/** The request line and header fields of a request, without those that name a protocol: the parser then ignores `Connection: upgrade`. */
function createHead({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const fields = rawHeaders.flatMap((name, index) =>
    index % 2 === 1 || /^(upgrade|http2-settings)$/i.test(name) ? [] : `${name}: ${rawHeaders[index + 1] ?? ''}`,
  );
  return Buffer.from(`${[`${method} ${url} HTTP/${httpVersion}`, ...fields].join('\r\n')}\r\n\r\n`, 'latin1');
}
