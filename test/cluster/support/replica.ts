import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, Program } from '../../support/process';

/** The built server as a process of its own, as it runs in production. */
export class Replica {
  private constructor(
    readonly port: number,
    readonly program: Program,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  /**
   * Starts it and waits until it listens.
   * @param directory of the built version, which is this one unless another is given
   */
  static async start(env: Readonly<Record<string, string>>, directory?: string): Promise<Replica> {
    const all = { APP_ENV: 'production', PORT: await freePort(), ...env };
    const program = new Program('main.js', [], all, directory);
    await program.prints('Listening');
    return new Replica(Number(all.PORT), program, all);
  }

  /** Several at the same time. */
  static startAll(count: number, env: Readonly<Record<string, string>>): Promise<Replica[]> {
    return Promise.all(Array.from({ length: count }, () => Replica.start(env)));
  }

  /** Another process in the place of this one, once it has ended. */
  startAgain(directory?: string): Promise<Replica> {
    return Replica.start(this.env, directory);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async isReady(): Promise<boolean> {
    return (await fetch(`${this.url}/readyz`)).ok;
  }
}

/** Asks again and again until it holds. @throws when it does not within the time */
export async function eventually(withinMs: number, holds: () => Promise<boolean> | boolean): Promise<number> {
  const startedAt = performance.now();
  while (!(await holds())) {
    if (performance.now() - startedAt > withinMs) {
      throw new Error(`It did not come true within ${withinMs} ms.`);
    }
    await sleep(20);
  }
  return performance.now() - startedAt;
}
