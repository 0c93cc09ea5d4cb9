import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../support/process';

const START_LIMIT_MS = 10_000;
/** The SQLSTATE of a PostgreSQL server that starts up. */
const CANNOT_CONNECT_NOW = '57P03';

interface PostgresOptions {
  /** Whether a commit waits for the disk. */
  readonly isDurable?: boolean;
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Files of its data directory, by their names. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A server of the distribution's packages, started for a test on a port of its own. */
export class Server {
  readonly port: number;
  readonly url: string;
  private child: ChildProcess | undefined;

  private constructor(
    private readonly launch: () => ChildProcess,
    port: string,
    scheme: string,
    private readonly directory: string,
    private readonly stopSignal: NodeJS.Signals,
  ) {
    this.port = Number(port);
    this.url = `${scheme}127.0.0.1:${port}`;
  }

  static async redis(...options: string[]): Promise<Server> {
    const binary = find('redis-server', [], 'redis-server');
    const [directory, port] = await Promise.all([temporary(), freePort()]);
    const args = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', directory, ...options];
    const server = new Server(() => spawn(binary, args, { stdio: 'ignore' }), port, 'redis://', directory, 'SIGKILL');
    await server.start();
    return server;
  }

  /** A sentinel that watches a Redis server as `mymaster`, with two more to agree with. */
  static async sentinel({ port: primary }: Server, ...directives: string[]): Promise<Server> {
    const binary = find('redis-server', [], 'redis-server');
    const [directory, port] = await Promise.all([temporary(), freePort()]);
    const file = join(directory, 'sentinel.conf');
    const monitor = `sentinel monitor mymaster 127.0.0.1 ${primary} 2`;
    await writeFile(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${directory}`, monitor, ...directives].join('\n'));
    const launch = () => spawn(binary, [file, '--sentinel'], { stdio: 'ignore' });
    const server = new Server(launch, port, 'redis://', directory, 'SIGKILL');
    await server.start();
    return server;
  }

  static async postgres(options?: PostgresOptions): Promise<Server> {
    const initdb = postgresProgram('initdb');
    const makeData = (data: string) => [initdb, '-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync'];
    return Server.postgresOn(makeData, options);
  }

  /** A hot standby of this PostgreSQL server. */
  standby(): Promise<Server> {
    const source = ['-h', '127.0.0.1', '-p', `${this.port}`, '-U', 'postgres'];
    return Server.postgresOn((data) => {
      return [postgresProgram('pg_basebackup'), '-D', data, ...source, '-R', '-c', 'fast', '--no-sync'];
    });
  }

  private static async postgresOn(
    makeData: (data: string) => string[],
    { isDurable = false, settings = {}, files = {} }: PostgresOptions = {},
  ): Promise<Server> {
    const postgres = postgresProgram('postgres');
    const [directory, port] = await Promise.all([temporary(), freePort()]);
    const user = serverUser('postgres', directory);
    const data = join(directory, 'data');
    const [make = '', ...makeArgs] = makeData(data);
    execFileSync(make, makeArgs, { ...user, cwd: directory, stdio: 'ignore' });
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(data, name), text, { mode: 0o600 })));
    Object.keys(files).forEach((name) => {
      chownSync(join(data, name), user.uid ?? -1, user.gid ?? -1);
    });
    const all = Object.entries({ fsync: isDurable ? 'on' : 'off', ...settings });
    const options = all.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const args = ['-D', data, '-p', port, '-h', '127.0.0.1', '-k', '', ...options];
    const server = new Server(
      () => spawn(postgres, args, { ...user, cwd: directory, stdio: 'ignore' }),
      port,
      'postgres://postgres@',
      directory,
      'SIGQUIT',
    );
    await server.start();
    // It listens before it takes connections.
    while (await isStartingUp(server.url)) {
      await sleep(20);
    }
    return server;
  }

  /**
   * PgBouncer in front of a PostgreSQL server, for the roles `postgres` and `app`.
   * @param poolSize how many connections of the server it uses at most
   */
  static async pgbouncer(
    { port: target }: Server,
    poolMode: 'session' | 'transaction' = 'transaction',
    poolSize = 20,
  ): Promise<Server> {
    const binary = find('pgbouncer', ['/usr/sbin'], 'pgbouncer');
    const [directory, port] = await Promise.all([temporary(), freePort()]);
    const user = serverUser('postgres', directory);
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
    const server = new Server(
      () => spawn(binary, ['-q', configuration], { ...user, cwd: directory, stdio: 'ignore' }),
      port,
      'postgres://postgres@',
      directory,
      'SIGKILL',
    );
    await server.start();
    return server;
  }

  /** Starts HAProxy, which listens on the port by its configuration. */
  static async haproxy(port: string, configuration: string): Promise<Server> {
    const binary = find('haproxy', ['/usr/sbin'], 'haproxy');
    const directory = await temporary();
    const file = join(directory, 'haproxy.cfg');
    await writeFile(file, configuration);
    const launch = () => spawn(binary, ['-db', '-f', file], { stdio: 'ignore' });
    const server = new Server(launch, port, 'postgres://postgres@', directory, 'SIGKILL');
    await server.start();
    return server;
  }

  /** Starts Caddy, which listens on the port by its configuration. */
  static async caddy(port: string, configuration: string): Promise<Server> {
    const binary = find('caddy', [], 'caddy');
    const directory = await temporary();
    const file = join(directory, 'Caddyfile');
    await writeFile(file, configuration);
    const env = { HOME: directory };
    const launch = () => spawn(binary, ['run', '--config', file, '--adapter', 'caddyfile'], { env, stdio: 'ignore' });
    const server = new Server(launch, port, 'http://', directory, 'SIGKILL');
    await server.start();
    return server;
  }

  /** Starts nginx with a configuration that keeps it in the foreground and listens on the port. */
  static async nginx(port: string, directory: string, configuration: string): Promise<Server> {
    const binary = find('nginx', ['/usr/sbin'], 'nginx-light');
    const args = ['-e', 'stderr', '-p', directory, '-c', configuration, '-g', 'daemon off;'];
    const server = new Server(
      () => spawn(binary, args, { stdio: ['ignore', 'ignore', 'inherit'] }),
      port,
      'http://',
      directory,
      'SIGQUIT',
    );
    await server.start();
    return server;
  }

  /** Starts Prometheus with a configuration. */
  static async prometheus(directory: string, configuration: string): Promise<Server> {
    const port = await freePort();
    const args = [
      `--config.file=${configuration}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const launch = () => spawn(prometheusProgram('prometheus'), args, { stdio: 'ignore' });
    const server = new Server(launch, port, 'http://', directory, 'SIGKILL');
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    const child = this.launch();
    this.child = child;
    const patience = AbortSignal.timeout(START_LIMIT_MS);
    while (!(await accepts(this.port))) {
      if (patience.aborted || child.exitCode !== null || child.signalCode !== null) {
        child.kill('SIGKILL');
        throw new Error(`It does not listen on port ${this.port}: ${child.spawnargs.join(' ')}`);
      }
      await sleep(20);
    }
  }

  /** Stops all its processes where they are, as a machine does that hangs: connections stay open, nothing answers. */
  freeze(): void {
    this.signalAll('SIGSTOP');
  }

  thaw(): void {
    this.signalAll('SIGCONT');
  }

  /** Ends it at once, with all connections. `start` brings it back. */
  async stop(): Promise<void> {
    const { child } = this;
    if (child?.exitCode === null && child.signalCode === null) {
      this.thaw();
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill(this.stopSignal);
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
    // The parent first, so that it starts no new ones.
    [pid, ...children.map(Number)].forEach((each) => {
      try {
        process.kill(each, signal);
      } catch (error) {
        // A backend may end in between.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') {
          throw error;
        }
      }
    });
  }
}

/** Where a program of the PostgreSQL packages is; those for clients are in the path as well, of any version. */
export function postgresProgram(name: string): string {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  return find(
    name,
    versions.map((version) => `/usr/lib/postgresql/${version}/bin`),
    'postgresql',
  );
}

/** Where a program of the Prometheus package is. */
export function prometheusProgram(name: string): string {
  return find(name, [], 'prometheus');
}

/** The first line of `pgbouncer --version`. */
export function pgbouncerVersion(): string {
  return execFileSync(find('pgbouncer', ['/usr/sbin'], 'pgbouncer'), ['--version'], { encoding: 'utf8' });
}

function find(name: string, directories: readonly string[], debianPackage: string): string {
  const found = [...directories, ...(process.env.PATH ?? '').split(delimiter)]
    .map((directory) => join(directory, name))
    .find(existsSync);
  if (found === undefined) {
    throw new Error(`${name} is not installed. On Debian or Ubuntu: apt-get install ${debianPackage}`);
  }
  return found;
}

/** Some servers reject to run as root: then they run as the user that their package has made. */
function serverUser(name: string, directory: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) {
    return {};
  }
  const [uid, gid] = ['-u', '-g'].map((option) => Number(execFileSync('id', [option, name], { encoding: 'utf8' })));
  chownSync(directory, uid ?? 0, gid ?? 0);
  return { uid, gid };
}

function temporary(): Promise<string> {
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

/** Whether something listens on the port. */
function accepts(port: number): Promise<boolean> {
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
