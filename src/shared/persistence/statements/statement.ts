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

/** The same for all queries of a connection. */
export interface QueryOptions {
  /** Whether the connection keeps the prepared statement. */
  readonly isPrepared: boolean;
  /** Overrides the connection's own timeout. */
  readonly query_timeout?: number | undefined;
}

/** How a connection runs statements. */
interface ConnectionStatements {
  /** Makes statement names unique per connection: all PGlite connections share one session, so names must not repeat. */
  readonly suffix: string;
  /** By statement name. */
  readonly configs: Map<string, QueryArrayConfig>;
}

const connectionStatements = new WeakMap<PoolClient, ConnectionStatements>();

export async function query(
  client: PoolClient,
  statement: Statement,
  values: Parameter[],
  options: QueryOptions,
): Promise<Row[]> {
  return (await client.query<unknown[]>(getConfig(client, statement, options), values)).rows;
}

function getConfig(
  client: PoolClient,
  { name, text }: Statement,
  { isPrepared, query_timeout }: QueryOptions,
): QueryArrayConfig {
  let statements = connectionStatements.get(client);
  if (statements === undefined) {
    statements = { suffix: randomBytes(6).toString('hex'), configs: new Map() };
    connectionStatements.set(client, statements);
  }
  let config = statements.configs.get(name);
  if (config === undefined) {
    // `pg` accepts `query_timeout`, but its types do not declare it.
    const inherited: QueryArrayConfig & Partial<Pick<QueryOptions, 'query_timeout'>> = {
      name: isPrepared ? `${name}_${statements.suffix}` : undefined,
      text,
      rowMode: 'array',
      query_timeout,
    };
    // For each query, `pg` copies own properties with their descriptors, but not inherited ones, which saves about 6 µs.
    config = Object.create(inherited) as QueryArrayConfig;
    statements.configs.set(name, config);
  }
  return config;
}
