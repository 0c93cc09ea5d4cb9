/** The longest delay of a timer. */
export const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * Waits until `start` calls back. @param start returns a function that cancels what it started
 * @throws the signal's reason as soon as it is aborted
 */
export async function wait(
  start: (finish: () => void, fail: (error: unknown) => void) => () => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  let abort: (() => void) | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const cancel = start(resolve, reject);
      abort = () => {
        cancel();
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', abort);
    });
  } finally {
    if (abort) {
      signal?.removeEventListener('abort', abort);
    }
  }
}

/** @throws the signal's reason as soon as it is aborted */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await wait((finish) => {
    const timer = setTimeout(finish, ms);
    return () => {
      clearTimeout(timer);
    };
  }, signal);
}
