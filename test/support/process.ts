import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { onEnd } from './cleanup';

const PROJECT = join(__dirname, '../..');

export interface Exit {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const programs: Program[] = [];

/** A built program of the project in its own process. It inherits only PATH from this environment. */
export class Program {
  stdout = '';
  stderr = '';
  readonly exit: Promise<Exit>;
  private readonly child: ChildProcess;

  /**
   * @param directory the directory of the built version; this version by default
   * @param nodeOptions the options of Node.js
   */
  constructor(
    script: 'main.js' | 'cli/main.js',
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    directory = PROJECT,
    nodeOptions: readonly string[] = [],
  ) {
    this.child = spawn(process.execPath, [...nodeOptions, join(directory, 'dist/src', script), ...args], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (data: Buffer) => (this.stdout += data.toString()));
    this.child.stderr?.on('data', (data: Buffer) => (this.stderr += data.toString()));
    this.exit = new Promise((resolve) => {
      this.child.on('close', (code) => {
        resolve({ code, stdout: this.stdout, stderr: this.stderr });
      });
    });
    programs.push(this);
    onEnd(killPrograms);
  }

  get pid(): number {
    return this.child.pid ?? NaN;
  }

  /** Waits until the program has printed the text. */
  async waitForOutput(text: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const check = () => {
        if (this.stdout.includes(text)) {
          resolve();
        }
      };
      this.child.stdout?.on('data', check);
      check();
      void this.exit.then(({ code, stderr }) => {
        reject(new Error(`exited with ${code} before it printed "${text}": ${stderr}`));
      });
    });
  }

  async kill(signal: NodeJS.Signals): Promise<Exit> {
    this.child.kill(signal);
    return this.exit;
  }
}

/** Kills all programs that are running. */
export async function killPrograms(): Promise<void> {
  await Promise.all(programs.splice(0).map((program) => program.kill('SIGKILL')));
}

export function runPetstore(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Exit> {
  return new Program('cli/main.js', args, env).exit;
}

/** Starts the server and waits until it accepts requests. */
export async function startServer(env: Readonly<Record<string, string>>): Promise<Program & { key: string }> {
  const server = new Program('main.js', [], env);
  await server.waitForOutput('curl');
  return Object.assign(server, { key: /Demo key\s+(\S+)/.exec(server.stdout)?.[1] ?? '' });
}

/** Parses a log of JSON lines. */
export function parseLog(text: string): Record<string, unknown>[] {
  const lines = text === '' ? [] : text.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

const [FIRST_PORT, PORTS, WORKERS] = [10_000, 2_840, 8];
let foundPorts = randomInt(PORTS);

/**
 * Finds a free port that nothing takes before a server of the test does: below those that the system gives to clients, and never the one
 * of another worker of Jest or of an earlier call.
 */
export async function findFreePort(): Promise<string> {
  const worker = Number(process.env.JEST_WORKER_ID ?? 0) % WORKERS;
  const port = FIRST_PORT + WORKERS * (foundPorts++ % PORTS) + worker;
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, '127.0.0.1', () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
  return isFree ? `${port}` : findFreePort();
}

/** Lets a server of the test itself listen until the end. @returns its port */
export async function listen(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening');
  onEnd(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Creates an environment with the npm settings of the user, but without variables of npm or Jest and programs of the project. */
export function createNpmEnvironment(): Record<string, string | undefined> {
  const { HOME, PATH = '' } = process.env;
  const path = PATH.split(delimiter).filter((part) => !part.includes('node_modules'));
  return { HOME, PATH: path.join(delimiter), npm_config_prefer_offline: 'true' };
}

/** Creates an empty directory, which is removed at the end. @returns its path and a function that removes it earlier */
export async function createTemporaryDirectory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'petstore-test-'));
  const remove = () => rm(path, { recursive: true, force: true });
  onEnd(remove);
  return { path, remove };
}
