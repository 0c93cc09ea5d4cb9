const cleanups: (() => unknown)[] = [];

/** Registers what removes a resource when the tests of the file have ended: the last registered resource is removed first. */
export function onEnd(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** Removes all resources, for tests that the remaining resources of earlier ones would disturb. @throws the first error, at the end */
export async function cleanUp(): Promise<void> {
  const errors: unknown[] = [];
  for (let cleanup = cleanups.pop(); cleanup !== undefined; cleanup = cleanups.pop()) {
    try {
      await cleanup();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) {
    throw errors[0];
  }
}

// The benchmark starts the servers of the tests without Jest, and removes them itself.
(globalThis as { afterAll?: (task: () => Promise<void>) => void }).afterAll?.(cleanUp);
