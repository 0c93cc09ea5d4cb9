import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { Server } from '../test/cluster/support/servers';
import { Store } from '../test/cluster/support/store';
import { getFirstCharacters, generateSecret, hashSecret } from '../src/auth/api-key-secret';
import { encodeCursor } from '../src/shared/http/pagination/cursor';
import { CONNECTIONS, GENERATOR, load, type Measurement, type Request } from './load';
import { BenchServer, ROOT, type System } from './server';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    out: { type: 'string', default: join(__dirname, 'results.json') },
  },
});
const ROUNDS = options.quick ? 3 : 9;
const SECONDS = options.quick ? 1 : 2;
const WARM_UP_SECONDS = options.quick ? 1 : 3;
/** Looking up each of many keys takes longer than using those that are cached. */
const KEYS_PER_FIRST_WARM_UP_SECOND = 1_500;
const KEYS_PER_WARM_UP_SECOND = 5_000;
const RESIDENT_AFTER_SECONDS = options.quick ? 1 : 60;
const STARTS = options.quick ? 1 : 9;
const PETS = 1_000;
const MANY_PETS = 1_000_000;
const MANY_KEYS = 10_000;
const MOST_KEYS = 100_000;
const MANY_ACCOUNTS = 1_000_000;
const CONNECTION_COUNTS = [8, 32, 128, 512];
/** The benchmark fails below this share of the baseline's list throughput; noise alone does not cause that. */
const MIN_LISTING_RATIO = 0.7;
const UNLIMITED = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };

/** The load on a system. */
interface Load {
  readonly scenario: string;
  readonly system: System;
  readonly server: BenchServer;
  /** Each request uses one of these keys. */
  readonly keys: readonly string[];
  readonly request: Request;
  readonly status: number;
  readonly connections?: number;
}

/** The medians of the rounds. */
interface Result extends Measurement {
  readonly scenario: string;
  readonly system: System;
  readonly rounds: readonly Measurement[];
  /** Resident memory of the system afterwards. */
  readonly residentMiB: number;
}

