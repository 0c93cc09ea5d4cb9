import { integer, oneOf, pemFile, postgresUrl } from '../../config/formats';
import { declareSettings } from '../../config/settings';

/** The settings for connections to the PostgreSQL server in `DATABASE_URL`. */
export const DATABASE_SETTINGS = declareSettings({
  caFile: [
    'DATABASE_CA_FILE',
    pemFile(),
    undefined,
    'PEM file with the certificate authorities for PostgreSQL ([TLS](operating.md#tls))',
  ],
  certFile: ['DATABASE_CERT_FILE', pemFile(), undefined, 'PEM file with the client certificate for PostgreSQL'],
  keyFile: ['DATABASE_KEY_FILE', pemFile(), undefined, 'PEM file with its unencrypted private key'],
  migrationUrl: [
    'DATABASE_MIGRATION_URL',
    postgresUrl(),
    undefined,
    'PostgreSQL URL for migrations, with another [role](operating.md#roles) or a direct connection; by default `DATABASE_URL`',
  ],
  readUrl: [
    'DATABASE_READ_URL',
    postgresUrl('any'),
    undefined,
    'PostgreSQL URL for listings of animals, which points to [standbys](operating.md#reads-from-standbys)',
  ],
  readMaxLagMs: [
    'DATABASE_READ_MAX_LAG_MS',
    integer(100, 60_000),
    5_000,
    'how stale a listing from `DATABASE_READ_URL` may be, in milliseconds',
  ],
  poolerMode: [
    'DATABASE_POOLER_MODE',
    oneOf('session', 'transaction'),
    'session',
    'mode of a pooler such as [PgBouncer](operating.md#pgbouncer)',
  ],
  /** Two of them are reserved for API key lookups and the readiness probe; writes use fewer than half. */
  poolMax: [
    'DATABASE_POOL_MAX',
    integer(5, 200),
    10,
    'most [connections](operating.md#connections) that a replica opens to PostgreSQL',
  ],
  /** At least as long as a migration may block statements. */
  statementTimeoutMs: [
    'DATABASE_STATEMENT_TIMEOUT_MS',
    integer(1_000, 60_000),
    1_000,
    'most milliseconds of a statement before the request gets 503',
  ],
});
