const WAIT_STEPS = 5;

export class TimeoutError extends Error {
  constructor(limitMs: number) {
    super(`no reply within ${limitMs} ms`);
  }
}

/**
 * Waits for a promise in several short timers. Each takes at least one event-loop tick, so time in which this process was
 * busy and could not read the reply hardly counts.
 * @throws TimeoutError when the promise does not settle in time
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
