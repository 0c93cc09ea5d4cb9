/** The events of the log (`event.action`): the level, and the meaning with the event's own fields, for docs/reference.md. */
export const LOG_EVENTS = {
  request: ['info', 'a request, except a successful probe'],
  started: ['info', 'the replica accepts requests; `rateLimitStore`: `redis` or `memory`'],
  start_failed: ['fatal', 'the replica did not start'],
  stopping: ['info', 'the replica stops because of `signal`'],
  stopped: ['info', 'the replica has stopped'],
  setting_ignored: ['warn', 'a variable is probably [misspelt](#misspelt-settings), or has no effect'],
  log_level_changed: ['info', 'the new `level`'],
  request_failed: ['error', 'the response is a 500: `http.request.id`, `error.stack_trace`'],
  value_rejected: ['warn', 'PostgreSQL rejected a value that no rule had checked: `http.request.id`, `code`'],
  service_unavailable: [
    'warn',
    'the response is a 503, or another 5xx of a module: `http.request.id`, `reason`, `code`; one line per second, `suppressed` further ones',
  ],
  forwarded_for_ignored: ['warn', 'requests have `X-Forwarded-For`, but `TRUST_PROXY` is not set; once'],
  key_banned: ['warn', '`keyId` of `accountId` is banned until `bannedUntil`'],
  breaker_opened: ['warn', 'the replica counts requests locally because of `reason`; `node`, in a cluster'],
  redis_failed: ['warn', 'each further `reason`, once a minute'],
  breaker_closed: ['warn', 'the replica shares its limits again'],
  rate_limit_failed: ['error', 'a bug: the requests of one call to Redis are counted locally'],
  unknown_value: [
    'warn',
    'the database has a plan, scope or status of a [newer version](extending.md#the-order-of-a-rollout)',
  ],
  database_unavailable: ['warn', 'the replica cannot use the database yet: `reason`'],
  database_opened: ['info', 'the database is available again'],
  database_timeouts_missing: ['warn', 'the role lacks timeouts that a transaction pooler needs: `missing`'],
  prepared_statements_lost: [
    'warn',
    'a pooler lost a statement, so the replica prepares none; see `DATABASE_POOLER_MODE`',
  ],
  database_failed: ['fatal', 'this process can never use the database; it drains and exits with code 1'],
  migration_applied: ['debug', 'one `migration` ran'],
  migrated: ['info', '`count` migrations ran'],
  read_endpoint_enabled: ['info', 'listings are read from `DATABASE_READ_URL`'],
  read_endpoint_disabled: ['warn', 'listings are read from the primary, because of `reason`'],
  traces_failed: ['warn', '`reason`; one line per minute'],
  unhandled_error: ['fatal', 'a bug: `error.stack_trace`; the replica drains and exits with code 1'],
} as const satisfies Readonly<Record<string, readonly [level: string, meaning: string]>>;

export type LogEvent = keyof typeof LOG_EVENTS;

type Write = (fields: object, message: string) => void;

/** Logs an event with its level through Nest's `Logger`. The fields `id` and `stack` are those of the request and the error. */
export function logEvent(
  logger: Readonly<Record<'debug' | 'log' | 'warn' | 'error' | 'fatal', Write>>,
  event: LogEvent,
  message: string,
  fields: object = {},
): void {
  const [level] = LOG_EVENTS[event];
  logger[level === 'info' ? 'log' : level]({ event, ...fields }, message);
}
