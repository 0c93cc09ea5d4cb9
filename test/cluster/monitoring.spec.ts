import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { cleanUp, onEnd } from '../support/cleanup';
import { createTemporaryDirectory, findFreePort } from '../support/process';
import { Client, runConcurrently } from './support/client';
import { type ClusterWithRedis, startClusterWithRedis } from './support/cluster';
import { startLoad } from './support/load';
import { eventually, Replica } from './support/replica';
import { findProgram, Server } from './support/servers';

const MONITORING = join(__dirname, '../../docker/monitoring');
const UNIT_TESTS = ['alerts.test.yml', 'deprecated-calls.test.yml'];
const read = (name: string) => readFile(join(MONITORING, name), 'utf8');

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}
interface Rules<T> {
  readonly groups: readonly { readonly rules: readonly T[] }[];
}

/**
 * Starts Prometheus with the configuration of the project. Only the targets, the scrape interval and, if they are changed, the times in the
 * rules differ.
 */
async function startPrometheus(
  metricsPorts: readonly string[],
  interval = '1s',
  changeRules = (rules: string) => rules,
): Promise<Server> {
  const { path: directory } = await createTemporaryDirectory();
  const targets = metricsPorts.map((port) => `'127.0.0.1:${port}'`).join(', ');
  const replacements = [
    [/15s/g, interval],
    [/dns_sd_configs:[^]*/, `static_configs: [{ targets: [${targets}] }]`],
  ] as const;
  const configuration = replacements.reduce(
    (text, [original, replacement]) => {
      expect(text).toMatch(original);
      return text.replace(original, replacement);
    },
    await read('prometheus.yml'),
  );
  await writeFile(join(directory, 'alerts.yml'), changeRules(await read('alerts.yml')));
  const file = join(directory, 'prometheus.yml');
  await writeFile(file, configuration);
  return Server.startPrometheus(directory, file);
}

describe('The alert rules', () => {
  /** @throws an error with the problems that it found */
  const runPromtool = (...args: string[]) =>
    promisify(execFile)(findProgram('promtool', 'prometheus'), args, { cwd: MONITORING });

  it('and the Prometheus configuration are valid', async () => {
    await runPromtool('check', 'rules', 'alerts.yml');
    await runPromtool('check', 'config', 'prometheus.yml');
  });

  it('pass their unit tests', async () => {
    await runPromtool('test', 'rules', ...UNIT_TESTS);
  });

  it('each have a unit test in which they fire and one in which they do not', async () => {
    interface UnitTests {
      readonly tests: readonly {
        readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts?: unknown[] }[];
      }[];
    }
    const { groups } = parse(await read('alerts.yml')) as Rules<{ readonly alert: string }>;
    const files = await Promise.all(UNIT_TESTS.map(read));
    const cases = files.flatMap((file) =>
      (parse(file) as UnitTests).tests.flatMap(({ alert_rule_test }) => alert_rule_test),
    );
    const listAlerts = (fires: boolean) => [
      ...new Set(cases.filter(({ exp_alerts }) => (exp_alerts !== undefined) === fires).map((each) => each.alertname)),
    ];
    const names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
    expect(listAlerts(true).sort()).toEqual([...names].sort());
    expect(listAlerts(false).sort()).toEqual([...names].sort());
  });
});

