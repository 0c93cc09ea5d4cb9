import { randomBytes } from 'node:crypto';
import type { PoolClient, QueryArrayConfig } from 'pg';

/** An SQL statement that a connection plans once, under its name, unless a pooler shares connections by the transaction. */
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

export interface QueryOptions {
  /** Whether the connection keeps the statement, planned, for the next time. */
  readonly isPrepared: boolean;
  /** In the place of the connection's own. */
  readonly query_timeout?: number | undefined;
}

export async function query(
  client: PoolClient,
  { name, text }: Statement,
  values: Parameter[],
  { isPrepared, query_timeout }: QueryOptions,
): Promise<Row[]> {
  // `pg` takes a `query_timeout`, which its types do not know.
  const config: QueryArrayConfig & Partial<Pick<QueryOptions, 'query_timeout'>> = {
    name: isPrepared ? uniqueName(client, name) : undefined,
    text,
    values,
    rowMode: 'array',
    query_timeout,
  };
  return (await client.query<unknown[]>(config)).rows;
}

function uniqueName(client: PoolClient, name: string): string {
  let suffix = suffixes.get(client);
  if (suffix === undefined) {
    suffix = randomBytes(6).toString('hex');
    suffixes.set(client, suffix);
  }
  return `${name}_${suffix}`;
}
