import type { Socket } from 'node:net';
import type { PGlite } from '@electric-sql/pglite';

// Message types and codes: PostgreSQL documentation, "Frontend/Backend Protocol", Message Formats.
const QUERY = 0x51;
const SYNC = 0x53;
const TERMINATE = 0x58;
const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;
const CANCEL_REQUEST = 80_877_102;
const IDLE = 0x49;

/** Who may use the one session that PGlite has: one connection at a time, in the order of asking. */
export class Turns {
  private last: Promise<void> = Promise.resolve();

  /** Waits for the turn; the caller ends it by calling what it gets. */
  async take(): Promise<() => void> {
    let end: () => void = () => undefined;
    const previous = this.last;
    this.last = new Promise((ended) => (end = ended));
    await previous;
    return end;
  }
}

/**
 * Serves one connection with a PGlite database until it closes. Messages run in whole batches, up to a Query or Sync,
 * and a connection in a transaction keeps its turn to the end of it, so that connections never see each other's
 * unfinished work. A transaction left open is rolled back.
 */
export async function servePostgresProtocol(socket: Socket, database: PGlite, turns: Turns): Promise<void> {
  let endTurn: (() => void) | undefined;
  const run = async (batch: Buffer) => {
    endTurn ??= await turns.take();
    const answer = await database.execProtocolRaw(batch);
    // Every batch ends with ReadyForQuery, whose last byte is the transaction status.
    if (answer.at(-1) === IDLE) {
      endTurn();
      endTurn = undefined;
    }
    socket.write(answer);
  };
  try {
    socket.setNoDelay(true);
    for await (const batch of batches(socket)) {
      await run(batch);
    }
  } catch {
    // The client went away in the middle of something; what it had begun is undone below.
  } finally {
    if (endTurn !== undefined) {
      await database.exec('ROLLBACK').catch(() => undefined);
      endTurn();
    }
    socket.destroy();
  }
}

async function* batches(socket: Socket): AsyncGenerator<Buffer> {
  let received = Buffer.alloc(0);
  let started = false;
  let batch: Buffer[] = [];
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const lengthAt = started ? 1 : 0;
      if (received.length < lengthAt + 4) {
        break;
      }
      const size = lengthAt + received.readInt32BE(lengthAt);
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
