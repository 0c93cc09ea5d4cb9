import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { IDENTIFIER } from '../config/brand';
import { Settings } from '../config/settings';
import { VERSION } from '../config/version';
import { Readiness } from '../health';
import { RateLimiter } from '../rate-limiting';
import { Statements } from '../shared/persistence/statements';
import { ReadEndpoint } from '../shared/persistence/read-endpoint';

const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
/** The limiter waits for Redis for up to 0.05 s. */
const REDIS_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1];
/** Beyond this many accounts, calls to deprecated operations are counted together. */
const MAX_LABELED_ACCOUNTS = 1_000;

/** The Prometheus metrics of this replica. */
@Injectable()
export class Metrics {
  private readonly registers = [this.registry];
  readonly requests = new Histogram({
    name: `${IDENTIFIER}_http_request_duration_seconds`,
    help: 'Duration of requests, from arrival to the end of the response.',
    labelNames: ['method', 'route', 'status'],
    buckets: LATENCY_BUCKETS,
    registers: this.registers,
  });
  readonly rateLimitDecisions = new Counter({
    name: `${IDENTIFIER}_rate_limit_decisions_total`,
    help: 'Decisions of the rate limiter.',
    labelNames: ['plan', 'outcome'],
    registers: this.registers,
  });
  private readonly deprecatedCalls = new Counter({
    name: `${IDENTIFIER}_deprecated_calls_total`,
    help: 'Calls to deprecated operations.',
    labelNames: ['method', 'route', 'account'],
    registers: this.registers,
  });
  private readonly redisReplies = new Histogram({
    name: `${IDENTIFIER}_redis_reply_duration_seconds`,
    help: 'How long the rate limiter waited for replies from Redis, including waits that timed out.',
    buckets: REDIS_BUCKETS,
    registers: this.registers,
  });
  private readonly accounts = new Set<bigint>();

  constructor(
    private readonly registry: Registry,
    { monitor }: RateLimiter,
    statements: Statements,
    readiness: Readiness,
    readEndpoint: ReadEndpoint,
    { redisUrls }: Settings,
  ) {
    const { registers } = this;
    monitor.onReply((ms) => {
      this.redisReplies.observe(ms / 1_000);
    });
    new Counter({
      name: `${IDENTIFIER}_bans_total`,
      help: 'Bans of API keys imposed by this replica.',
      registers,
      collect() {
        this.reset();
        this.inc(monitor.bansImposed);
      },
    });
    new Gauge({
      name: `${IDENTIFIER}_rate_limit_store`,
      help: '1 for the store in which this replica counts requests: Redis, or its own memory.',
      labelNames: ['store'],
      registers,
      collect() {
        const isInMemory = redisUrls.length === 0 || monitor.isDegraded;
        this.set({ store: 'memory' }, isInMemory ? 1 : 0);
        this.set({ store: 'redis' }, isInMemory ? 0 : 1);
      },
    });
    new Gauge({
      name: `${IDENTIFIER}_redis_breaker_open`,
      help: '1 while this replica is degraded: it counts requests locally because Redis is unavailable.',
      registers,
      collect() {
        this.set(monitor.isDegraded ? 1 : 0);
      },
    });
    new Counter({
      name: `${IDENTIFIER}_redis_breaker_openings_total`,
      help: 'How many times this replica became degraded (counting requests locally).',
      registers,
      collect() {
        this.reset();
        this.inc(monitor.breakerOpenings);
      },
    });
    new Gauge({
      name: `${IDENTIFIER}_database_connections`,
      help: 'Connections of the database pool.',
      labelNames: ['state'],
      registers,
      collect() {
        const { used, idle } = statements.poolState;
        this.set({ state: 'used' }, used);
        this.set({ state: 'idle' }, idle);
      },
    });
    new Gauge({
      name: `${IDENTIFIER}_database_pending_requests`,
      help: 'Pending requests for a connection of the database pool.',
      registers,
      collect() {
        this.set(statements.poolState.pendingRequests);
      },
    });
    new Gauge({
      name: `${IDENTIFIER}_database_read_endpoint_enabled`,
      help: '1 while listings are read from DATABASE_READ_URL, 0 while they are read from the primary.',
      registers,
      collect() {
        this.set(readEndpoint.isEnabled ? 1 : 0);
      },
    });
    // After the pool gauges, which the readiness statement would change.
    new Gauge({
      name: `${IDENTIFIER}_ready`,
      help: '1 if this replica can serve requests, as reported by /readyz, otherwise 0.',
      registers,
      async collect() {
        this.set(
          await readiness.check().then(
            () => 1,
            () => 0,
          ),
        );
      },
    });
    new Gauge({
      name: `${IDENTIFIER}_build_info`,
      help: 'The version of the service and of Node.js; always 1.',
      labelNames: ['version', 'node_version'],
      registers,
    }).set({ version: VERSION, node_version: process.versions.node }, 1);
    collectDefaultMetrics({ register: this.registry });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  recordDeprecatedCall(method: string, route: string, accountId: bigint): void {
    const isLabeled = this.accounts.has(accountId) || this.accounts.size < MAX_LABELED_ACCOUNTS;
    if (isLabeled) {
      this.accounts.add(accountId);
    }
    this.deprecatedCalls.inc({ method, route, account: isLabeled ? `${accountId}` : 'other' });
  }

  /** All metrics, in Prometheus's text format. */
  render(): Promise<string> {
    return this.registry.metrics();
  }
}
