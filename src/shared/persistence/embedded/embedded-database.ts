import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Extensions, PGlite } from '@electric-sql/pglite' with { 'resolution-mode': 'import' };
import { errorMessage } from '../../domain/error-message';
import { DirectoryLock, isAlive, listen } from './directory-lock';
import { loadExtensions } from './extensions';
import { servePostgresProtocol, Mutex } from './postgres-protocol';

const PACKAGE = '@electric-sql/pglite';
/** A fresh database directory made by the build, so that a first start need not wait for initdb. */
const TEMPLATE = join(__dirname, 'embedded-template');
const SOCKET_NAME = '.s.PGSQL.5432';
/** The kernel's limit is 108 bytes on Linux and 104 on macOS. */
const MAX_SOCKET_PATH_BYTES = 100;
/** What these codes mean for the data directory, in words. */
const NOT_WRITABLE: Readonly<Record<string, string>> = {
  EEXIST: 'there is a file of that name',
  ENOTDIR: 'a part of its path is a file',
  ENOSPC: 'the disk is full',
};
const PAGE_BYTES = 8_192;
/** How long a process waits for the one that holds the directory to listen. */
const OWNER_LIMIT_MS = 10_000;

/** The embedded database cannot be used; the message says why and what to do. */
export class EmbeddedDatabaseError extends Error {}

/** Another running process has the data directory open. */
export class DataDirectoryInUseError extends EmbeddedDatabaseError {}

/**
 * PostgreSQL inside this process (PGlite), on files in a directory, reached like any PostgreSQL through a Unix socket,
 * so that the service and its command line use one driver for both. PGlite itself would let two processes open one
 * directory and damage it, so a lock keeps the others out.
 */
export class EmbeddedDatabase {
  /** Resolves when PostgreSQL has crashed, such as for a full disk, and only another process can open the files again. */
  readonly crashed: Promise<EmbeddedDatabaseError>;
  private hasCrashed = false;

  private constructor(
    private readonly database: PGlite,
    private readonly lock: DirectoryLock,
    private readonly server: Server,
    private readonly connections: Set<Socket>,
  ) {
    this.crashed = new Promise((resolve) => {
      const session = new Mutex();
      const onCrash = (reason: string) => {
        this.hasCrashed = true;
        // After what is written to them: one has the reason as its response.
        connections.forEach((socket) => {
          socket.destroySoon();
        });
        resolve(new EmbeddedDatabaseError(`The embedded database crashed: ${reason}.`));
      };
      const serve = (socket: Socket) => {
        connections.add(socket);
        void servePostgresProtocol(socket, database, session, onCrash).finally(() => connections.delete(socket));
      };
      connections.forEach(serve);
      server.removeAllListeners('connection').on('connection', serve);
    });
  }

