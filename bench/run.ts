import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Server } from '../test/cluster/support/servers';
import { Store } from '../test/cluster/support/store';
import { freePort } from '../test/support/process';
import { CONNECTIONS, GENERATOR, load, type Measurement, type Request } from './load';

const DIST = join(__dirname, '..');
const PETS = 1_000;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    out: { type: 'string' },
    only: { type: 'string' },
  },
});
const ROUNDS = 3;
const SECONDS = options.quick ? 1 : 5;
const WARM_UP_SECONDS = options.quick ? 1 : 3;

type System = 'service' | 'baseline' | 'stock';
interface Scenario {
  readonly name: string;
  readonly request: Request;
  readonly status: number;
  readonly key?: string;
  readonly systems: readonly System[];
}

interface Result {
  readonly scenario: string;
  readonly system: System;
  readonly rate: number;
  readonly p99: number;
}

const running: ChildProcess[] = [];

async function main(): Promise<void> {
  const postgres = process.env.BENCH_DATABASE_URL === undefined ? await Server.postgres() : undefined;
  const redis = process.env.BENCH_REDIS_URL === undefined ? await Server.redis() : undefined;
  const env = {
    APP_ENV: 'production',
    DATABASE_URL: process.env.BENCH_DATABASE_URL ?? `${postgres?.url ?? ''}/postgres`,
    REDIS_URL: process.env.BENCH_REDIS_URL ?? redis?.url ?? '',
  };
  const store = await Store.open(env.DATABASE_URL);
  try {
    const unlimited = { perMinute: 1_000_000_000, perDay: 1_000_000_000 };
    const key = await store.createKey('enterprise', unlimited);
    const usedUp = await store.createKey('enterprise', { ...unlimited, perDay: 1 });
    const banned = await store.createKey('enterprise', { perMinute: 1, perDay: 1 });
    await addPets(store, PETS);

    const list = (path: string): Request => ({ method: 'GET', paths: [path] });
    const all: readonly System[] = options.quick ? ['service', 'baseline'] : ['service', 'baseline', 'stock'];
    const service: readonly System[] = ['service'];
    const scenarios = (
      [
        { name: 'list 20', request: list('/v1/pets'), status: 200, systems: all },
        {
          name: 'list 100 of a status',
          request: list('/v1/pets?limit=100&status=available'),
          status: 200,
          systems: all.slice(0, 2),
        },
        {
          name: 'get one',
          request: { method: 'GET', paths: Array.from({ length: PETS }, (_, i) => `/v1/pets/${i + 1}`) },
          status: 200,
          systems: all,
        },
        { name: '429, counted', request: list('/v1/pets'), status: 429, key: usedUp, systems: service },
        { name: '429, banned', request: list('/v1/pets'), status: 429, key: banned, systems: service },
        // Last, as it makes the table larger.
        {
          name: 'create',
          request: { method: 'POST', paths: ['/v1/pets'], body: '{"name":"Rex","categoryId":3}' },
          status: 201,
          systems: all,
        },
      ] satisfies Scenario[] as Scenario[]
    ).filter(({ name }) => options.only === undefined || options.only.split(',').includes(name));

    const servers = {
      service: await start(join(DIST, 'src/main.js'), env),
      baseline: await start(join(DIST, 'bench/baseline/server.js'), env),
      stock: options.quick ? undefined : await start(join(DIST, 'bench/stock/server.js'), env),
    };
    // The second request of each is over the limit, the third over the limit once too often.
    for (const each of [usedUp, banned, banned, banned]) {
      await fetch(`${servers.service.origin}/v1/pets`, { headers: { authorization: `Bearer ${each}` } });
    }

    const measured = new Map<string, { scenario: string; system: System; runs: Measurement[] }>();
    for (let round = 0; round <= ROUNDS; round++) {
      for (const scenario of scenarios) {
        for (const system of scenario.systems) {
          const seconds = round === 0 ? WARM_UP_SECONDS : SECONDS;
          const run = await load(
            servers[system]?.origin ?? '',
            scenario.key ?? key,
            scenario.request,
            scenario.status,
            seconds,
          );
          const id = `${scenario.name} ${system}`;
          const entry = measured.get(id) ?? { scenario: scenario.name, system, runs: [] };
          measured.set(id, entry);
          // Round 0 lets the code be compiled.
          if (round > 0) {
            entry.runs.push(run);
          }
        }
      }
    }
    const results: Result[] = [...measured.values()].map(({ scenario, system, runs }) => ({
      scenario,
      system,
      rate: median(runs.map(({ rate }) => rate)),
      p99: median(runs.map(({ p99 }) => p99)),
    }));
    print(results);
    process.stdout.write(
      `RSS service ${residentMiB(servers.service.child)} MiB, baseline ${residentMiB(servers.baseline.child)} MiB\n`,
    );
    if (options.out !== undefined) {
      writeFileSync(options.out, `${JSON.stringify(results, null, 2)}\n`);
    }
  } finally {
    running.forEach((child) => child.kill('SIGKILL'));
    await store.close();
    await redis?.remove();
    await postgres?.remove();
  }
}

async function addPets(store: Store, upTo: number): Promise<void> {
  await store.query(
    `INSERT INTO pets (name, category_id, status)
     SELECT 'Animal ' || i, i % 10, (ARRAY['available', 'pending', 'sold'])[1 + i % 3]
     FROM generate_series((SELECT count(*) + 1 FROM pets), $1) AS i`,
    [upTo],
  );
  await store.query('VACUUM ANALYZE pets');
}

async function start(script: string, env: Readonly<Record<string, string>>) {
  const port = await freePort();
  const flags = (process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter(Boolean);
  const child = spawn(process.execPath, [...flags, script], {
    env: { PATH: process.env.PATH, ...env, PORT: port },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (data: Buffer) => {
      if (data.toString().includes('Listening')) {
        resolve();
      }
    });
    child.on('exit', () => {
      reject(new Error(`${script} ended before it listened.`));
    });
  });
  return { origin: `http://127.0.0.1:${port}`, child };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function residentMiB(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid ?? 0}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

function print(results: readonly Result[]): void {
  process.stdout.write(`${GENERATOR}, ${CONNECTIONS} connections, medians of ${ROUNDS} rounds of ${SECONDS} s\n`);
  for (const { scenario, system, rate, p99 } of results) {
    const base = results.find((other) => other.scenario === scenario && other.system === 'baseline');
    const ratio = base === undefined || system === 'baseline' ? '' : (rate / base.rate).toFixed(2);
    process.stdout.write(
      `${scenario.padEnd(22)} ${system.padEnd(9)} ${rate.toFixed(0).padStart(7)}/s  p99 ${p99.toFixed(1).padStart(6)} ms  ${ratio}\n`,
    );
  }
}

void main();
