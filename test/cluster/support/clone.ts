import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { onEnd } from '../../support/cleanup';
import { createNpmEnvironment, createTemporaryDirectory, findFreePort } from '../../support/process';
import { eventually, isServerReady } from './replica';

const PROJECT = join(__dirname, '../../..');
const NOT_COPIED = /^(\.git|\.data|coverage|dist\..+)$/;
/** Includes a build on a busy machine. */
const START_TIMEOUT_MS = 240_000;

/** An npm command, with its own port and data directory for the service. */
class NpmProcess {
  output = '';
  private readonly exit: Promise<number>;
  private isRunning = true;

  constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {
    [child.stdout, child.stderr].forEach((stream) =>
      stream?.on('data', (data: Buffer) => (this.output += String(data))),
    );
    this.exit = once(child, 'close').then(([code]: number[]) => {
      this.isRunning = false;
      return code ?? NaN;
    });
  }

  async waitUntilReady(): Promise<void> {
    await eventually(START_TIMEOUT_MS, async () => {
      if (!this.isRunning) {
        throw new Error(this.output);
      }
      return isServerReady(this.url);
    });
  }

  /** Waits until the command has ended. */
  async end(): Promise<{ code: number; output: string }> {
    return { code: await this.exit, output: this.output };
  }

  /** Kills npm and what it started: npm's shell does not forward signals. */
  async kill(): Promise<void> {
    if (this.isRunning && this.child.pid !== undefined) {
      process.kill(-this.child.pid, 'SIGKILL');
    }
    await this.exit;
  }
}

/** A built copy of the project, which a test may change. */
export class Clone {
  private constructor(readonly directory: string) {}

  static async create(): Promise<Clone> {
    const directory = join((await createTemporaryDirectory()).path, 'petstore');
    await cp(PROJECT, directory, {
      recursive: true,
      filter: (path) =>
        basename(path) !== 'node_modules' && (dirname(path) !== PROJECT || !NOT_COPIED.test(basename(path))),
    });
    await symlink(join(PROJECT, 'node_modules'), join(directory, 'node_modules'));
    return new Clone(directory);
  }

  /** Leaves what `npm ci --omit=dev` installs. */
  async removeDevelopmentDependencies(): Promise<void> {
    const modules = join(this.directory, 'node_modules');
    const list = execFileSync('npm', ['ls', '--all', '--omit=dev', '--parseable'], { cwd: PROJECT, encoding: 'utf8' });
    const paths = list.trim().split('\n').slice(1);
    await rm(modules);
    for (const path of paths.filter((path) => path.lastIndexOf('node_modules') < PROJECT.length + 2)) {
      const target = join(modules, relative(join(PROJECT, 'node_modules'), path));
      await mkdir(dirname(target), { recursive: true });
      await symlink(path, target);
    }
  }

  async npm(...args: string[]): Promise<NpmProcess> {
    const port = await findFreePort();
    const child = spawn('npm', args, {
      cwd: this.directory,
      env: { ...createNpmEnvironment(), PORT: port, DATA_DIR: `${this.directory}-data-${port}` },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const started = new NpmProcess(child, `http://127.0.0.1:${port}`);
    onEnd(() => started.kill());
    return started;
  }

  /** Runs `npm start`, and waits until the service is ready. */
  async start(): Promise<NpmProcess> {
    const server = await this.npm('start');
    await server.waitUntilReady();
    return server;
  }
}
