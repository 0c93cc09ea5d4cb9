const WAIT_STEPS = 5;

export class TimeoutError extends Error {
  constructor(limitMs: number) {
    super(`no reply within ${limitMs} ms`);
  }
}

/**
 * Waits for a reply in steps, each of which takes at least one tick of the event loop: time in which this process itself
 * was busy, and could not have read the reply, hardly counts.
 * @throws TimeoutError when the promise is not settled in time
 */
export async function withTimeout<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const wait = (steps: number) => {
      timer = setTimeout(() => {
        if (steps > 1) {
          wait(steps - 1);
        } else {
          reject(new TimeoutError(limitMs));
        }
      }, limitMs / WAIT_STEPS);
    };
    wait(WAIT_STEPS);
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