async function main(): Promise<void> {
  const { BENCH_DATABASE_URL, BENCH_REDIS_URL } = process.env;
  const cleanUp: (() => Promise<void>)[] = [];
  const startServer = async (server: Promise<Server>) => {
    const { url, remove } = await server.then((it) => ({ url: it.url, remove: () => it.remove() }));
    cleanUp.push(remove);
    return url;
  };
  try {
    const databaseUrl = BENCH_DATABASE_URL ?? `${await startServer(Server.startPostgres())}/postgres`;
    const redisUrl = BENCH_REDIS_URL ?? (await startServer(Server.startRedis()));
    const env = {
      APP_ENV: 'production',
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      DRAIN_SECONDS: '0',
      // The other systems write no log. docs/performance.md states the cost of one line per request.
      LOG_LEVEL: 'warn',
    };
    const store = await Store.open(databaseUrl);
    cleanUp.push(() => store.close());
    const run = async (system: System, settings: Readonly<Record<string, string>> = env) => {
      // Accounts of different databases have the same IDs, so with a shared prefix, a ban of one would apply to the other.
      const server = await BenchServer.start(system, {
        ...settings,
        REDIS_KEY_PREFIX: `petstore:${randomBytes(5).toString('hex')}:`,
      });
      cleanUp.push(() => server.stop());
      return server;
    };

    await addPets(databaseUrl, PETS);
    const key = await store.createKey('enterprise', UNLIMITED);
    const manyKeys = await addKeys(databaseUrl, MANY_KEYS);
    const exhausted = await store.createKey('enterprise', { ...UNLIMITED, perDay: 1 });
    const banned = await store.createKey('enterprise', { perMinute: 1, perDay: 1 });

    const systems: System[] = options.quick ? ['service', 'baseline'] : ['service', 'lean', 'baseline', 'stock'];
    const starts = new Map<System, number[]>(systems.map((system) => [system, []]));
    for (let n = 0; n < STARTS; n++) {
      for (const [system, times] of starts) {
        const server = await BenchServer.start(system, env);
        times.push(server.startMs);
        await server.stop();
      }
    }
    const servers = new Map<System, BenchServer>();
    for (const system of systems) {
      servers.set(system, await run(system));
    }
    const service = servers.get('service') ?? (await run('service'));
    // The second request of each key exceeds its limit, and the third request of one key causes a ban.
    for (const each of [exhausted, exhausted, banned, banned, banned]) {
      await fetch(`${service.origin}/v1/pets`, { headers: { authorization: `Bearer ${each}` } });
    }

    const createLoads = (scenario: string, request: Request, status: number): Load[] =>
      [...servers].map(([system, server]) => ({ scenario, system, server, keys: [key], request, status }));
    // One key, then many keys for each system in turn, because the speed of the machine varies even within a round.
    const createLoadsWithManyKeys = (scenario: string, request: Request, status: number) =>
      createLoads(scenario, request, status).flatMap((each) => [
        each,
        // The stock system has no key cache, so the number of keys makes no difference.
        ...(each.system === 'stock' ? [] : [{ ...each, scenario: `${scenario}, many keys`, keys: manyKeys }]),
      ]);
    const createGetRequest = (...paths: string[]): Request => ({ method: 'GET', paths });
    const rejected = {
      system: 'service' as const,
      server: service,
      request: createGetRequest('/v1/pets'),
      status: 429,
    };
    const petCreation: Request = { method: 'POST', paths: ['/v1/pets'], body: '{"name":"Rex","categoryId":3}' };
    const loads: Load[] = [
      ...createLoadsWithManyKeys('list 20', createGetRequest('/v1/pets'), 200),
      ...(options.quick
        ? []
        : createLoads('list 100 of one status', createGetRequest('/v1/pets?limit=100&status=available'), 200)),
      ...createLoads('get one', createGetRequest(...Array.from({ length: PETS }, (_, i) => `/v1/pets/${i + 1}`)), 200),
      ...(options.quick ? [] : [{ ...rejected, scenario: 'reject, counting in Redis', keys: [exhausted] }]),
      ...(options.quick ? [] : [{ ...rejected, scenario: 'reject a banned key', keys: [banned] }]),
      // Last, because it enlarges the table.
      ...createLoadsWithManyKeys('create', petCreation, 201),
    ];
    const results = await measure(loads);
    print(results);
    printManyKeys(results, 'list 20', 'list 20, many keys');
    printManyKeys(results, 'create', 'create, many keys');

    process.stdout.write(
      `\n| system | ready after, ms | resident after ${RESIDENT_AFTER_SECONDS} s of load, MiB |\n| --- | --: | --: |\n`,
    );
    const footprints: { system: System; startMs: number; residentMiB: number }[] = [];
    for (const [system, server] of servers) {
      await load(server.origin, [key], createGetRequest('/v1/pets'), 200, RESIDENT_AFTER_SECONDS);
      const [startMs, { residentMiB }] = [computeMedian(starts.get(system) ?? []), server];
      footprints.push({ system, startMs, residentMiB });
      process.stdout.write(`| ${system} | ${startMs.toFixed(0)} | ${residentMiB} |\n`);
    }
    if (!options.quick) {
      const runOn = (system: System, url: string) => run(system, { ...env, DATABASE_URL: url });
      const compared = [...servers].filter(([system]) => system === 'service' || system === 'lean');
      for (const group of [
        () => measureConnections(compared, createGetRequest('/v1/pets'), petCreation, key),
        () => measureSizes(store, service, key, databaseUrl, petCreation, (url) => runOn('service', url)),
        async () => {
          const durable = await startServer(Server.startPostgres({ isDurable: true }));
          return measureDurable(`${durable}/postgres`, petCreation, runOn);
        },
        async () => {
          const dataDir = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
          cleanUp.push(() => rm(dataDir, { recursive: true }));
          return measureEmbedded(dataDir, createGetRequest('/v1/pets'), petCreation, (settings) =>
            run('service', settings),
          );
        },
      ]) {
        const more = await group();
        process.stdout.write('\n');
        print(more);
        results.push(...more);
      }
      for (const operation of ['list', 'create']) {
        printManyKeys(results, `${operation}, one of a million keys`, `${operation}, 100,000 of a million keys`);
      }
    }
    writeFileSync(options.out, `${JSON.stringify({ footprints, results }, null, 2)}\n`);
    process.stdout.write(`\nWritten to ${options.out}\n`);

    const listing = computeServiceRatio(results, 'list 20', 'baseline') ?? 0;
    if (listing < MIN_LISTING_RATIO) {
      process.stdout.write(`The listing rate is ${listing.toFixed(2)} × the baseline's, below ${MIN_LISTING_RATIO}.\n`);
      process.exitCode = 1;
    }
  } finally {
    for (const step of cleanUp.reverse()) {
      await step();
    }
  }
}

