import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../test/support/process';

export const ROOT = join(__dirname, '../..');
const SCRIPTS = {
  service: 'dist/src/main.js',
  baseline: 'dist/bench/baseline/server.js',
  lean: 'dist/bench/lean/server.js',
  stock: 'dist/bench/stock/server.js',
};
export type System = keyof typeof SCRIPTS;

/** One of the compared systems, in a separate process. */
export class BenchServer {
  private constructor(
    readonly origin: string,
    /** From process start to the first 200, in ms. */
    readonly startMs: number,
    private readonly child: ChildProcess,
  ) {}

  static async start(system: System, env: Readonly<Record<string, string>>): Promise<BenchServer> {
    const port = await findFreePort();
    const startedAt = performance.now();
    const child = spawn(process.execPath, [join(ROOT, SCRIPTS[system])], {
      env: { PATH: process.env.PATH, ...env, PORT: port },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const origin = `http://127.0.0.1:${port}`;
    while (!(await isResponding(`${origin}/readyz`, system))) {
      if (child.exitCode !== null) {
        throw new Error(`The system ${system} exited before it started to listen.`);
      }
      await sleep(10);
    }
    return new BenchServer(origin, performance.now() - startedAt, child);
  }

  get residentMiB(): number {
    const status = readFileSync(`/proc/${this.child.pid ?? 0}/status`, 'utf8');
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    if (this.child.kill('SIGKILL')) {
      await ended;
    }
  }
}

/** Whether the system is ready, or listens if it has no readiness probe. */
async function isResponding(url: string, system: System): Promise<boolean> {
  try {
    return (await fetch(url)).ok || system !== 'service';
  } catch {
    return false;
  }
}
