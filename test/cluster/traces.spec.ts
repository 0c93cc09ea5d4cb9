import { createServer } from 'node:net';
import { join } from 'node:path';
import { IDENTIFIER } from '../../src/config/brand';
import { findFreePort, listen, parseLog } from '../support/process';
import { Client } from './support/client';
import { type ClusterWithRedis, startClusterWithRedis } from './support/cluster';
import { Collector } from './support/collector';
import { eventually, Replica } from './support/replica';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';
const SERVER = 2;
const AGENT = join(__dirname, 'support/monitoring-agent.cjs');
const REPORT = join(__dirname, 'support/report-open-telemetry.cjs');

describe('A replica', () => {
  let { redis, postgres, env, store } = {} as ClusterWithRedis;
  let key: string;
  const collector = new Collector();

  beforeAll(async () => {
    await collector.start();
    const settings = { DRAIN_SECONDS: '0', NODE_OPTIONS: `--require ${REPORT}` };
    ({ redis, postgres, env, store } = await startClusterWithRedis({ replicas: 0, env: settings }));
    key = await store.createUnlimitedKey();
  });

  const start = (changes: Record<string, string>) => Replica.start({ ...env, ...changes });

  it('sends server, database and Redis spans in the trace of the client, and logs the trace ID', async () => {
    const replica = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    });
    const call = (method: string, path: string, body?: string, isSampled = true) =>
      fetch(`${replica.url}/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          traceparent: `00-${TRACE_ID}-${PARENT_ID}-0${isSampled ? 1 : 0}`,
          tracestate: `vendor=${key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
      });
    await call('POST', '/pets', '{"name":"Rex","categoryId":3}');
    // This one is not sampled.
    await call('GET', '/pets', undefined, false);
    await call('GET', `/pets?cursor=${key}`);
    await call('GET', '/pets/1');
    // Probes and their statements are neither logged nor traced.
    const probes = await Promise.all(['healthz', 'readyz'].map((path) => fetch(`${replica.url}/${path}`)));
    expect(probes.map(({ status }) => status)).toEqual([200, 200]);
    // Pending spans are sent before the process exits.
    const { code, stderr } = await replica.program.kill('SIGTERM');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^OpenTelemetry: [1-9]\d* files\n$/)]);

    const spans = collector.spans.filter(({ traceId }) => traceId === TRACE_ID);
    const servers = spans.filter(({ kind }) => kind === SERVER);
    expect(servers.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      ['POST /v1/pets', PARENT_ID],
      ['GET /v1/pets', PARENT_ID],
      ['GET /v1/pets/:petId', PARENT_ID],
    ]);
    const systems = servers.map(({ spanId }) =>
      spans
        .filter(({ parentSpanId }) => parentSpanId === spanId)
        .map(({ attributes }) => attributes.find(({ key: name }) => name === 'db.system.name')?.value.stringValue),
    );
    expect(systems[0]).toEqual(expect.arrayContaining(['postgresql', 'redis']));
    // On a busy machine, the key may be looked up again.
    expect(systems[1]).toContain('redis');
    expect(systems[2]).toEqual(expect.arrayContaining(['postgresql', 'redis']));
    expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(['pets_insert', 'pets_find', 'evalsha']));
    expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE_ID]));
    expect(collector.received).not.toContain(key.slice(-49, -39));
    expect(collector.received).not.toContain('Rex');
    const requests = parseLog(replica.program.stdout).filter((line) => line['event.action'] === 'request');
    expect(requests.map((line) => [line['http.response.status_code'], line['trace.id']])).toEqual([
      [201, TRACE_ID],
      [200, TRACE_ID],
      [400, TRACE_ID],
      [200, TRACE_ID],
    ]);
  });

  it('sends traces to the traces endpoint, nothing with OTEL_SDK_DISABLED, and does not wait for a dead collector', async () => {
    const deadCollectorPort = await listen(createServer());
    const runAndStop = async (env: Record<string, string>) => {
      const replica = await start({ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', ...env });
      await fetch(`${replica.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
      const startedAt = performance.now();
      const { code, stderr, stdout } = await replica.program.kill('SIGTERM');
      const ms = performance.now() - startedAt;
      return { code, loaded: !stderr.includes('OpenTelemetry: 0 files'), stopped: stdout.includes('"stopped"'), ms };
    };
    const before = collector.spans.length;
    const tracesOnly = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/own/traces` };
    expect(await runAndStop(tracesOnly)).toMatchObject({ code: 0, loaded: true, stopped: true });
    expect([collector.spans.length > before, collector.received.includes('"/own/traces"')]).toEqual([true, true]);
    expect(await runAndStop({ ...tracesOnly, OTEL_SDK_DISABLED: 'true' })).toMatchObject({
      code: 0,
      loaded: false,
      stopped: true,
    });
    const dead = await runAndStop({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${deadCollectorPort}` });
    expect(dead).toMatchObject({ code: 0, loaded: true, stopped: true });
    expect(dead.ms).toBeLessThan(5_000);
  });

  it.each([
    ['an unknown sampler', { OTEL_TRACES_SAMPLER: 'foo' }, 'OTEL_TRACES_SAMPLER value \\"foo\\" invalid'],
    [
      'a collector that is down',
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
        OTEL_EXPORTER_OTLP_TIMEOUT: '500',
        OTEL_BSP_SCHEDULE_DELAY: '100',
      },
      'ECONNREFUSED',
    ],
  ])('logs the problem with %s', async (_, changes, reason) => {
    const replica = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      ...changes,
    });
    await fetch(`${replica.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    await eventually(10_000, () => replica.program.stdout.includes('traces_failed'));
    expect(replica.program.stdout).toContain(reason);
  });

  it('lets a monitoring agent patch the packages that it loads', async () => {
    const replica = await start({ NODE_OPTIONS: `--require ${AGENT}` });
    await fetch(`${replica.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    const { code, stderr } = await replica.program.kill('SIGTERM');
    expect([code, stderr]).toEqual([0, '@nestjs/core ioredis pg typeorm\n']);
  });

  it('loads no OpenTelemetry code without an endpoint, and logs startup, migrations, the breaker and shutdown', async () => {
    const replica = await start({ DATABASE_URL: `${postgres.url}/template1`, METRICS_PORT: await findFreePort() });
    const client = new Client(key);
    await redis.stop();
    await eventually(3_000, async () => {
      await client.call(replica.port);
      await fetch(`${replica.url}/v1/pets`);
      return replica.program.stdout.includes('breaker_opened');
    });
    await redis.start();
    await eventually(5_000, () => replica.program.stdout.includes('breaker_closed'));
    const { code, stderr } = await replica.program.kill('SIGTERM');
    expect([code, stderr]).toEqual([0, 'OpenTelemetry: 0 files\n']);
    const logged = parseLog(replica.program.stdout).filter((line) => line['event.action'] !== 'request');
    expect(logged).toMatchObject([
      {
        'event.action': 'migrated',
        [IDENTIFIER]: { count: expect.any(Number) as number },
      },
      {
        'event.action': 'started',
        'service.version': '1.0.0',
        [IDENTIFIER]: { port: replica.port, environment: 'production', rateLimitStore: 'redis' },
      },
      {
        'log.level': 'warn',
        'event.action': 'breaker_opened',
        [IDENTIFIER]: { reason: expect.any(String) as string },
      },
      { 'log.level': 'warn', 'event.action': 'breaker_closed' },
      { 'event.action': 'stopping', [IDENTIFIER]: { signal: 'SIGTERM' } },
      { 'event.action': 'stopped' },
    ]);
  });
});
