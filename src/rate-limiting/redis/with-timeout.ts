const WAIT_STEPS = 5;

export class TimeoutError extends Error {
  constructor(timeoutMs: number) {
    super(`no reply within ${timeoutMs} ms`);
  }
}

/**
 * Waits for a promise with several short timers. Each takes at least one event-loop tick, so time in which this process was too busy to
 * read the reply is mostly excluded.
 * @throws TimeoutError when the promise does not settle in time
 */
export async function withTimeout<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const wait = (steps: number) => {
      timer = setTimeout(() => {
        if (steps > 1) {
          wait(steps - 1);
        } else {
          reject(new TimeoutError(timeoutMs));
        }
      }, timeoutMs / WAIT_STEPS);
    };
    wait(WAIT_STEPS);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
