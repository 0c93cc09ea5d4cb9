import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../test/support/process';

const ROOT = join(__dirname, '../..');
const SERVICE = 'dist/src/main.js';
/** The clock ticks in which Linux counts CPU time, in ms. */
const TICK_MS = 10;

/** One of the compared systems, in its own process, started with plain `node`. */
export class BenchServer {
  private constructor(
    readonly origin: string,
    private readonly child: ChildProcess,
  ) {}

  /** @param system `service`, the name of a folder here, or the path of another checkout of the service */
  static async start(system: string, env: Readonly<Record<string, string>>): Promise<BenchServer> {
    const port = await findFreePort();
    const own = system === 'service' ? SERVICE : `dist/bench/${system}/server.js`;
    const script = system.includes('/') ? join(system, SERVICE) : join(ROOT, own);
    const child = spawn(process.execPath, [script], {
      env: { PATH: process.env.PATH, ...env, PORT: port },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const server = new BenchServer(`http://127.0.0.1:${port}`, child);
    while (!(await server.isListening())) {
      if (child.exitCode !== null) {
        throw new Error(`The system ${system} exited before it started to listen.`);
      }
      await sleep(10);
    }
    return server;
  }

  /** The CPU time that the process has used, in ms. */
  get cpuMs(): number {
    const fields =
      readFileSync(`/proc/${this.child.pid ?? 0}/stat`, 'utf8')
        .split(') ')[1]
        ?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    if (this.child.kill('SIGKILL')) {
      await ended;
    }
  }

  private async isListening(): Promise<boolean> {
    try {
      // Only the service has a readiness probe.
      return [200, 401, 404].includes((await fetch(`${this.origin}/readyz`)).status);
    } catch {
      return false;
    }
  }
}
