import { type ChildProcess, execFileSync, spawn, type SpawnOptions } from 'node:child_process';
import { chownSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { onEnd } from '../../support/cleanup';
import { findFreePort } from '../../support/process';

const START_TIMEOUT_MS = 10_000;
const REDIS_SCHEME = 'redis://';
const POSTGRES_SCHEME = 'postgres://postgres@';
/** The SQLSTATE of a PostgreSQL server that is starting up. */
const CANNOT_CONNECT_NOW = '57P03';

interface PostgresOptions {
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Files for the data directory: their contents by name. */
  readonly files?: Readonly<Record<string, string>>;
}

interface LaunchOptions extends SpawnOptions {
  readonly port: string;
  /** Where the server keeps its files. It is removed with the server. */
  readonly directory: string;
  /** The beginning of its URL. */
  readonly scheme?: string;
  readonly stopSignal?: NodeJS.Signals;
}

/** An installed server program, started for a test on its own port. */
export class Server {
  readonly port: number;
  readonly url: string;
  readonly directory: string;
  private child: ChildProcess | undefined;

  private constructor(
    private readonly command: readonly string[],
    private readonly options: LaunchOptions,
  ) {
    this.port = Number(options.port);
    this.url = `${options.scheme ?? 'http://'}127.0.0.1:${options.port}`;
    this.directory = options.directory;
    onEnd(() => this.remove());
  }

  /** Starts a program that listens on the port, and waits until it does. */
  private static async launch(command: readonly string[], options: LaunchOptions): Promise<Server> {
    const server = new Server(command, options);
    await server.start();
    return server;
  }

  static async startRedis(...options: string[]): Promise<Server> {
    const [directory, port] = await Promise.all([createDirectory(), findFreePort()]);
    const args = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', directory, ...options];
    return Server.launch([findProgram('redis-server'), ...args], { port, directory, scheme: REDIS_SCHEME });
  }

  /** Starts a sentinel that monitors a Redis server as `mymaster`, with a quorum of two. */
  static async startSentinel({ port: primary }: Server, ...directives: string[]): Promise<Server> {
    const [directory, port] = await Promise.all([createDirectory(), findFreePort()]);
    const file = join(directory, 'sentinel.conf');
    const monitor = `sentinel monitor mymaster 127.0.0.1 ${primary} 2`;
    await writeFile(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${directory}`, monitor, ...directives].join('\n'));
    return Server.launch([findProgram('redis-server'), file, '--sentinel'], { port, directory, scheme: REDIS_SCHEME });
  }

  static async startPostgres(options?: PostgresOptions): Promise<Server> {
    const initdb = findPostgresProgram('initdb');
    const makeData = (data: string) => [initdb, '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
    return Server.startPostgresOn(makeData, options);
  }

  /** Starts a hot standby of this PostgreSQL server. */
  startStandby(): Promise<Server> {
    const source = ['-h', '127.0.0.1', '-p', `${this.port}`, '-U', 'postgres'];
    // A standby that has just lost its primary may be promoted only after this time, by default 5 s.
    const settings = { wal_retrieve_retry_interval: '100ms' };
    return Server.startPostgresOn(
      (data) => [findPostgresProgram('pg_basebackup'), '-D', data, ...source, '-R', '-c', 'fast', '--no-sync'],
      { settings },
    );
  }

  private static async startPostgresOn(
    makeData: (data: string) => string[],
    { settings = {}, files = {} }: PostgresOptions = {},
  ): Promise<Server> {
    const [directory, port] = await Promise.all([createDirectory(), findFreePort()]);
    const user = prepareServerUser('postgres', directory);
    const data = join(directory, 'data');
    const [make = '', ...makeArgs] = makeData(data);
    execFileSync(make, makeArgs, { ...user, cwd: directory, stdio: 'ignore' });
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(data, name), text, { mode: 0o600 })));
    Object.keys(files).forEach((name) => {
      chownSync(join(data, name), user.uid ?? -1, user.gid ?? -1);
    });
    const options = Object.entries({ fsync: 'off', ...settings }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
    const server = await Server.launch(
      [findPostgresProgram('postgres'), '-D', data, '-p', port, '-h', '127.0.0.1', '-k', '', ...options],
      { ...user, port, directory, scheme: POSTGRES_SCHEME, cwd: directory, stopSignal: 'SIGQUIT' },
    );
    // The server listens before it accepts sessions.
    while (await isStartingUp(server.url)) {
      await sleep(20);
    }
    return server;
  }

  /**
   * Starts PgBouncer in front of a PostgreSQL server, for the roles `postgres` and `app`.
   * @param poolSize the maximum number of server connections
   */
  static async startPgbouncer(
    { port: target }: Pick<Server, 'port'>,
    poolMode: 'session' | 'transaction' = 'transaction',
    poolSize = 20,
  ): Promise<Server> {
    const [directory, port] = await Promise.all([createDirectory(), findFreePort()]);
    const user = prepareServerUser('postgres', directory);
    const configuration = join(directory, 'pgbouncer.ini');
    await writeFile(join(directory, 'users.txt'), '"postgres" ""\n"app" ""\n');
    await writeFile(
      configuration,
      `[databases]
* = host=127.0.0.1 port=${target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(directory, 'users.txt')}
pool_mode = ${poolMode}
default_pool_size = ${poolSize}
`,
    );
    const command = [findProgram('pgbouncer'), '-q', configuration];
    return Server.launch(command, { ...user, port, directory, scheme: POSTGRES_SCHEME, cwd: directory });
  }

  /** Starts HAProxy with a configuration that listens on the port. */
  static async startHaproxy(port: string, configuration: string): Promise<Server> {
    const directory = await createDirectory();
    const file = join(directory, 'haproxy.cfg');
    await writeFile(file, configuration);
    return Server.launch([findProgram('haproxy'), '-db', '-f', file], { port, directory, scheme: POSTGRES_SCHEME });
  }

  /** Starts Caddy with a configuration that listens on the port. */
  static async startCaddy(port: string, configuration: string): Promise<Server> {
    const directory = await createDirectory();
    const file = join(directory, 'Caddyfile');
    await writeFile(file, configuration);
    const command = [findProgram('caddy'), 'run', '--config', file, '--adapter', 'caddyfile'];
    return Server.launch(command, { port, directory, env: { HOME: directory } });
  }

  /** Starts nginx in the foreground with a configuration that listens on the port. */
  static startNginx(port: string, directory: string, configuration: string): Promise<Server> {
    const args = ['-e', 'stderr', '-p', directory, '-c', configuration, '-g', 'daemon off;'];
    const stdio: SpawnOptions['stdio'] = ['ignore', 'ignore', 'inherit'];
    return Server.launch([findProgram('nginx', 'nginx-light'), ...args], {
      ...{ port, directory, stdio },
      stopSignal: 'SIGQUIT',
    });
  }

  /** Starts Prometheus with a configuration. */
  static async startPrometheus(directory: string, configuration: string): Promise<Server> {
    const port = await findFreePort();
    const args = [
      `--config.file=${configuration}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const server = await Server.launch([findProgram('prometheus'), ...args], { port, directory });
    // The server listens before it answers queries.
    while (!(await fetch(`${server.url}/-/ready`)).ok) {
      await sleep(20);
    }
    return server;
  }

  async start(): Promise<void> {
    const [program = '', ...args] = this.command;
    const child = spawn(program, args, { stdio: 'ignore', ...this.options });
    this.child = child;
    const deadline = AbortSignal.timeout(START_TIMEOUT_MS);
    while (!(await isListening(this.port))) {
      if (deadline.aborted || child.exitCode !== null || child.signalCode !== null) {
        child.kill('SIGKILL');
        throw new Error(`Nothing listens on port ${this.port}: ${child.spawnargs.join(' ')}`);
      }
      await sleep(20);
    }
  }

  /** Opens a session on PostgreSQL. */
  async openSession(database = 'postgres'): Promise<pg.Client> {
    const session = new pg.Client(`${this.url}/${database}`);
    session.on('error', () => undefined);
    onEnd(() => session.end());
    await session.connect();
    return session;
  }

  /** Opens a connection to Redis. */
  openRedis(): Redis {
    const connection = new Redis(this.url).on('error', () => undefined);
    onEnd(() => {
      connection.disconnect();
    });
    return connection;
  }

  /** Suspends all its processes, like a machine that hangs: connections stay open, but nothing responds. */
  freeze(): void {
    this.signalAll('SIGSTOP');
  }

  thaw(): void {
    this.signalAll('SIGCONT');
  }

  /** Stops the server immediately and closes its connections. `start` starts it again. */
  async stop(): Promise<void> {
    const { child } = this;
    if (child?.exitCode === null && child.signalCode === null) {
      this.thaw();
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill(this.options.stopSignal ?? 'SIGKILL');
      await ended;
    }
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  private signalAll(signal: NodeJS.Signals): void {
    const pid = this.child?.pid ?? 0;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    // Signal the parent first, so that it starts no more children.
    [pid, ...children.map(Number)].forEach((each) => {
      try {
        process.kill(each, signal);
      } catch (error) {
        // A child may have exited in the meantime.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') {
          throw error;
        }
      }
    });
  }
}

export function findPostgresProgram(name: string): string {
  return findProgram(name, 'postgresql');
}

/**
 * Finds an installed program. The directories of the PostgreSQL server come first, because client programs on the PATH can be of
 * any version.
 */
export function findProgram(name: string, debianPackage = name): string {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const directories = versions.map((version) => `/usr/lib/postgresql/${version}/bin`);
  const found = [...directories, ...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
    .map((directory) => join(directory, name))
    .find(existsSync);
  if (found === undefined) {
    throw new Error(`${name} is not installed. On Debian or Ubuntu: apt-get install ${debianPackage}`);
  }
  return found;
}

/** Some servers do not run as root. They run as the user that their package created. */
function prepareServerUser(name: string, directory: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) {
    return {};
  }
  const [uid, gid] = ['-u', '-g'].map((option) => Number(execFileSync('id', [option, name], { encoding: 'utf8' })));
  chownSync(directory, uid ?? 0, gid ?? 0);
  return { uid, gid };
}

function createDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'petstore-cluster-'));
}

async function isStartingUp(url: string): Promise<boolean> {
  const client = new pg.Client(url);
  try {
    await client.connect();
    await client.end();
    return false;
  } catch (error) {
    return (error as { readonly code?: string }).code === CANNOT_CONNECT_NOW;
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => {
      resolve(false);
    });
  });
}