/** Sends each load in turn, in several rounds after one warm-up round. */
async function measure(loads: readonly Load[]): Promise<Result[]> {
  const runs = new Map<Load, Measurement[]>(loads.map((each) => [each, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [{ server, keys, request, status, connections }, measured] of runs) {
      if (round === 0 || keys.length > 1) {
        // Many keys need a warm-up before each round, because the systems cache them for a limited time.
        const keysPerSecond = round === 0 ? KEYS_PER_FIRST_WARM_UP_SECOND : KEYS_PER_WARM_UP_SECOND;
        const seconds = Math.max(WARM_UP_SECONDS, Math.ceil(keys.length / keysPerSecond));
        await load(server.origin, keys, request, status, seconds, connections);
      }
      if (round > 0) {
        measured.push(await load(server.origin, keys, request, status, SECONDS, connections));
      }
    }
  }
  return [...runs].map(([{ scenario, system, server }, rounds]) => ({
    scenario,
    system,
    rate: computeMedian(rounds.map(({ rate }) => rate)),
    p99: computeMedian(rounds.map(({ p99 }) => p99)),
    rounds,
    residentMiB: server.residentMiB,
  }));
}

/** Compares few connections with many. */
async function measureConnections(
  servers: readonly (readonly [System, BenchServer])[],
  list: Request,
  create: Request,
  key: string,
): Promise<Result[]> {
  return measure(
    CONNECTION_COUNTS.flatMap((connections) =>
      [
        { name: 'list 20', request: list, status: 200 },
        { name: 'create', request: create, status: 201 },
      ].flatMap(({ name, request, status }) =>
        servers.map(([system, server]) => {
          const scenario = `${name}, ${connections} connections`;
          return { scenario, system, server, keys: [key], request, status, connections };
        }),
      ),
    ),
  );
}

/** Adds animals to a database with `fsync` on. */
async function measureDurable(
  databaseUrl: string,
  request: Request,
  run: (system: System, databaseUrl: string) => Promise<BenchServer>,
): Promise<Result[]> {
  const store = await Store.open(databaseUrl);
  try {
    const key = await store.createKey('enterprise', UNLIMITED);
    const manyKeys = await addKeys(databaseUrl, MANY_KEYS);
    const systems: System[] = ['service', 'lean'];
    const servers = await Promise.all(systems.map(async (system) => [system, await run(system, databaseUrl)] as const));
    return await measure(
      [
        { scenario: 'create, fsync on', keys: [key] },
        { scenario: 'create, many keys, fsync on', keys: manyKeys },
      ].flatMap((each) => servers.map(([system, server]) => ({ ...each, system, server, request, status: 201 }))),
    );
  } finally {
    await store.close();
  }
}

/** Measures the service as `npm start` runs it: with the embedded database and without Redis. */
async function measureEmbedded(
  dataDir: string,
  list: Request,
  create: Request,
  run: (settings: Readonly<Record<string, string>>) => Promise<BenchServer>,
): Promise<Result[]> {
  const env = { DATA_DIR: dataDir, LOG_LEVEL: 'warn', DRAIN_SECONDS: '0' };
  const runPetstore = (...args: string[]) =>
    JSON.parse(
      execFileSync(process.execPath, [join(ROOT, 'dist/src/cli/main.js'), ...args, '--json'], {
        env: { PATH: process.env.PATH, ...env },
        encoding: 'utf8',
      }),
    ) as { readonly id: number; readonly key: string };
  runPetstore('migrate');
  const [perMinute, perDay] = [`${UNLIMITED.perMinute}`, `${UNLIMITED.perDay}`];
  const limits = ['--per-minute', perMinute, '--per-day', perDay];
  const { id } = runPetstore('accounts', 'create', '--name', 'Bench', '--plan', 'enterprise', ...limits);
  const { key } = runPetstore('keys', 'create', `${id}`);
  const server = await run(env);
  const load = { system: 'service' as const, server, keys: [key] };
  return measure([
    { ...load, scenario: 'create, embedded', request: create, status: 201 },
    { ...load, scenario: 'list 20, embedded', request: list, status: 200 },
  ]);
}

/** Compares pages of 1,000 and of 1,000,000 animals, then one key, 10,000 and 100,000 of 1,000,000 accounts. */
async function measureSizes(
  store: Store,
  smallServer: BenchServer,
  key: string,
  databaseUrl: string,
  create: Request,
  run: (databaseUrl: string) => Promise<BenchServer>,
): Promise<Result[]> {
  const url = new URL(databaseUrl);
  url.pathname = '/petstore_bench_many';
  await store.query('DROP DATABASE IF EXISTS petstore_bench_many');
  await store.query('CREATE DATABASE petstore_bench_many');
  const largeStore = await Store.open(url.href);
  try {
    await addPets(url.href, MANY_PETS);
    const many = await run(url.href);
    const largeKey = await largeStore.createKey('enterprise', UNLIMITED);
    const middle = `/v1/pets?cursor=${encodeCursor(BigInt(MANY_PETS / 2), '')}`;
    const list = (scenario: string, server: BenchServer, keys: readonly string[], path = '/v1/pets'): Load => ({
      scenario,
      system: 'service',
      server,
      keys,
      request: { method: 'GET', paths: [path] },
      status: 200,
    });
    const manyKeys = await addKeys(url.href, MANY_KEYS);
    const pages = await measure([
      list('first page of few', smallServer, [key]),
      list('first page of a million', many, [largeKey]),
      list('middle page of a million', many, [largeKey], middle),
      list('with 10,000 keys', many, manyKeys),
    ]);
    const mostKeys = [...manyKeys, ...(await addKeys(url.href, MOST_KEYS - MANY_KEYS))];
    await addAccounts(url.href, MANY_ACCOUNTS);
    const add = (scenario: string, keys: readonly string[]): Load => ({
      ...list(scenario, many, keys),
      request: create,
      status: 201,
    });
    return [
      ...pages,
      ...(await measure([
        list('list, one of a million keys', many, [largeKey]),
        list('list, 10,000 of a million keys', many, manyKeys),
        list('list, 100,000 of a million keys', many, mostKeys),
        add('create, one of a million keys', [largeKey]),
        add('create, 100,000 of a million keys', mostKeys),
      ])),
    ];
  } finally {
    await largeStore.close();
  }
}

async function addPets(databaseUrl: string, count: number): Promise<void> {
  await insert(
    databaseUrl,
    'pets',
    `INSERT INTO pets (name, category_id, status)
     SELECT 'Animal ' || i, i % 10, (ARRAY['available', 'pending', 'sold'])[1 + i % 3] FROM generate_series(1, $1) AS i`,
    [count],
  );
}

/** Creates accounts with one key each and high limits. */
async function addKeys(databaseUrl: string, count: number): Promise<string[]> {
  const secrets = Array.from({ length: count }, () => generateSecret('production'));
  await insert(
    databaseUrl,
    'accounts, api_keys',
    `WITH account AS (
       INSERT INTO accounts (name, plan, per_minute, per_day, created_at)
       SELECT 'One of many', 'enterprise', $3, $4, now() FROM unnest($1::bytea[]) RETURNING id
     )
     INSERT INTO api_keys (account_id, hash, first_characters, created_at)
     SELECT id, hash, first_characters, now()
     FROM (SELECT id, row_number() OVER () FROM account) AS account
       JOIN unnest($1::bytea[], $2::text[]) WITH ORDINALITY AS key (hash, first_characters, row_number) USING (row_number)`,
    [secrets.map(hashSecret), secrets.map(getFirstCharacters), UNLIMITED.perMinute, UNLIMITED.perDay],
  );
  return secrets;
}

/** Creates accounts with one unused key each. */
async function addAccounts(databaseUrl: string, count: number): Promise<void> {
  await insert(
    databaseUrl,
    'accounts, api_keys',
    `WITH account AS (
       INSERT INTO accounts (name, plan, created_at) SELECT 'Idle', 'pro', now() FROM generate_series(1, $1) RETURNING id
     )
     INSERT INTO api_keys (account_id, hash, first_characters, created_at)
     SELECT id, sha256(id::text::bytea), 'idle', now() FROM account`,
    [count],
  );
}

/** Inserts rows on a separate connection, which has no request timeouts. */
async function insert(databaseUrl: string, tables: string, sql: string, values: readonly unknown[]): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(sql, [...values]);
  await client.query(`VACUUM ANALYZE ${tables}`);
  // Otherwise, the checkpoint would run during the measurement.
  await client.query('CHECKPOINT');
  await client.end();
}

