import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { KeysService } from '../../src/auth';
import { generateSecret } from '../../src/auth/api-key-secret';
import { runPetstore } from '../support/process';
import { sendRaw } from '../support/raw';
import { type ClusterWithRedis, startClusterWithRedis } from './support/cluster';
import { Collector } from './support/collector';
import { eventually } from './support/replica';
import { findPostgresProgram } from './support/servers';

/** An output that must not contain keys, and a text that proves that the output was recorded. */
type Output = readonly [name: string, expected: string, read: () => string];

const UNLIMITED = '--plan enterprise --per-minute 1000000 --per-day 1000000';

describe('A key that is created, used, misused and revoked', () => {
  let { postgres, store, env, replica } = {} as ClusterWithRedis;
  const secrets: string[] = [];
  /** The outputs recorded while the keys were used. */
  const recorded = { responses: '', commandLine: '', redis: '', metrics: '', processes: '' };
  const collector = new Collector();

  const OUTPUTS: readonly Output[] = [
    ['the log of a replica', 'request_failed', () => replica.program.stdout + replica.program.stderr],
    ['the responses of a replica', 'invalid_api_key', () => recorded.responses],
    ['the output of the command line', 'key_rotated', () => recorded.commandLine],
    ['the commands sent to Redis', ':windows', () => recorded.redis],
    ['a dump of the database', 'CREATE TABLE public.api_keys', () => runPostgresProgram('pg_dump', postgres.url)],
    ['the process names', 'main.js', () => recorded.processes],
    ['the metrics', 'petstore_rate_limit_decisions_total', () => recorded.metrics],
    ['the traces', 'pets_page', () => collector.received],
  ];

  beforeAll(async () => {
    await collector.start();
    const settings = {
      ...{ APP_ENV: 'production', DRAIN_SECONDS: '0' },
      // Authentication failures must not be rejected with 429 instead.
      AUTH_FAILURES_PER_MINUTE: '1000000',
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
    };
    const cluster = await startClusterWithRedis({ env: settings });
    ({ postgres, store, env, replica } = cluster);
    const monitor = await cluster.admin.monitor();
    monitor.on('monitor', (_: string, words: string[]) => (recorded.redis += `${words.join(' ')}\n`));
    await useAndMisuseKeys();
    recorded.metrics = await (await fetch(`${replica.url}/metrics`)).text();
    recorded.processes = readProcessNames(replica.program.pid);
    // Pending spans are sent before the process exits.
    await replica.program.kill('SIGTERM');
    monitor.disconnect();
  });

  it.each(OUTPUTS)('is not in %s, not even in part', (_, expected, read) => {
    const text = read();
    expect(text).toContain(expected);
    expect(secrets.length).toBeGreaterThan(5);
    expect(secrets.flatMap(splitSecret).filter((part) => text.includes(part))).toEqual([]);
  });

  /** Runs a command in its own process. The new key, which it shows once, is not recorded. */
  const runCommand = async (line: string): Promise<{ id: number; key: string }> => {
    const { stdout, stderr } = await runPetstore(line.split(' '), env);
    const [key = '', ...others] = /keys (create|rotate) \d/.test(line) ? (stdout.match(/pets_live_\w{49}/g) ?? []) : [];
    expect(others).toEqual([]);
    if (key !== '') {
      secrets.push(key);
    }
    recorded.commandLine += stdout.replace(key, '') + stderr;
    return { id: line.endsWith('--json') ? (JSON.parse(stdout) as { id: number }).id : NaN, key };
  };

  /** Sends a request unchanged. @returns the status */
  const send = async (requestLine: string, fields: readonly string[] = [], body = ''): Promise<number> => {
    const head = [requestLine, 'Host: localhost', 'Connection: close', `Content-Length: ${Buffer.byteLength(body)}`];
    const response = await sendRaw(replica.port, `${[...head, ...fields].join('\r\n')}\r\n\r\n${body}`);
    // The service echoes request IDs by design.
    const echoed = fields.find((field) => field.startsWith('X-Request-Id: '))?.toLowerCase();
    recorded.responses += echoed === undefined ? response : response.replace(new RegExp(echoed, 'i'), '');
    return Number(/^HTTP\/1\.1 (\d{3}) /.exec(response)?.[1]);
  };
  const get = (target: string, ...fields: string[]) => send(`GET ${target} HTTP/1.1`, fields);
  const post = (body: string, ...fields: string[]) =>
    send('POST /v1/pets HTTP/1.1', ['Content-Type: application/json', ...fields], body);
  const createAuthorization = (token: string) => `Authorization: Bearer ${token}`;

  const useAndMisuseKeys = async () => {
    const account = await runCommand(`accounts create --name Acme ${UNLIMITED} --json`);
    const { id, key } = await runCommand(`keys create ${account.id} --json`);
    expect(await get('/v1/pets', createAuthorization(key))).toBe(200);
    expect(await post('{"name":"Rex","categoryId":1}', createAuthorization(key))).toBe(201);

    const sound = generateSecret('production');
    const damaged = `${sound.slice(0, -1)}${sound.endsWith('0') ? '1' : '0'}`;
    const others = [sound, damaged, generateSecret('staging'), generateSecret('production').slice(-49)];
    secrets.push(...others);
    for (const token of [key, ...others, `${key}${'0'.repeat(7_000)}`]) {
      await misuse(token, key);
    }
    const statuses = await breakDatabase(key, sound);
    expect(statuses).toEqual([503, 503, 500, 500, 500]);

    const [rotated] = await Promise.all([
      runCommand(`keys rotate ${id} --grace 0 --json`),
      // An operator may mistake the key for its ID.
      runCommand(`keys revoke ${key}`),
      runCommand(`keys ${key}`),
    ]);
    await store.get(KeysService).revoke(BigInt(rotated.id));
    expect(await get('/v1/pets', createAuthorization(rotated.key))).toBe(401);
    await eventually(2_000, async () => (await get('/v1/pets', createAuthorization(key))) === 401);
    await Promise.all([runCommand(`keys list ${account.id}`), runCommand('audit')]);
  };

  /** Sends a token where it belongs and where it does not, with and without a valid key. */
  const misuse = async (token: string, key: string) => {
    const short = token.slice(0, 200);
    const statuses = [
      await get('/v1/pets', createAuthorization(token)),
      await get('/v1/pets', `Authorization: Basic ${token}`),
      await get('/v1/pets', `Authorization: ${token}`),
      await get('/v1/pets', createAuthorization(token), createAuthorization(token)),
      await get('/v1/pets', `Cookie: token=${token}`, `Referer: http://localhost/${token}`),
      await get(`/v1/pets?access_token=${token}`),
      await get(`/v1/pets?limit=1&access_token=${token}`, createAuthorization(key)),
      await get(`/v1/pets?limit=${token}`, createAuthorization(key)),
      await get(`/v1/pets?status=${token}`, createAuthorization(key)),
      await get(`/v1/pets?cursor=${token}`, createAuthorization(key)),
      await get(`/v1/pets/${token}`, createAuthorization(key)),
      await get(`/v1/${token}`, createAuthorization(key)),
      await get(`/${token}`),
      await get(`/docs/${token}`),
      await get(`/v1/pets/%${token}`, createAuthorization(key)),
      await get(`/v1/pets?a=${token}${'0'.repeat(9_000)}`, createAuthorization(key)),
      await get('/v1/pets', createAuthorization(key), `X-Filler: ${token}${'0'.repeat(20_000)}`),
      await send(`${token} /v1/pets HTTP/1.1`, [createAuthorization(key)]),
      await send(`POST /v1/pets HTTP/1.1`, [createAuthorization(key), `Content-Type: ${token}`], '{}'),
      await post(`{"access_token":"${token}","name":"Rex","categoryId":1}`, createAuthorization(key)),
      await post(`{"access_token":"${token}","name":"Rex","categoryId":1}`),
      await post(`{"name":"Rex","categoryId":"${token}"}`, createAuthorization(key)),
      await post(`{"name":"Rex","categoryId":1,"status":"${token}"}`, createAuthorization(key)),
      await post(`{"name":"${token}`, createAuthorization(key)),
      await post(`{"name":"Rex","categoryId":1}`, createAuthorization(key), `Idempotency-Key: ${short} a`),
      // Without the prefix of a key, the service cannot know that the value is a secret.
      ...(token.startsWith('pets_')
        ? [
            await post(`{"name":"Rex","categoryId":1}`, createAuthorization(key), `Idempotency-Key: ${short}`),
            await get('/v1/pets', createAuthorization(key), `X-Request-Id: ${short}`),
          ]
        : []),
    ];
    expect(statuses.filter((status) => status >= 500 || Number.isNaN(status))).toEqual([]);
    expect(statuses.slice(1, 6)).toEqual([401, 401, 401, 401, 401]);
  };

  /** Uses keys while the database is down and while its schema is broken. @returns the statuses */
  const breakDatabase = async (key: string, stranger: string): Promise<number[]> => {
    await postgres.stop();
    const statuses = [
      await get('/v1/pets', createAuthorization(stranger)),
      await get('/v1/pets', createAuthorization(key)),
    ];
    await postgres.start();
    await eventually(5_000, async () => (await get('/v1/pets', createAuthorization(key))) === 200);

    await store.query('ALTER TABLE pets ADD CONSTRAINT broken CHECK (id < 0) NOT VALID');
    const pet = JSON.stringify({ name: key, categoryId: 1 });
    try {
      statuses.push(
        await post(pet, createAuthorization(key)),
        await post(pet, createAuthorization(key), `Idempotency-Key: ${key}-2`),
      );
    } finally {
      await store.query('ALTER TABLE pets DROP CONSTRAINT broken');
    }
    await store.query('ALTER TABLE api_keys RENAME TO kept_keys');
    try {
      statuses.push(await get('/v1/pets', createAuthorization(stranger)));
    } finally {
      await store.query('ALTER TABLE kept_keys RENAME TO api_keys');
    }
    return statuses;
  };
});

/** Splits the random part of a key, without its first 4 characters, which are not secret. */
function splitSecret(secret: string): string[] {
  return secret.slice(-45).match(/.{15}/g) ?? [];
}

function runPostgresProgram(program: string, ...args: string[]): string {
  return execFileSync(findPostgresProgram(program), args, { encoding: 'utf8' });
}

function readProcessNames(pid: number): string {
  return ['cmdline', 'comm'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8')).join('\n');
}
