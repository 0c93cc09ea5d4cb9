import { integer, oneOf, pemFile, postgresUrl } from '../../config/formats';
import { declareSettings } from '../../config/settings';

/** The settings for connections to the PostgreSQL server in `DATABASE_URL`. */
export const DATABASE_SETTINGS = declareSettings({
  /** The certificate authorities trusted for the server's certificate. */
  caFile: ['DATABASE_CA_FILE', pemFile(), undefined],
  /** The certificate that this process presents to the server, and its private key. */
  certFile: ['DATABASE_CERT_FILE', pemFile(), undefined],
  keyFile: ['DATABASE_KEY_FILE', pemFile(), undefined],
  /** The URL that migrations use instead of `DATABASE_URL`. */
  migrationUrl: ['DATABASE_MIGRATION_URL', postgresUrl(), undefined],
  /** The URL of the endpoint that listings are read from: one or more standbys. Default: `DATABASE_URL`. */
  readUrl: ['DATABASE_READ_URL', postgresUrl('any'), undefined],
  /** How stale a response of the read endpoint may be, in ms. */
  readMaxLagMs: ['DATABASE_READ_MAX_LAG_MS', integer(100, 60_000), 5_000],
  /** The mode of a connection pooler such as PgBouncer in front of the server. */
  poolerMode: ['DATABASE_POOLER_MODE', oneOf('session', 'transaction'), 'session'],
  /**
   * The maximum number of connections to the primary, and to the read endpoint, if there is one. Two of them are reserved for API key
   * lookups and the readiness probe; writes use fewer than half.
   */
  poolMax: ['DATABASE_POOL_MAX', integer(5, 200), 10],
  /** The statement timeout in ms: at least as long as a migration may block statements. */
  statementTimeoutMs: ['DATABASE_STATEMENT_TIMEOUT_MS', integer(1_000, 60_000), 1_000],
});
