import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createTemporaryDirectory, findFreePort, parseLog, Program } from '../support/process';
import { listStatuses, Client, runConcurrently, type Reply } from './support/client';
import { type ClusterWithRedis, startClusterWithRedis } from './support/cluster';
import { startAsProcess1 } from './support/init-process';
import { eventually, isServerReady, Replica } from './support/replica';

const REPORT_SHUTDOWN = join(__dirname, 'support/report-shutdown.cjs');
const THROW_ON_SIGNAL = join(__dirname, 'support/throw-on-signal.cjs');

describe('A replica', () => {
  let { redis, postgres, env, store, client } = {} as ClusterWithRedis;

  beforeAll(async () => {
    ({ redis, postgres, env, store, client } = await startClusterWithRedis({ replicas: 0 }));
  });

  const start = (changes: Record<string, string> = {}) => Replica.start({ ...env, ...changes });
  /** Stops a replica with SIGTERM. @returns its exit code, and how long it took, in ms */
  const stop = async (replica: Replica) => {
    const startedAt = performance.now();
    const { code } = await replica.program.kill('SIGTERM');
    return { code, ms: performance.now() - startedAt };
  };

  it('fails readiness immediately on SIGTERM, serves new connections with Connection: close, and exits with 0 within 10 s', async () => {
    const replica = await start({ DRAIN_SECONDS: '2' });
    expect((await client.call(replica.port)).headers.connection).toBe('keep-alive');
    const stopped = stop(replica);
    await eventually(500, async () => !(await replica.isReady()));
    const newcomer = new Client(await store.createUnlimitedKey());
    for (const each of [client, newcomer]) {
      const reply = await each.call(replica.port);
      expect([reply.status, reply.headers.connection]).toEqual([200, 'close']);
    }
    const { code, ms } = await stopped;
    expect(code).toBe(0);
    expect(ms).toBeGreaterThan(2_000);
    expect(ms).toBeLessThan(10_000);
    expect(replica.program.stderr).toBe('');
  });

  it('passes the signal to the shutdown hooks of modules', async () => {
    const { program } = await start({ DRAIN_SECONDS: '0', NODE_OPTIONS: `--require ${REPORT_SHUTDOWN}` });
    const { code, stderr } = await program.kill('SIGTERM');
    expect([code, stderr]).toEqual([0, 'SIGTERM\n']);
  });

  it('finishes the requests in flight on SIGTERM', async () => {
    const replica = await start({ DRAIN_SECONDS: '1' });
    const blocker = await postgres.openSession();
    await blocker.query('BEGIN; LOCK TABLE pets IN EXCLUSIVE MODE');
    const inFlight: Promise<Reply> = client.add(replica.port, 'Rex');
    await eventually(1_000, async () => {
      const waiting = await store.query<object[]>('SELECT 1 FROM pg_locks WHERE NOT granted');
      return waiting.length > 0;
    });
    const stopped = stop(replica);
    await eventually(500, async () => !(await replica.isReady()));
    await blocker.end();
    const reply = await inFlight;
    expect([reply.status, reply.headers.connection]).toEqual([201, 'close']);
    expect((await stopped).code).toBe(0);
  });

  it('ignores a second stop signal within a second, and exits immediately on a later one', async () => {
    const replica = await start({ DRAIN_SECONDS: '60' });
    process.kill(replica.program.pid, 'SIGTERM');
    process.kill(replica.program.pid, 'SIGINT');
    await eventually(1_000, async () => !(await replica.isReady()));
    expect((await client.call(replica.port)).status).toBe(200);
    const again = setInterval(() => process.kill(replica.program.pid, 'SIGTERM'), 100);
    const { code, stdout } = await replica.program.exit;
    clearInterval(again);
    expect([code, stdout.match(/"event.action":"stop\w+"/g)]).toEqual([143, ['"event.action":"stopping"']]);
  });

  it('logs an unhandled error as one JSON line, fails readiness, drains, and exits with 1', async () => {
    const replica = await start({ DRAIN_SECONDS: '1', NODE_OPTIONS: `--require ${THROW_ON_SIGNAL}` });
    process.kill(replica.program.pid, 'SIGUSR2');
    await eventually(500, async () => !(await replica.isReady()));
    expect((await client.call(replica.port)).status).toBe(200);
    const { code, stdout, stderr } = await replica.program.exit;
    expect([code, stderr]).toEqual([1, '']);
    expect(parseLog(stdout).filter((line) => line['event.action'] === 'unhandled_error')).toMatchObject([
      { 'log.level': 'fatal', 'error.stack_trace': expect.stringMatching(/^Error: unexpected\n/) as string },
    ]);
  });

  it('logs requests between one SIGUSR2 and the next, at any LOG_LEVEL', async () => {
    const port = Number(await findFreePort());
    const program = new Program('main.js', [], {
      ...{ ...env, APP_ENV: 'production', PORT: `${port}`, LOG_LEVEL: 'warn', DRAIN_SECONDS: '0' },
    });
    await eventually(20_000, () => isServerReady(`http://127.0.0.1:${port}`));
    const toggle = async (level: string) => {
      process.kill(program.pid, 'SIGUSR2');
      await eventually(2_000, () => program.stdout.includes(`The log level is now ${level}.`));
    };
    await client.call(port);
    await toggle('debug');
    await client.call(port);
    await toggle('warn');
    await client.call(port);
    const { stdout } = await program.kill('SIGTERM');
    expect(stdout.match(/"event.action":"\w+"/g)).toEqual(
      ['log_level_changed', 'request', 'log_level_changed'].map((action) => `"event.action":"${action}"`),
    );
  });

  describe.each([
    [
      'is no longer read',
      async () => {
        const path = join((await createTemporaryDirectory()).path, 'log');
        execFileSync('mkfifo', [path]);
        return openSync(path, 'r+');
      },
    ],
    ['cannot be written, because its disk is full', () => Promise.resolve(openSync('/dev/full', 'w'))],
  ])('whose log %s', (_, openLog) => {
    it.each([
      ['SIGTERM', 'SIGTERM', ''],
      ['an unexpected error', 'SIGUSR2', `--require ${THROW_ON_SIGNAL}`],
    ] as const)('serves requests, and exits within 10 s on %s', async (_, signal, nodeOptions) => {
      const log = await openLog();
      const port = Number(await findFreePort());
      const { kill } = startAsProcess1(
        {
          APP_ENV: 'production',
          DATABASE_URL: postgres.url,
          PORT: `${port}`,
          DRAIN_SECONDS: '1',
          NODE_OPTIONS: nodeOptions,
        },
        ['ignore', log, 'ignore'],
      );
      closeSync(log);
      await eventually(10_000, () => isServerReady(`http://127.0.0.1:${port}`));
      // Log more lines than a pipe can hold.
      const replies = await runConcurrently(4, 1_000, () => client.call(port));
      const startedAt = performance.now();
      await kill(signal);
      const ms = performance.now() - startedAt;
      expect(listStatuses(replies)).toEqual([200]);
      expect(ms).toBeLessThan(10_000);
    });
  });

  it('exits with 0 within 10 s on SIGTERM even when a client keeps it busy and PostgreSQL and Redis are frozen', async () => {
    const replica = await start();
    const halfSent = connect(replica.port, '127.0.0.1', () => {
      halfSent.write('POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n');
    });
    halfSent.on('error', () => undefined);
    await client.call(replica.port);
    redis.freeze();
    postgres.freeze();
    const { code, ms } = await stop(replica);
    redis.thaw();
    postgres.thaw();
    halfSent.destroy();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(10_000);
  });
});