describe('Prometheus scraping a replica under load', () => {
  let { postgres, replica } = {} as ClusterWithRedis;
  let prometheus: Server;
  let metricsUrl: string;

  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${prometheus.url}/api/v1/${path}`);
    const { data, error } = (await response.json()) as { data: T; error?: string };
    expect([path, error]).toEqual([path, undefined]);
    return data;
  };
  const query = async (expr: string) =>
    (await get<{ result: readonly Sample[] }>(`query?query=${encodeURIComponent(expr)}`)).result;

  beforeAll(async () => {
    const metricsPort = await findFreePort();
    metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
    const cluster = await startClusterWithRedis({ env: { METRICS_PORT: metricsPort } });
    ({ postgres, replica } = cluster);
    // Requests of every kind that the dashboard distinguishes.
    const clients = [cluster.client, new Client(await cluster.store.createKey('free')), new Client('no-key')];
    const load = startLoad(4, async (worker, count) => {
      const client = clients[(worker + count) % clients.length];
      await client?.add(replica.port, 'Rex');
      await client?.call(replica.port);
      await client?.call(replica.port, { path: '/v1/pets/1' });
    });
    onEnd(load.end);
    prometheus = await startPrometheus([metricsPort]);
  });
  afterAll(cleanUp);

  it('has data for every query of the dashboard', async () => {
    const { panels } = JSON.parse(await read('dashboards/petstore.json')) as {
      panels: { targets: { expr: string }[] }[];
    };
    const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    let withoutData = queries;
    const hasData = async (expr: string) => {
      const samples = await query(expr.replaceAll('$__rate_interval', '10s').replaceAll('$__range', '1m'));
      return samples.some(({ value: [, number] }) => number !== 'NaN');
    };
    await eventually(20_000, async () => {
      const found = await Promise.all(withoutData.map(hasData));
      withoutData = withoutData.filter((_, index) => !found[index]);
      return withoutData.length === 0;
    }).catch(() => undefined);
    expect(withoutData).toEqual([]);
  });

  it('evaluates every rule without errors, and none fires', async () => {
    interface Rule {
      readonly name: string;
      readonly health: string;
      readonly state: string;
    }
    const readRules = async () => (await get<Rules<Rule>>('rules')).groups.flatMap((group) => group.rules);
    await eventually(10_000, async () => (await readRules()).every(({ health }) => health !== 'unknown'));
    const found = await readRules();
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter(({ health, state }) => health !== 'ok' || state === 'firing')).toEqual([]);
  });

  const itReportsUnreadinessWhile = (
    fault: string,
    begin: () => Promise<void> | void,
    end: () => Promise<void> | void,
  ) => {
    it(`gets petstore_ready 0 from a scrape within 2 s while PostgreSQL ${fault}`, async () => {
      const readReady = async () => (await query('petstore_ready'))[0]?.value[1];
      await eventually(5_000, async () => (await readReady()) === '1');
      await begin();
      const startedAt = performance.now();
      const text = await (await fetch(metricsUrl)).text();
      expect(performance.now() - startedAt).toBeLessThan(2_000);
      expect(text).toContain('\npetstore_ready 0\n');
      expect(text).toContain('\npetstore_http_request_duration_seconds_count{');
      await eventually(5_000, async () => (await readReady()) === '0');
      expect((await query('up'))[0]?.value[1]).toBe('1');
      await end();
      await eventually(5_000, async () => (await readReady()) === '1');
    });
  };

  itReportsUnreadinessWhile(
    'is frozen',
    () => {
      postgres.freeze();
    },
    () => {
      postgres.thaw();
    },
  );
  itReportsUnreadinessWhile(
    'is down',
    () => postgres.stop(),
    () => postgres.start(),
  );
});

describe('In a Prometheus whose minutes take 2 s, a real fault fires', () => {
  let { redis, postgres, store, replica, client } = {} as ClusterWithRedis;
  let prometheus: Server;
  let busy: Replica;
  let metricsUrl: string;

  beforeAll(async () => {
    const ports = [await findFreePort(), await findFreePort()] as const;
    const settings = { METRICS_PORT: ports[0], DATABASE_POOL_MAX: '5', BAN_GRACE_SECONDS: '0' };
    const cluster = await startClusterWithRedis({ env: settings });
    ({ redis, postgres, store, replica, client } = cluster);
    const block = ['--require', join(__dirname, 'support/block-event-loop.cjs')];
    busy = await Replica.start({ ...cluster.env, METRICS_PORT: ports[1] }, undefined, block);
    metricsUrl = `http://127.0.0.1:${ports[0]}/metrics`;
    prometheus = await startPrometheus(ports, '500ms', (rules) =>
      rules.replaceAll('15s', '500ms').replace(/\b(\d+)m\b/g, (_, minutes: string) => `${2 * Number(minutes)}s`),
    );
  });

  const isFiring = async (name: string) => {
    const response = await fetch(`${prometheus.url}/api/v1/alerts`);
    const { data } = (await response.json()) as {
      data: { alerts: { labels: { alertname: string }; state: string }[] };
    };
    return data.alerts.some(({ labels, state }) => labels.alertname === name && state === 'firing');
  };
  /** Repeats the cause, in several places at the same time, until the alerts fire. */
  const expectToFire = async (names: readonly string[], cause: () => Promise<unknown>, count = 1) => {
    const areFiring = () => Promise.all(names.map(isFiring));
    expect(await areFiring()).not.toContain(true);
    let haveFired = false;
    const repeat = async () => {
      while (!haveFired) {
        await cause();
      }
    };
    const causes = Array.from({ length: count }, repeat);
    await eventually(40_000, async () => !(await areFiring()).includes(false)).finally(() => (haveFired = true));
    await Promise.all(causes);
  };
  const isDegraded = async () => {
    await client.call(replica.port);
    const metrics = await (await fetch(metricsUrl)).text();
    return metrics.includes('\npetstore_redis_breaker_open 1\n');
  };

  it('PetstoreDatabasePoolExhausted and PetstoreErrorsHigh: a lock holds all connections', async () => {
    const session = await postgres.openSession();
    await session.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const call = () =>
      Promise.all([
        client.call(replica.port),
        client.call(replica.port, { path: '/v1/pets/1' }),
        client.add(replica.port, 'Rex'),
        client.add(replica.port, 'Rex', { 'idempotency-key': randomUUID() }),
      ]);
    await expectToFire(['PetstoreDatabasePoolExhausted', 'PetstoreErrorsHigh'], call, 8);
    await session.end();
  });

  it('PetstoreBreakerFlapping: Redis hangs again and again', async () => {
    await expectToFire(['PetstoreBreakerFlapping'], async () => {
      redis.freeze();
      await eventually(10_000, isDegraded);
      redis.thaw();
      await eventually(10_000, async () => !(await isDegraded()));
    });
  });

  it('PetstoreBans: keys are used long after their limit', async () => {
    await expectToFire(['PetstoreBans'], async () => {
      const customer = new Client(await store.createKey('free'));
      await runConcurrently(8, 130, () => customer.call(replica.port));
      customer.close();
    });
  });

  it('PetstoreAuthFailuresHigh: a client guesses keys', async () => {
    const attacker = new Client('no-key');
    await expectToFire(['PetstoreAuthFailuresHigh'], () => attacker.call(replica.port), 2);
  });

  // The computation began when the replica started.
  it('PetstoreEventLoopBusy: a computation blocks the event loop', async () => {
    await eventually(40_000, () => isFiring('PetstoreEventLoopBusy'));
  });

  it('PetstoreAllReplicasDown: every replica is killed', async () => {
    expect(await isFiring('PetstoreAllReplicasDown')).toBe(false);
    await Promise.all([replica, busy].map(({ program }) => program.kill('SIGKILL')));
    await eventually(40_000, () => isFiring('PetstoreAllReplicasDown'));
  });
});
