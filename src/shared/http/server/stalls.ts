import type { Server } from 'node:http';

/** This process has stalled if it does nothing for this long: it was suspended, or too busy. */
const STALL_MS = 1_500;
const TICK_MS = 500;
/** How long after a stall its consequences may appear. */
const RECENT_MS = 1_000;

/** @returns a function that tells whether this process has just stalled, so that it could not read in time what clients had sent */
export function detectStalls(server: Server): () => boolean {
  let lastTickAt = performance.now();
  let stalledAt = -Infinity;
  const tick = () => {
    const now = performance.now();
    if (now - lastTickAt > STALL_MS) {
      stalledAt = now;
    }
    lastTickAt = now;
  };
  const timer = setInterval(tick, TICK_MS).unref();
  server.once('close', () => {
    clearInterval(timer);
  });
  return () => {
    // Node's own timer may have been first.
    tick();
    return lastTickAt - stalledAt < RECENT_MS;
  };
}
