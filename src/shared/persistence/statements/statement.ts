import { randomBytes } from 'node:crypto';
import type { PoolClient, QueryArrayConfig } from 'pg';

/** An SQL statement that each connection prepares once under its name, unless a pooler runs in transaction mode. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A statement that changes nothing and can be retried safely. */
export interface ReadStatement extends Statement {
  /**
   * The name of the pipeline that runs the statement, usually that of the table it reads. Statements in different pipelines do not
   * wait for each other.
   */
  readonly pipeline: string;
}

/** The columns of a row in statement order; a bigint is returned as text. */
export type Row = readonly unknown[];

/** A statement parameter; a bigint is sent as its decimal digits. */
export type Parameter = string | number | bigint | Buffer | null | readonly (string | bigint | Buffer)[];

/** Makes statement names unique per connection: all PGlite connections share one session, so names must not repeat. */
const suffixes = new WeakMap<PoolClient, string>();

export interface QueryOptions {
  /** Whether the connection keeps the prepared statement. */
  readonly isPrepared: boolean;
  /** Overrides the connection's own timeout. */
  readonly query_timeout?: number | undefined;
}

export async function query(
  client: PoolClient,
  { name, text }: Statement,
  values: Parameter[],
  { isPrepared, query_timeout }: QueryOptions,
): Promise<Row[]> {
  // `pg` accepts `query_timeout`, but its types do not declare it.
  const config: QueryArrayConfig & Partial<Pick<QueryOptions, 'query_timeout'>> = {
    name: isPrepared ? getUniqueName(client, name) : undefined,
    text,
    values,
    rowMode: 'array',
    query_timeout,
  };
  return (await client.query<unknown[]>(config)).rows;
}

function getUniqueName(client: PoolClient, name: string): string {
  let suffix = suffixes.get(client);
  if (suffix === undefined) {
    suffix = randomBytes(6).toString('hex');
    suffixes.set(client, suffix);
  }
  return `${name}_${suffix}`;
}
