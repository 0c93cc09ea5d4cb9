import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';

/** An SQL statement that a connection plans once, under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** The columns of a row in the order of the statement; a bigint comes as text. */
export type Row = readonly unknown[];

/** A value for a statement; a bigint goes out as its digits. */
export type Parameter = string | number | bigint | Buffer | null | readonly (string | bigint)[];

/** What makes names unique to a connection: those of PGlite share one session, where each name can be given once. */
const suffixes = new WeakMap<PoolClient, string>();

export async function query(client: PoolClient, { name, text }: Statement, values: Parameter[]): Promise<Row[]> {
  let suffix = suffixes.get(client);
  if (suffix === undefined) {
    suffix = randomBytes(6).toString('hex');
    suffixes.set(client, suffix);
  }
  const { rows } = await client.query<unknown[]>({ name: `${name}_${suffix}`, text, values, rowMode: 'array' });
  return rows;
}

/**
 * One connection of a pool on which each statement is sent without waiting for the answers to those before it. Those of one
 * turn of the event loop go out in one packet. For reads: a statement that waits, for a lock or for the disk, would hold
 * up the others.
 */
export class Pipeline {
  private client: Promise<PoolClient> | undefined;
  private isGathering = false;

  constructor(private readonly pool: Pool) {}

  async query(statement: Statement, parameters: Parameter[]): Promise<Row[]> {
    const client = await (this.client ??= this.connect());
    this.gather(client);
    return query(client, statement, parameters);
  }

  /** Gives the connection back to the pool. */
  async close(): Promise<void> {
    const client = await this.client?.catch(() => undefined);
    if (client !== undefined) {
      client.removeAllListeners('end');
      client.release();
    }
  }

  private async connect(): Promise<PoolClient> {
    try {
      const client = await this.pool.connect();
      // Those who wait for an answer are told by pg how it failed.
      client.on('error', () => undefined);
      client.once('end', () => {
        this.client = undefined;
        client.release(true);
      });
      return client;
    } catch (error) {
      this.client = undefined;
      throw error;
    }
  }

  private gather(client: PoolClient): void {
    if (this.isGathering) {
      return;
    }
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    this.isGathering = true;
    stream.cork();
    setImmediate(() => {
      this.isGathering = false;
      stream.uncork();
    });
  }
}
