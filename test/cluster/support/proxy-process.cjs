/** The process behind proxy.ts. It is separate so that a busy test does not slow it down. */
const { connect, createServer } = require('node:net');

const sockets = new Set();
let target = Number(process.argv[2]);
let delayMs = 0;
let lastText;

function pipe(from, to) {
  sockets.add(from);
  from.on('data', (data) => {
    if (lastText !== undefined && data.includes(lastText)) {
      lastText = undefined;
      from.removeAllListeners('data').resume();
    } else if (delayMs === 0) {
      to.write(data);
    } else {
      setTimeout(() => to.write(data), delayMs);
    }
  });
  from.on('error', () => undefined);
  from.on('close', () => {
    sockets.delete(from);
    to.destroy();
  });
}

const server = createServer((client) => {
  const upstream = connect(target, '127.0.0.1');
  pipe(client, upstream);
  pipe(upstream, client);
});
process.on('message', (message) => {
  if (message === 'lose') {
    sockets.forEach((socket) => socket.removeAllListeners('data').removeAllListeners('close').resume());
    sockets.clear();
  } else if (message === 'RST') {
    sockets.forEach((socket) => socket.resetAndDestroy());
  } else if (message === 'FIN') {
    sockets.forEach((socket) => socket.end());
  } else if (message.target) {
    target = message.target;
  } else if (message.lastText) {
    lastText = message.lastText;
  } else {
    delayMs = message;
  }
  process.send('done');
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
