import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { getStart, generateSecret, hashSecret } from '../src/auth/api-key-secret';
import { Server } from '../test/cluster/support/servers';
import { Store } from '../test/cluster/support/store';
import { cleanUp, onEnd } from '../test/support/cleanup';
import { findFreePort } from '../test/support/process';
import { type Load, load, type Request } from './load';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    /** Another checkout of the service, built, which takes part as one more system. */
    compare: { type: 'string' },
    rounds: { type: 'string' },
    /** Whether the table replaces the one in docs/performance.md. */
    write: { type: 'boolean', default: false },
  },
});
const ROUNDS = Number(options.rounds ?? (options.quick ? 3 : 9));
const SECONDS = options.quick ? 1 : 3;
const PETS = 1_000;
const MANY_KEYS = 10_000;
/** Until the compiler of Node.js has optimized what the requests run. */
const WARM_UP_SECONDS = options.quick ? 2 : 10;
/** Many keys need a warm-up in each round, because the systems cache them for a limited time. */
const KEYS_PER_WARM_UP_SECOND = 3_000;
/** The clock ticks in which Linux counts CPU time, in ms. */
const TICK_MS = 10;
/** The benchmark fails if listing is slower than this share of the lean system's rate; noise alone does not cause that. */
const MIN_LISTING_RATIO = 0.7;
const UNLIMITED = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };

const ROOT = join(__dirname, '../..');
const DOCUMENT = join(ROOT, 'docs/performance.md');
const TABLE = /(<!-- results -->)[^]*(<!-- \/results -->)/;

/** One of the compared systems, in its own process. */
interface BenchServer {
  /** The name of its columns in the table. */
  readonly name: string;
  readonly origin: string;
  /** Reads the CPU time that the process has used, in ms. */
  readonly readCpuMs: () => number;
}

interface Scenario {
  readonly name: string;
  readonly request: Request;
  readonly systems: readonly BenchServer[];
  readonly keys: readonly string[];
}

interface Measurement extends Load {
  readonly rate: number;
  /** The CPU time of the process, per request. */
  readonly microseconds: number;
}

/** The measurements of each round, by system. */
type Rounds = ReadonlyMap<string, readonly Measurement[]>;

async function main(): Promise<void> {
  const [postgres, redis] = [await Server.startPostgres(), await Server.startRedis()];
  const databaseUrl = `${postgres.url}/postgres`;
  const store = await Store.open(databaseUrl);
  const one = [await store.createKey('enterprise', UNLIMITED)];
  const many = await addRows(databaseUrl);

  const service = 'dist/src/main.js';
  const scripts = {
    service: join(ROOT, service),
    lean: join(__dirname, 'lean/server.js'),
    ...(!options.quick && { stock: join(__dirname, 'stock/server.js') }),
    ...(options.compare !== undefined && { compared: join(options.compare, service) }),
  };
  const systems: BenchServer[] = [];
  for (const [name, script] of Object.entries(scripts)) {
    const env = {
      APP_ENV: 'production',
      DATABASE_URL: databaseUrl,
      REDIS_URL: redis.url,
      REDIS_KEY_PREFIX: `petstore:${randomBytes(5).toString('hex')}:`,
      // The other systems write no log.
      LOG_LEVEL: 'warn',
    };
    systems.push(await startServer(name, script, env));
  }

  const get = (...paths: string[]): Request => ({ method: 'GET', paths, status: 200 });
  const [list, listOfStatus] = [get('/v1/pets'), get('/v1/pets?limit=100&status=available')];
  const getOne = get(...Array.from({ length: PETS }, (_, index) => `/v1/pets/${index + 1}`));
  const create: Request = { method: 'POST', paths: ['/v1/pets'], body: '{"name":"Rex","categoryId":3}', status: 201 };
  // The stock system caches no keys, and only the service has orders.
  const caching = systems.filter(({ name }) => name !== 'stock');
  const own = caching.filter(({ name }) => name !== 'lean');
  const scenarios: Scenario[] = [
    { name: 'list 20', request: list, systems, keys: one },
    { name: 'list 20, 10,000 keys', request: list, systems: caching, keys: many },
    { name: 'list 100 of one status', request: listOfStatus, systems, keys: one },
    { name: 'list 20 orders', request: get('/v1/store/orders'), systems: own, keys: one },
    { name: 'get one', request: getOne, systems, keys: one },
    // Last, because they enlarge the table.
    { name: 'create', request: create, systems, keys: one },
    { name: 'create, 10,000 keys', request: create, systems: caching, keys: many },
  ];
  // Many keys need a long warm-up.
  const chosen = options.quick ? scenarios.filter(({ keys }) => keys === one) : scenarios;
  const results = await measure(chosen);
  const table = createTable(results);
  process.stdout.write(table);
  if (options.write) {
    const text = readFileSync(DOCUMENT, 'utf8');
    writeFileSync(DOCUMENT, text.replace(TABLE, `$1\n\n${table}\n$2`));
  }
  const listing = computeRatios(results.get('list 20'), 'service', 'lean', 'rate').median;
  if (listing < MIN_LISTING_RATIO) {
    throw new Error(`The listing rate is ${listing.toFixed(2)} × the lean system's, below ${MIN_LISTING_RATIO}.`);
  }
}

