import type { ServerResponse } from 'node:http';

const CHECK_MS = 10_000;
const MAX_CHECKS_WITHOUT_PROGRESS = 3;

/**
 * Closes the connection when its client has read nothing of the response for 30 s. It takes up to 20 s more to notice. A response may have
 * nothing to send for any time.
 */
export function giveUpUnread(response: ServerResponse): void {
  let checksWithoutProgress = 0;
  let lastCheckAt = 0;
  const timer = setTimeout(() => {
    const { socket } = response;
    if (socket !== null && socket.writableLength > 0) {
      // Node counts bytes that arrive as progress.
      socket.pause();
      response.on('finish', () => socket.resume());
    }
  }, CHECK_MS);
  response.on('close', () => {
    clearTimeout(timer);
  });
  // Node calls back if there was no progress since its last check or the last write.
  response.setTimeout(CHECK_MS, () => {
    const { socket } = response;
    const isConsecutive = performance.now() - lastCheckAt < 1.5 * CHECK_MS;
    checksWithoutProgress = isConsecutive ? checksWithoutProgress + 1 : 1;
    lastCheckAt = performance.now();
    if (socket === null || socket.writableLength === 0) {
      checksWithoutProgress = 0;
    }
    if (checksWithoutProgress === MAX_CHECKS_WITHOUT_PROGRESS) {
      // Unlike `destroy`, this also frees what the kernel has buffered.
      socket?.resetAndDestroy();
    } else {
      socket?.setTimeout(CHECK_MS);
    }
  });
}
