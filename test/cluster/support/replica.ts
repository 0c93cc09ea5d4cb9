import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort, Program } from '../../support/process';

/** The built server in its own process, as in production. */
export class Replica {
  private constructor(
    readonly port: number,
    readonly program: Program,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  /**
   * Starts a replica and waits until it listens.
   * @param directory the directory of the built version; this version by default
   * @param nodeOptions the options of Node.js
   */
  static async start(
    env: Readonly<Record<string, string>>,
    directory?: string,
    nodeOptions?: readonly string[],
  ): Promise<Replica> {
    const all = { APP_ENV: 'production', PORT: await findFreePort(), ...env };
    const program = new Program('main.js', [], all, directory, nodeOptions);
    await program.waitForOutput('Listening');
    return new Replica(Number(all.PORT), program, all);
  }

  /** Starts several replicas concurrently. */
  static startAll(count: number, env: Readonly<Record<string, string>>): Promise<Replica[]> {
    return Promise.all(Array.from({ length: count }, () => Replica.start(env)));
  }

  /** Starts a new process with the same environment, after this one has exited. */
  restart(directory?: string): Promise<Replica> {
    return Replica.start(this.env, directory);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async isReady(): Promise<boolean> {
    return (await fetch(`${this.url}/readyz`)).ok;
  }
}

/** Whether the server at the URL is ready. Unlike the method of a replica, this is false if nothing listens yet. */
export function isServerReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/**
 * Polls a condition until it holds.
 * @returns how long that took, in ms
 * @throws if it does not hold within `timeoutMs`
 */
export async function eventually(timeoutMs: number, condition: () => Promise<boolean> | boolean): Promise<number> {
  const startedAt = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedAt > timeoutMs) {
      throw new Error(`The condition was not met within ${timeoutMs} ms.`);
    }
    await sleep(20);
  }
  return performance.now() - startedAt;
}
