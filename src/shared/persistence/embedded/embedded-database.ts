import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Extensions, PGlite } from '@electric-sql/pglite' with { 'resolution-mode': 'import' };
import { getErrorCode, getErrorMessage } from '../../domain/error-message';
import { DirectoryLock, isAlive, listen } from './directory-lock';
import { loadExtensions } from './extensions';
import { servePostgresProtocol, Mutex } from './postgres-protocol';

const PACKAGE = '@electric-sql/pglite';
/** An empty database directory created by the build, so that the first startup does not wait for initdb. */
const TEMPLATE = join(__dirname, 'embedded-template');
const SOCKET_NAME = '.s.PGSQL.5432';
/** The kernel's limit is 108 bytes on Linux and 104 on macOS. */
const MAX_SOCKET_PATH_BYTES = 100;
/** Readable descriptions of error codes for the data directory. */
const NOT_WRITABLE: Readonly<Record<string, string>> = {
  EEXIST: 'a file with that name exists',
  ENOTDIR: 'a parent of the path is a file',
  ENOSPC: 'the disk is full',
};
/** Two segments of the write-ahead log. */
const RECOVERY_BYTES = 33_554_432;
/** How long a process waits for the owner of the directory to listen. */
const OWNER_TIMEOUT_MS = 10_000;

/** The embedded database cannot be used; the message says why and what to do. */
export class EmbeddedDatabaseError extends Error {}

/** Another running process has the data directory open. */
export class DataDirectoryInUseError extends EmbeddedDatabaseError {}

/**
 * PostgreSQL inside this process (PGlite), with its files in a directory. It listens on a Unix socket like any PostgreSQL
 * server, so the service and its command line use the same driver for both. PGlite itself would let two processes open
 * and corrupt one directory, so a lock prevents that.
 */
export class EmbeddedDatabase {
  /** Resolves when PostgreSQL crashes, for example because the disk is full. Only a new process can open the files again. */
  readonly crashed: Promise<EmbeddedDatabaseError>;
  private hasCrashed = false;

  private constructor(
    private readonly database: PGlite,
    private readonly lock: DirectoryLock,
    private readonly server: Server,
    private readonly connections: Set<Socket>,
  ) {
    this.crashed = new Promise((resolve) => {
      const sessionMutex = new Mutex();
      const onCrash = (reason: string) => {
        this.hasCrashed = true;
        // Flushes pending writes first: one client receives the reason as its response.
        connections.forEach((socket) => {
          socket.destroySoon();
        });
        resolve(new EmbeddedDatabaseError(`The embedded database crashed: ${reason}.`));
      };
      const serve = (socket: Socket) => {
        connections.add(socket);
        void servePostgresProtocol(socket, database, sessionMutex, onCrash).finally(() => connections.delete(socket));
      };
      connections.forEach(serve);
      server.removeAllListeners('connection').on('connection', serve);
    });
  }

