import { connect } from 'node:net';

/** Sends bytes that no HTTP client would send. @returns everything received until the connection closes */
export function sendRaw(port: number, bytes: string, { halfClose = false, afterResponse = '' } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    let response = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(bytes, 'latin1');
      if (halfClose) {
        socket.end();
      }
    });
    socket.setEncoding('latin1');
    if (afterResponse !== '') {
      socket.once('data', () => socket.write(afterResponse));
    }
    socket.on('data', (data: string) => (response += data));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(response);
    });
  });
}
