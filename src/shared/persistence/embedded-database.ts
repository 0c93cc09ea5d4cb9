import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, rename, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { servePostgresProtocol, Turns } from './postgres-protocol';

/** A fresh database directory made by the build, so that a first start need not wait for initdb. */
const TEMPLATE = join(__dirname, 'embedded-template');
const SOCKET_NAME = '.s.PGSQL.5432';
/** The kernel's limit is 108 bytes on Linux and 104 on macOS. */
const MAX_SOCKET_PATH_BYTES = 100;

/** The embedded database cannot be used; the message says why and what to do. */
export class EmbeddedDatabaseError extends Error {}

/** Another running process has the data directory open. */
export class DataDirectoryInUse extends EmbeddedDatabaseError {}

/**
 * PostgreSQL inside this process (PGlite), on files in a directory, reached like any PostgreSQL through a Unix socket,
 * so that the service and its command line use one driver for both. Its socket is also its lock: PGlite itself would
 * let two processes open one directory and damage it.
 */
export class EmbeddedDatabase {
  private constructor(
    private readonly database: PGlite,
    private readonly server: Server,
    private readonly connections: Set<Socket>,
  ) {}

  /**
   * Opens the database in a directory, which is created where it is missing.
   * @throws DataDirectoryInUse when another process holds it; EmbeddedDatabaseError when it cannot be written.
   */
  static async open(dataDir: string): Promise<EmbeddedDatabase> {
    await makePrivateDirectory(dataDir);
    const socketPath = join(embeddedDatabaseHost(dataDir), SOCKET_NAME);
    await makePrivateDirectory(dirname(socketPath));
    const connections = new Set<Socket>();
    const server = createServer({ pauseOnConnect: true }, (socket) => connections.add(socket));
    await listenAlone(server, socketPath, dataDir);
    try {
      const database = await openFiles(dataDir);
      const turns = new Turns();
      const serve = (socket: Socket) => {
        connections.add(socket);
        void servePostgresProtocol(socket, database, turns).finally(() => connections.delete(socket));
      };
      connections.forEach(serve);
      server.removeAllListeners('connection').on('connection', serve);
      return new EmbeddedDatabase(database, server, connections);
    } catch (error) {
      connections.forEach((socket) => socket.destroy());
      server.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((done) => this.server.close(done));
    this.connections.forEach((socket) => socket.destroy());
    await closed;
    await this.database.close();
  }
}

/** The directory of the socket at which an open embedded database is reached: what `pg` calls its `host`. */
export function embeddedDatabaseHost(dataDir: string): string {
  const directory = resolve(dataDir);
  if (Buffer.byteLength(join(directory, SOCKET_NAME)) <= MAX_SOCKET_PATH_BYTES) {
    return directory;
  }
  return join(tmpdir(), `petstore-${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`);
}

/** Makes the directory from which first starts copy; part of the build. */
export async function makeEmbeddedTemplate(): Promise<void> {
  if (!existsSync(TEMPLATE)) {
    const unfinished = `${TEMPLATE}.new`;
    await rm(unfinished, { recursive: true, force: true });
    await (await PGlite.create(unfinished)).close();
    await rename(unfinished, TEMPLATE);
  }
}

async function openFiles(dataDir: string): Promise<PGlite> {
  const files = join(dataDir, 'postgres');
  if (!existsSync(files)) {
    // Made beside its place and moved there whole, so that a start that is interrupted leaves nothing half done.
    const unfinished = `${files}.new`;
    await rm(unfinished, { recursive: true, force: true });
    if (existsSync(TEMPLATE)) {
      await cp(TEMPLATE, unfinished, { recursive: true });
    } else {
      await (await PGlite.create(unfinished)).close();
    }
    await rename(unfinished, files);
  }
  return PGlite.create(files);
}

async function makePrivateDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const { uid } = await stat(path);
    if (process.getuid !== undefined && process.getuid() !== 0 && uid !== process.getuid()) {
      throw new EmbeddedDatabaseError(
        `The data directory ${path} belongs to another user. Set DATA_DIR to one of your own.`,
      );
    }
  } catch (error) {
    throw error instanceof EmbeddedDatabaseError ? error : notWritable(path, error);
  }
}

async function listenAlone(server: Server, socketPath: string, dataDir: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await new Promise<void>((listening, failed) => {
        server.once('error', failed).listen(socketPath, () => {
          server.off('error', failed);
          listening();
        });
      });
      return;
    } catch (error) {
      if (!isErrno(error, 'EADDRINUSE') || attempt > 3) {
        throw notWritable(dataDir, error);
      }
    }
    // The name is taken: by a live process, or by the leftover of one that was killed. The leftover is moved away
    // before it is removed, and looked at once more, as another process may have taken the name in the meantime.
    const leftover = `${socketPath}.${process.pid}`;
    const movedAway =
      !(await answers(socketPath)) &&
      (await rename(socketPath, leftover).then(
        () => true,
        () => false,
      ));
    if (!movedAway || (await answers(leftover))) {
      if (movedAway) {
        await rename(leftover, socketPath);
      }
      throw new DataDirectoryInUse(
        `The data directory ${dataDir} is in use by another running process. Stop it, or set DATA_DIR to another directory.`,
      );
    }
    await rm(leftover, { force: true });
  }
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolveAnswer) => {
    const probe = connect(socketPath);
    probe.once('connect', () => {
      probe.destroy();
      resolveAnswer(true);
    });
    probe.once('error', () => {
      resolveAnswer(false);
    });
  });
}

function notWritable(path: string, cause: unknown): EmbeddedDatabaseError {
  const reason = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : String(cause);
  return new EmbeddedDatabaseError(
    `The data directory ${path} cannot be written (${reason}). Set DATA_DIR to a directory that can.`,
    { cause },
  );
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}
