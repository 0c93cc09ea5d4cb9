import type { Socket } from 'node:net';
import type { PGlite } from '@electric-sql/pglite' with { 'resolution-mode': 'import' };
import { getErrorMessage } from '../../domain/error-message';

// Message types and codes: PostgreSQL documentation, "Frontend/Backend Protocol", Message Formats.
const QUERY = 0x51;
const SYNC = 0x53;
const TERMINATE = 0x58;
const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;
const CANCEL_REQUEST = 80_877_102;
const IDLE = 0x49;
const ERROR_RESPONSE = 0x45;

/** Grants access to PGlite's only session to one connection at a time, first come, first served. */
export class Mutex {
  private last: Promise<void> = Promise.resolve();

  /** Waits for exclusive access. @returns the function that releases it */
  async acquire(): Promise<() => void> {
    let release: () => void = () => undefined;
    const previous = this.last;
    this.last = new Promise((released) => (release = released));
    await previous;
    return release;
  }
}

/**
 * Serves one connection with a PGlite database until it closes. Messages run in complete batches, up to a Query or Sync.
 * A connection holds the session until its transaction ends, so connections never see each other's uncommitted changes.
 * A transaction left open is rolled back.
 * @param onCrash called with the reason when PostgreSQL panics, for example because the disk is full. The session is then
 * never released, because another statement would never return.
 */
export async function servePostgresProtocol(
  socket: Socket,
  database: PGlite,
  sessionMutex: Mutex,
  onCrash: (reason: string) => void,
): Promise<void> {
  let release: (() => void) | undefined;
  const run = async (batch: Buffer) => {
    release ??= await sessionMutex.acquire();
    if (socket.destroyed) {
      // Nobody waits for the result.
      return;
    }
    const { response, crash } = await execute(database, batch);
    socket.write(response);
    if (crash !== undefined) {
      release = undefined;
      onCrash(crash);
    } else if (response.at(-1) === IDLE) {
      // Every batch ends with ReadyForQuery, whose last byte is the transaction status.
      release();
      release = undefined;
    }
  };
  try {
    socket.setNoDelay(true);
    for await (const batch of readBatches(socket)) {
      await run(batch);
    }
  } catch {
    // The client disconnected; its open transaction is rolled back below.
  } finally {
    if (release !== undefined) {
      await database.exec('ROLLBACK').catch(() => undefined);
      release();
    }
    socket.destroy();
  }
}

/** @returns the response, and in `crash` the reason if PostgreSQL has crashed */
async function execute(database: PGlite, batch: Buffer): Promise<{ response: Buffer; crash: string | undefined }> {
  try {
    const { buffer, byteOffset, byteLength } = await database.execProtocolRaw(batch);
    const response = Buffer.from(buffer, byteOffset, byteLength);
    return { response, crash: findPanic(response) };
  } catch (error) {
    return { response: Buffer.alloc(0), crash: getErrorMessage(error) };
  }
}

/** Returns the message of an ErrorResponse with severity PANIC; undefined if there is none. */
function findPanic(response: Buffer): string | undefined {
  for (let offset = 0; offset + 5 <= response.length; offset += 1 + response.readInt32BE(offset + 1)) {
    if (response[offset] === ERROR_RESPONSE) {
      const fields = response.toString('utf8', offset + 5, offset + 1 + response.readInt32BE(offset + 1)).split('\0');
      return fields.includes('VPANIC') ? fields.find((field) => field.startsWith('M'))?.slice(1) : undefined;
    }
  }
  return undefined;
}

async function* readBatches(socket: Socket): AsyncGenerator<Buffer> {
  let received = Buffer.alloc(0);
  let started = false;
  let batch: Buffer[] = [];
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const lengthOffset = started ? 1 : 0;
      if (received.length < lengthOffset + 4) {
        break;
      }
      const size = lengthOffset + received.readInt32BE(lengthOffset);
      if (received.length < size) {
        break;
      }
      const message = received.subarray(0, size);
      received = received.subarray(size);
      if (!started) {
        const code = message.readInt32BE(4);
        if (code === SSL_REQUEST || code === GSS_REQUEST) {
          socket.write('N');
          continue;
        }
        if (code === CANCEL_REQUEST) {
          return;
        }
        started = true;
        yield message;
        continue;
      }
      const type = message[0];
      if (type === TERMINATE) {
        return;
      }
      batch.push(message);
      if (type === QUERY || type === SYNC) {
        yield Buffer.concat(batch);
        batch = [];
      }
    }
  }
}