  /**
   * Opens the database in a directory, which is created where it is missing.
   * @throws DataDirectoryInUseError when another process holds it; EmbeddedDatabaseError when it cannot be used.
   */
  static async open(dataDir: string, extensions?: Extensions): Promise<EmbeddedDatabase> {
    requirePackage();
    await makePrivateDirectory(dataDir);
    const socketPath = join(embeddedDatabaseHost(dataDir), SOCKET_NAME);
    await makePrivateDirectory(dirname(socketPath));
    const lock = await acquireLock(socketPath, dataDir);
    const connections = new Set<Socket>();
    const server = createServer({ pauseOnConnect: true }, (socket) => connections.add(socket));
    try {
      await listenAsOwner(server, socketPath, dataDir);
      return new EmbeddedDatabase(
        await openFiles(dataDir, extensions ?? (await loadExtensions())),
        lock,
        server,
        connections,
      );
    } catch (error) {
      connections.forEach((socket) => socket.destroy());
      server.close();
      await lock.release();
      throw error;
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((done) => this.server.close(done));
    this.connections.forEach((socket) => socket.destroy());
    await closed;
    try {
      if (!this.hasCrashed) {
        await this.database.close();
      }
    } finally {
      await this.lock.release();
    }
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
    await (await createDatabase(unfinished)).close();
    await rename(unfinished, TEMPLATE);
  }
}

/** @throws EmbeddedDatabaseError */
async function openFiles(dataDir: string, extensions: Extensions): Promise<PGlite> {
  const files = join(dataDir, 'postgres');
  // Made beside their place and moved there whole, so that a start that is interrupted leaves nothing half done.
  const unfinished = `${files}.new`;
  try {
    if (!existsSync(files)) {
      await rm(unfinished, { recursive: true, force: true });
      if (existsSync(TEMPLATE)) {
        await cp(TEMPLATE, unfinished, { recursive: true });
      } else {
        await (await createDatabase(unfinished)).close();
      }
      await rename(unfinished, files);
    }
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw notWritable(dataDir, error);
  }
  const version = await readVersion(files);
  const ownVersion = (await readVersion(TEMPLATE)) ?? version;
  if (version !== undefined && version !== ownVersion) {
    throw new EmbeddedDatabaseError(
      `The database files in ${files} are of PostgreSQL ${version}, and this version of the service reads those of ` +
        `PostgreSQL ${ownVersion}. Run the version of the service that wrote them, or set DATA_DIR to another directory.`,
    );
  }
  if (version === undefined) {
    // PGlite would take the directory for an empty one, and begin anew on top of the files.
    throw damaged(files, 'PG_VERSION is missing');
  }
  return createDatabase(files, extensions).catch(async (error: unknown) => {
    throw await whyNotOpened(dataDir, files, error);
  });
}

/** @throws EmbeddedDatabaseError where PGlite, an optional dependency, is not installed */
function requirePackage(): void {
  try {
    require.resolve(PACKAGE);
  } catch (error) {
    throw new EmbeddedDatabaseError(
      `The embedded database is not installed here (${PACKAGE}, which production images leave out). ` +
        'Set DATABASE_URL to the URL of a PostgreSQL server.',
      { cause: error },
    );
  }
}

/** Loads PGlite too, which a service with a PostgreSQL server does without. */
async function createDatabase(files: string, extensions: Extensions = {}): Promise<PGlite> {
  const { PGlite } = await import('@electric-sql/pglite');
  return PGlite.create(files, { extensions });
}

/** The major version of PostgreSQL that wrote the files; undefined when they do not tell. */
async function readVersion(files: string): Promise<string | undefined> {
  const version = await readFile(join(files, 'PG_VERSION'), 'utf8').catch(() => '');
  return version.trim() || undefined;
}

/** PGlite does not tell why it cannot open its files, so see whether the disk takes what it needs at least: a page. */
async function whyNotOpened(dataDir: string, files: string, cause: unknown): Promise<EmbeddedDatabaseError> {
  const probe = join(dataDir, '.probe');
  try {
    await writeFile(probe, Buffer.alloc(PAGE_BYTES), { flush: true });
  } catch (error) {
    return notWritable(dataDir, error);
  } finally {
    await rm(probe, { force: true });
  }
  return damaged(files, errorMessage(cause));
}

function damaged(files: string, reason: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The database files in ${files} are damaged (${reason}). Restore them from a copy, or delete ${files} to begin anew.`,
  );
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

/** @throws DataDirectoryInUseError */
async function acquireLock(socketPath: string, dataDir: string): Promise<DirectoryLock> {
  const lock = await DirectoryLock.acquire(dirname(socketPath), () => isAlive(socketPath), OWNER_LIMIT_MS).catch(
    (error: unknown) => {
      throw notWritable(dataDir, error);
    },
  );
  // A process of the first version has no lock.
  if (lock === undefined || (await isAlive(socketPath))) {
    await lock?.release();
    throw new DataDirectoryInUseError(
      `The data directory ${dataDir} is in use by another running process. Stop it, or set DATA_DIR to another directory.`,
    );
  }
  return lock;
}

/** Listens in the place of a process that was killed, if there was one: no other one holds the lock. */
async function listenAsOwner(server: Server, socketPath: string, dataDir: string): Promise<void> {
  try {
    await rm(socketPath, { force: true });
    await listen(server, socketPath);
  } catch (error) {
    throw notWritable(dataDir, error);
  }
}

function notWritable(path: string, cause: unknown): EmbeddedDatabaseError {
  const reason = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : String(cause);
  return new EmbeddedDatabaseError(
    `The data directory ${path} cannot be written (${NOT_WRITABLE[reason] ?? reason}). Set DATA_DIR to a directory that can.`,
    { cause },
  );
}
