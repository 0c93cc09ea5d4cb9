import { randomBytes } from 'node:crypto';
import type { PoolClient } from 'pg';

/** An SQL statement that a connection plans once, under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A statement that changes nothing, and may therefore be sent again. */
export interface ReadStatement extends Statement {
  /** What it reads: it never waits for statements that read another table. */
  readonly table: string;
}

/** The columns of a row in the order of the statement; a bigint comes as text. */
export type Row = readonly unknown[];

/** A value for a statement; a bigint goes out as its digits. */
export type Parameter = string | number | bigint | Buffer | null | readonly (string | bigint | Buffer)[];

/** What makes names unique to a connection: those of PGlite share one session, where each name can be given once. */
const suffixes = new WeakMap<PoolClient, string>();

/** @param timeouts a `query_timeout` in the place of the connection's own */
export async function query(
  client: PoolClient,
  { name, text }: Statement,
  values: Parameter[],
  timeouts?: { readonly query_timeout: number },
): Promise<Row[]> {
  let suffix = suffixes.get(client);
  if (suffix === undefined) {
    suffix = randomBytes(6).toString('hex');
    suffixes.set(client, suffix);
  }
  const { rows } = await client.query<unknown[]>({
    name: `${name}_${suffix}`,
    text,
    values,
    rowMode: 'array',
    ...timeouts,
  });
  return rows;
}