function print(results: readonly Result[]): void {
  process.stdout.write(`${GENERATOR}, ${CONNECTIONS} connections, medians of ${ROUNDS} rounds of ${SECONDS} s\n\n`);
  process.stdout.write(
    '| scenario | system | per second | p99, ms | MiB | of baseline | of lean | of stock | p99 of lean |\n' +
      '| --- | --- | --: | --: | --: | --: | --: | --: | --: |\n',
  );
  for (const { scenario, system, rate, p99, residentMiB } of results) {
    const ratios = [
      ...(['baseline', 'lean', 'stock'] as const).map((other) => computeServiceRatio(results, scenario, other)),
      computeServiceRatio(results, scenario, 'lean', 'p99'),
    ].map((ratio) => (system === 'service' ? (ratio?.toFixed(2) ?? '') : ''));
    process.stdout.write(
      `| ${[scenario, system, rate.toFixed(0), p99.toFixed(1), residentMiB, ...ratios].join(' | ')} |\n`,
    );
  }
}

/** Prints the service's rate and p99 with many keys, as multiples of those with one key. */
function printManyKeys(results: readonly Result[], scenario: string, scenarioWithManyKeys: string): void {
  const [one, many] = [scenario, scenarioWithManyKeys].map((name) => findResult(results, name, 'service'));
  if (one !== undefined && many !== undefined) {
    const [rate, p99] = [computeRatio(many, one, 'rate'), computeRatio(many, one, 'p99')].map((it) => it.toFixed(2));
    process.stdout.write(`\n${scenarioWithManyKeys}: ${rate} × the rate of ${scenario}, ${p99} × its p99\n`);
  }
}

/** Returns the rate or p99 of the service as a multiple of another system's. */
function computeServiceRatio(
  results: readonly Result[],
  scenario: string,
  other: System,
  value: keyof Measurement = 'rate',
): number | undefined {
  const [own, others] = [findResult(results, scenario, 'service'), findResult(results, scenario, other)];
  return own === undefined || others === undefined ? undefined : computeRatio(own, others, value);
}

function findResult(results: readonly Result[], scenario: string, system: System): Result | undefined {
  return results.find((it) => it.scenario === scenario && it.system === system);
}

/** Returns the median of the rounds' ratios, because the speed of a machine varies less within a round than between rounds. */
function computeRatio(own: Result, other: Result, value: keyof Measurement): number {
  return computeMedian(own.rounds.map((it, round) => it[value] / (other.rounds[round]?.[value] ?? NaN)));
}

function computeMedian(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

void main();