/** Starts a system with plain `node`, and waits until it listens. */
async function startServer(name: string, script: string, env: Readonly<Record<string, string>>): Promise<BenchServer> {
  const port = await findFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env.PATH, ...env, PORT: port },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  onEnd(() => child.kill('SIGKILL'));
  // Only the service has a readiness probe.
  while (![200, 401, 404].includes(await fetch(`${origin}/readyz`).then(({ status }) => status, Number))) {
    if (child.exitCode !== null) {
      throw new Error(`${script} exited before it started to listen.`);
    }
    await sleep(10);
  }
  const readCpuMs = () => {
    const fields = readFileSync(`/proc/${child.pid ?? 0}/stat`, 'utf8')
      .split(') ')[1]
      ?.split(' ');
    return (Number(fields?.[11]) + Number(fields?.[12])) * TICK_MS;
  };
  return { name, origin, readCpuMs };
}

/** Sends each load in turn, in several rounds after a warm-up. */
async function measure(scenarios: readonly Scenario[]): Promise<Map<string, Rounds>> {
  const results = new Map(
    scenarios.map(({ name, systems }) => [name, new Map(systems.map((system) => [system.name, [] as Measurement[]]))]),
  );
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { name, request, keys, systems } of scenarios) {
      for (const system of systems) {
        const send = (seconds: number) => load(system.origin, keys, request, seconds);
        if (round === 0) {
          await send(WARM_UP_SECONDS);
          continue;
        }
        if (keys.length > 1) {
          await send(Math.ceil(keys.length / KEYS_PER_WARM_UP_SECOND));
        }
        const before = system.readCpuMs();
        const result = await send(SECONDS);
        const microseconds = ((system.readCpuMs() - before) * 1_000) / result.requests;
        const measurement = { ...result, rate: result.requests / result.seconds, microseconds };
        results.get(name)?.get(system.name)?.push(measurement);
      }
    }
  }
  return results;
}

/** Creates one table: medians, and the medians and ranges of the ratios within each round, between which a machine's speed varies. */
function createTable(results: ReadonlyMap<string, Rounds>): string {
  const others = [...(results.get('list 20')?.keys() ?? [])].slice(1);
  const headers = [
    ...['scenario', 'per second', 'CPU, µs', 'p99, ms'],
    ...others.flatMap((other) => [`× ${other}`, `CPU × ${other}`, `p99 × ${other}`]),
  ];
  const rows = [...results].map(([name, rounds]) => {
    const median = (value: keyof Measurement) => computeMedian(rounds.get('service')?.map((it) => it[value]) ?? []);
    const ratios = others.flatMap((other) =>
      (['rate', 'microseconds', 'p99'] as const).map((value) =>
        rounds.has(other) ? formatRatio(rounds, 'service', other, value) : '',
      ),
    );
    const [rate, microseconds, p99] = [median('rate'), median('microseconds'), median('p99')];
    return [name, Math.round(rate).toLocaleString('en'), microseconds.toFixed(0), p99.toFixed(1), ...ratios];
  });
  const lines = [headers, headers.map((_, index) => (index === 0 ? '---' : '--:')), ...rows];
  const comparisons = [
    ['list 20, 10,000 keys', 'list 20'],
    ['create, 10,000 keys', 'create'],
    ['list 20 orders', 'list 20'],
  ].flatMap(([many = '', single = '']) => {
    const rounds = new Map([many, single].map((name) => [name, results.get(name)?.get('service') ?? []]));
    return results.has(many) ? `- ${many}: ${formatRatio(rounds, many, single, 'rate')} × the rate of ${single}` : [];
  });
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n\n${comparisons.join('\n')}\n`;
}

/** The median of the ratios within each round, and their range. */
function formatRatio(...args: Parameters<typeof computeRatios>): string {
  const { median, min, max } = computeRatios(...args);
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
}

function computeRatios(rounds: Rounds | undefined, own: string, other: string, value: keyof Measurement) {
  const [values, others] = [own, other].map((name) => rounds?.get(name)?.map((it) => it[value]) ?? []);
  const ratios = values?.map((it, round) => it / (others?.[round] ?? NaN)) ?? [];
  return { median: computeMedian(ratios), min: Math.min(...ratios), max: Math.max(...ratios) };
}

function computeMedian(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/** Inserts animals, orders, and accounts with one key each. @returns the keys */
async function addRows(databaseUrl: string): Promise<string[]> {
  const secrets = Array.from({ length: MANY_KEYS }, () => generateSecret('production'));
  // On a separate connection, which has no request timeouts.
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    `INSERT INTO pets (name, category_id, status)
     SELECT 'Animal ' || i, i % 10, (ARRAY['available', 'pending', 'sold'])[1 + i % 3]
     FROM generate_series(1, ${PETS}) AS i;
     INSERT INTO orders (account_id, pet_id, quantity, status, placed_at)
     SELECT (SELECT min(id) FROM accounts), id, 1, 'placed', now() FROM pets LIMIT 100`,
  );
  await client.query(
    `WITH account AS (
       INSERT INTO accounts (name, plan, per_minute, per_day, created_at)
       SELECT 'One of many', 'enterprise', $3, $4, now() FROM unnest($1::bytea[]) RETURNING id
     )
     INSERT INTO api_keys (account_id, hash, start, created_at)
     SELECT id, hash, start, now()
     FROM (SELECT id, row_number() OVER () FROM account) AS account
       JOIN unnest($1::bytea[], $2::text[]) WITH ORDINALITY AS key (hash, start, row_number) USING (row_number)`,
    [secrets.map(hashSecret), secrets.map(getStart), UNLIMITED.perMinute, UNLIMITED.perDay],
  );
  await client.query('VACUUM ANALYZE');
  // Otherwise, the checkpoint would run during the measurement.
  await client.query('CHECKPOINT');
  await client.end();
  return secrets;
}

main()
  .catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  })
  .finally(cleanUp);
