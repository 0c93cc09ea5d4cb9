import { randomBytes } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LOCK_PREFIX = '.lock-';
const UNANNOUNCED_PREFIX = '.new-';
const NAME_BYTES = 4;
const POLL_INTERVAL_MS = 20;

/**
 * A lock on a directory, which the kernel releases when the process exits or is killed.
 *
 * Each candidate listens on a Unix socket with a unique name in the directory, and only then lists the others. Of two candidates, the
 * later one therefore always sees the earlier one, and no process acquires the lock while it sees another live candidate. The socket of
 * a dead process refuses connections. Its name is never reused, so it can be removed without a race.
 */
export class DirectoryLock {
  private readonly server: Server = createServer((socket) => socket.destroy());
  private readonly unique = randomBytes(NAME_BYTES).toString('hex');

  private constructor(private readonly directory: string) {}

  /**
   * Waits until the candidates agree on the holder.
   * @param isServed whether another process already serves the directory; the wait then ends
   * @returns undefined when another process holds the lock, or the wait times out
   */
  static async acquire(
    directory: string,
    isServed: () => Promise<boolean>,
    timeoutMs: number,
  ): Promise<DirectoryLock | undefined> {
    const timeout = AbortSignal.timeout(timeoutMs);
    let lock: DirectoryLock | undefined;
    for (;;) {
      const others = await findLiveCandidates(directory, lock?.name);
      if (others.length === 0) {
        if (lock !== undefined) {
          return lock;
        }
        lock = new DirectoryLock(directory);
        await lock.announce();
        continue;
      }
      // Among candidates that see each other, the first by name wins.
      if (lock !== undefined && others.some((other) => other < (lock?.name ?? ''))) {
        await lock.release();
        lock = undefined;
      }
      if (timeout.aborted || (await isServed())) {
        await lock?.release();
        return undefined;
      }
      await sleep(POLL_INTERVAL_MS);
    }
  }

  async release(): Promise<void> {
    await rm(join(this.directory, this.name), { force: true });
    await new Promise((closed) => this.server.close(closed));
  }

  private get name(): string {
    return `${LOCK_PREFIX}${this.unique}`;
  }

  /** Renames the socket only once it accepts connections: before that, other processes would mistake it for a dead one. */
  private async announce(): Promise<void> {
    const unannounced = join(this.directory, `${UNANNOUNCED_PREFIX}${this.unique}`);
    await listen(this.server, unannounced);
    await rename(unannounced, join(this.directory, this.name));
  }
}

export async function listen(server: Server, socketPath: string): Promise<void> {
  await new Promise<void>((listening, failed) => {
    server.once('error', failed).listen(socketPath, () => {
      server.off('error', failed);
      listening();
    });
  });
}

/**
 * Checks whether a live process listens on the socket. Any error other than a refused connection or a missing socket may mean a busy
 * process.
 */
export function isAlive(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socketPath);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT');
    });
  });
}

/** Removes the sockets of dead candidates. @returns the names of the other live candidates */
async function findLiveCandidates(directory: string, own: string | undefined): Promise<string[]> {
  const names = (await readdir(directory)).filter((name) => name.startsWith(LOCK_PREFIX) && name !== own);
  const alive = await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name);
      const isLive = await isAlive(path);
      if (!isLive) {
        await rm(path, { force: true });
      }
      return isLive;
    }),
  );
  return names.filter((_, index) => alive[index]);
}