  /**
   * Opens the database in a directory, which is created if it is missing.
   * @throws DataDirectoryInUseError when another process has it open; EmbeddedDatabaseError when it cannot be used
   */
  static async open(dataDir: string, extensions?: Extensions): Promise<EmbeddedDatabase> {
    requirePackage();
    await createPrivateDirectory(dataDir);
    const socketPath = join(getEmbeddedDatabaseHost(dataDir), SOCKET_NAME);
    await createPrivateDirectory(dirname(socketPath));
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

/** Returns the directory of the Unix socket of an embedded database, which `pg` takes as its `host`. */
export function getEmbeddedDatabaseHost(dataDir: string): string {
  const directory = resolve(dataDir);
  if (Buffer.byteLength(join(directory, SOCKET_NAME)) <= MAX_SOCKET_PATH_BYTES) {
    return directory;
  }
  return join(tmpdir(), `pglite-${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`);
}

/** Creates the template that the first startup copies. Part of the build. */
export async function createEmbeddedTemplate(): Promise<void> {
  await (await createDatabase(TEMPLATE)).close();
}

/** @throws EmbeddedDatabaseError */
async function openFiles(dataDir: string, extensions: Extensions): Promise<PGlite> {
  const files = join(dataDir, 'postgres');
  // Created under another name and renamed when complete, so that an interrupted startup leaves no partial files.
  const temporaryPath = `${files}.new`;
  try {
    if (!existsSync(files)) {
      await rm(temporaryPath, { recursive: true, force: true });
      if (existsSync(TEMPLATE)) {
        await cp(TEMPLATE, temporaryPath, { recursive: true });
      } else {
        await (await createDatabase(temporaryPath)).close();
      }
      await rename(temporaryPath, files);
    }
  } catch (error) {
    await rm(temporaryPath, { recursive: true, force: true });
    throw createNotWritableError(dataDir, error);
  }
  const version = await readVersion(files);
  const ownVersion = (await readVersion(TEMPLATE)) ?? version;
  if (version !== undefined && version !== ownVersion) {
    throw new EmbeddedDatabaseError(
      `The database files in ${files} were written by PostgreSQL ${version}, but this version of the service uses ` +
        `PostgreSQL ${ownVersion}. Run the version of the service that wrote them, or set DATA_DIR to another directory.`,
    );
  }
  if (version === undefined) {
    // PGlite would treat the directory as empty and initialize a new database over the files.
    throw createDamagedError(files, 'PG_VERSION is missing');
  }
  return createDatabase(files, extensions).catch(async (error: unknown) => {
    throw await explainOpenFailure(dataDir, files, error);
  });
}

/** @throws EmbeddedDatabaseError when PGlite, an optional dependency, is not installed */
function requirePackage(): void {
  try {
    require.resolve(PACKAGE);
  } catch (error) {
    throw new EmbeddedDatabaseError(
      `The embedded database (${PACKAGE}) is not installed; production images do not include it. ` +
        'Set DATABASE_URL to the URL of a PostgreSQL server.',
      { cause: error },
    );
  }
}

/** Imports PGlite lazily, because a service with a PostgreSQL server does not need it. */
async function createDatabase(files: string, extensions: Extensions = {}): Promise<PGlite> {
  const { PGlite } = await import('@electric-sql/pglite');
  return PGlite.create(files, { extensions });
}

/** Returns the major version of PostgreSQL that wrote the files; undefined if it is missing. */
async function readVersion(files: string): Promise<string | undefined> {
  const version = await readFile(join(files, 'PG_VERSION'), 'utf8').catch(() => '');
  return version.trim() || undefined;
}

/** PGlite does not report why it cannot open its files, so this checks whether the disk has space for a recovery. */
async function explainOpenFailure(dataDir: string, files: string, cause: unknown): Promise<EmbeddedDatabaseError> {
  const probe = join(dataDir, '.probe');
  try {
    await writeFile(probe, Buffer.alloc(RECOVERY_BYTES), { flush: true });
  } catch (error) {
    return createNotWritableError(dataDir, error);
  } finally {
    await rm(probe, { force: true });
  }
  return createDamagedError(files, getErrorMessage(cause));
}

function createDamagedError(files: string, reason: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The database files in ${files} are damaged (${reason}). Restore them from a backup, or move ${files} away to start with an empty database.`,
  );
}

async function createPrivateDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const { uid } = await stat(path);
    if (process.getuid !== undefined && process.getuid() !== 0 && uid !== process.getuid()) {
      throw new EmbeddedDatabaseError(
        `The data directory ${path} belongs to another user. Set DATA_DIR to a directory that you own.`,
      );
    }
  } catch (error) {
    throw error instanceof EmbeddedDatabaseError ? error : createNotWritableError(path, error);
  }
}

/** @throws DataDirectoryInUseError */
async function acquireLock(socketPath: string, dataDir: string): Promise<DirectoryLock> {
  const lock = await DirectoryLock.acquire(dirname(socketPath), () => isAlive(socketPath), OWNER_TIMEOUT_MS).catch(
    (error: unknown) => {
      throw createNotWritableError(dataDir, error);
    },
  );
  // Builds from before the lock existed do not take it.
  if (lock === undefined || (await isAlive(socketPath))) {
    await lock?.release();
    throw new DataDirectoryInUseError(
      `The data directory ${dataDir} is in use by another running process. Stop it, or set DATA_DIR to another directory.`,
    );
  }
  return lock;
}

/** Replaces the socket of a killed process, if any; safe because this process holds the lock. */
async function listenAsOwner(server: Server, socketPath: string, dataDir: string): Promise<void> {
  try {
    await rm(socketPath, { force: true });
    await listen(server, socketPath);
  } catch (error) {
    throw createNotWritableError(dataDir, error);
  }
}

function createNotWritableError(path: string, cause: unknown): EmbeddedDatabaseError {
  const reason = getErrorCode(cause) ?? getErrorMessage(cause);
  return new EmbeddedDatabaseError(
    `The data directory ${path} cannot be written (${NOT_WRITABLE[reason] ?? reason}). Set DATA_DIR to a writable directory.`,
    { cause },
  );
}
