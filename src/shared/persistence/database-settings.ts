import { integer, matching, oneOf, postgresUrl } from '../../config/formats';
import { declareSettings } from '../../config/settings';

const path = matching(/./, 'be the path of a file');

/** How the PostgreSQL server of `DATABASE_URL` is used. */
export const DATABASE_SETTINGS = declareSettings({
  /** The certificate authorities that a server's certificate must come from. */
  caFile: ['DATABASE_CA_FILE', path, undefined],
  /** The certificate that this process presents to the server, and its private key. */
  certFile: ['DATABASE_CERT_FILE', path, undefined],
  keyFile: ['DATABASE_KEY_FILE', path, undefined],
  /** Where migrations connect to, if not to `DATABASE_URL`. */
  migrationUrl: ['DATABASE_MIGRATION_URL', postgresUrl(), undefined],
  /** Where listings are read, if not at `DATABASE_URL`: the read endpoint of standbys. */
  readUrl: ['DATABASE_READ_URL', postgresUrl('any one'), undefined],
  /** How stale a response of the read endpoint may be, in ms. */
  readMaxLagMs: ['DATABASE_READ_MAX_LAG_MS', integer(100, 60_000), 5_000],
  /** For how long a pooler in between leaves a connection of the server to this process. */
  poolerMode: ['DATABASE_POOLER_MODE', oneOf('session', 'transaction'), 'session'],
  /** The connections of this process: enough for the pipelines of two tables, half of them for writing. */
  poolMax: ['DATABASE_POOL_MAX', integer(5, 200), 10],
  /** How long a statement may take, in ms: not less than a migration may hold up statements. */
  statementTimeoutMs: ['DATABASE_STATEMENT_TIMEOUT_MS', integer(1_000, 60_000), 1_000],
});
