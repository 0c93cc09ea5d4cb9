import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { IDENTIFIER } from '../../src/config/brand';
import { Metrics } from '../../src/observability';
import { RateLimiter } from '../../src/rate-limiting';
import { findFreePort } from '../support/process';
import { TestService } from '../support/service';

const PROJECT = join(__dirname, '../..');
const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

describe('/metrics', () => {
  let service: TestService;

  const start = async (env: Record<string, string> = {}) => {
    service = await TestService.start(env);
  };
  const readSamples = async () => {
    const { status, text } = await service.get('/metrics');
    expect(status).toBe(200);
    return new Map(
      text
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
    );
  };

  afterEach(() => service.close());

  it('counts requests and their duration by route and status, without a key', async () => {
    await start();
    const key = await service.createKey();
    await service.get('/v1/pets', { key });
    await service.get('/v1/pets?limit=2', { key });
    await service.get('/v1/pets?limit=x', { key });
    const found = await readSamples();
    const countRequests = (labels: string) => found.get(`petstore_http_request_duration_seconds_count{${labels}}`);
    expect(countRequests('method="GET",route="/v1/pets",status="200"')).toBe(2);
    expect(countRequests('method="GET",route="/v1/pets",status="400"')).toBe(1);
    const bucket =
      'petstore_http_request_duration_seconds_bucket{le="+Inf",method="GET",route="/v1/pets",status="200"}';
    expect(found.get(bucket)).toBe(2);
    expect(
      found.get('petstore_http_request_duration_seconds_sum{method="GET",route="/v1/pets",status="200"}'),
    ).toBeGreaterThan(0);
  });

  it('counts rate limit decisions by plan and outcome, and bans', async () => {
    await start();
    const key = await service.createKey('free');
    await service.get('/v1/pets');
    for (let request = 0; request < 124; request++) {
      await service.get('/v1/pets', { key });
      service.clock.advance(request === 60 ? 2_000 : 0);
    }
    const found = await readSamples();
    const countDecisions = (plan: string, outcome: string) =>
      found.get(`petstore_rate_limit_decisions_total{plan="${plan}",outcome="${outcome}"}`);
    expect(countDecisions('free', 'admitted')).toBe(60);
    expect(countDecisions('free', 'rate_limit_exceeded')).toBe(61);
    expect(countDecisions('free', 'key_temporarily_banned')).toBe(3);
    expect(countDecisions('none', 'unauthenticated')).toBe(1);
    expect(found.get('petstore_bans_total')).toBe(1);
  });

  it('names the accounts that still call a deprecated operation, up to a thousand', async () => {
    await start();
    const key = await service.createKey();
    await service.get('/v1/pets/1', { key });
    await service.get('/v1/pets/1', { key });
    await service.get('/v1/pets', { key });
    const readDeprecatedCalls = async () =>
      [...(await readSamples())].filter(([name]) => name.startsWith('petstore_deprecated_calls_total'));
    const createName = (account: string) =>
      `petstore_deprecated_calls_total{method="GET",route="/v1/pets/:petId",account="${account}"}`;
    expect(await readDeprecatedCalls()).toEqual([[createName('1'), 2]]);
    for (let account = 2n; account <= 1_002n; account++) {
      service.app.get(Metrics).recordDeprecatedCall('GET', '/v1/pets/:petId', account);
    }
    const all = new Map(await readDeprecatedCalls());
    expect(all.size).toBe(1_001);
    expect([all.get(createName('1')), all.get(createName('1000')), all.get(createName('other'))]).toEqual([2, 1, 2]);
  });

  it('reports readiness, the database pool, Redis, the build, and what prom-client measures by default', async () => {
    await start();
    const found = await readSamples();
    expect(Object.fromEntries(found)).toMatchObject({
      petstore_database_pending_requests: 0,
      petstore_database_read_endpoint_enabled: 0,
      petstore_ready: 1,
      petstore_redis_breaker_open: 0,
      [`petstore_build_info{version="1.0.0",node_version="${process.versions.node}"}`]: 1,
      process_cpu_seconds_total: expect.any(Number) as number,
      process_resident_memory_bytes: expect.any(Number) as number,
      process_start_time_seconds: expect.any(Number) as number,
    });
    const measured = ['nodejs_eventloop_lag_p99_seconds', 'nodejs_heap_size_used_bytes'];
    for (const name of [...measured, 'petstore_database_connections{state="idle"}']) {
      expect([name, (found.get(name) ?? 0) > 0]).toEqual([name, true]);
    }
  });

  it('says where requests are counted: in memory, in Redis, or in memory while Redis is unavailable', async () => {
    const readStore = async () => {
      const found = await readSamples();
      return ['memory', 'redis'].filter((store) => found.get(`petstore_rate_limit_store{store="${store}"}`) === 1);
    };
    await start();
    expect(await readStore()).toEqual(['memory']);
    await service.close();
    await start({ REDIS_URL: `redis://127.0.0.1:${await findFreePort()}` });
    const { monitor } = service.app.get(RateLimiter);
    expect([monitor.isDegraded, await readStore()]).toEqual([true, ['memory']]);
    monitor.isDegraded = false;
    expect(await readStore()).toEqual(['redis']);
  });

  it('gets no new label values from client input', async () => {
    await start();
    const key = await service.createKey();
    const sendUnknownInput = async (word: string) => {
      await service.get(`/v1/${word}`, { key });
      await service.get(`/v1/pets/${word}?${word}=${word}`, { key });
      await service.get(`/${word}`, { headers: { 'x-request-id': word } });
      await service.call('PROPFIND', `/v1/${word}`, { key });
      await service.get('/v1/pets', { key: word });
    };
    await sendUnknownInput('one');
    const before = await readSamples();
    await sendUnknownInput('two');
    const after = await readSamples();
    // Node.js itself defines the labels of its own metrics.
    const isNew = (name: string) =>
      name.startsWith('petstore_') && !before.has(name) && !name.includes('route="/metrics"');
    expect([...after.keys()].filter(isNew)).toEqual([]);
    expect([...after.keys()].join()).not.toContain(key.slice(-49, -45));
    expect([...after.keys()].join()).not.toMatch(/["/](one|two)\b/);
    expect(
      after.get('petstore_http_request_duration_seconds_count{method="other",route="unmatched",status="405"}') ??
        after.get('petstore_http_request_duration_seconds_count{method="other",route="unmatched",status="404"}'),
    ).toBe(2);
  });

  it('is served only on METRICS_PORT if that is set', async () => {
    const port = await findFreePort();
    await start({ METRICS_PORT: port });
    expect((await service.get('/metrics')).status).toBe(404);
    const response = await fetch(`http://127.0.0.1:${port}/metrics?from=prometheus`);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    expect(await response.text()).toContain('\npetstore_build_info{');
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(404);
  });

  it('(on METRICS_PORT) returns 500 while a metric cannot be collected', async () => {
    const port = await findFreePort();
    await start({ METRICS_PORT: port });
    jest.spyOn(service.app.get(Metrics), 'render').mockRejectedValueOnce(new Error('a gauge failed'));
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(500);
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200);
  });
});

describe('The alert rules and the dashboard', () => {
  const { groups } = parse(read('docker/monitoring/alerts.yml')) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  const { panels } = JSON.parse(read('docker/monitoring/dashboards/petstore.json')) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  let text: string;

  beforeAll(async () => {
    const service = await TestService.start();
    const key = await service.createKey();
    await service.get('/v1/pets/1', { key });
    ({ text } = await service.get('/metrics'));
    await service.close();
  });

  it.each([
    ['rules', rules.map(({ expr }) => expr)],
    ['panels', queries],
  ])('use only exported metrics and labels in their %s', (_what, expressions) => {
    const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => [name, type]));
    const names = expressions.flatMap((expr) =>
      [...expr.matchAll(new RegExp(`\\b(?:${IDENTIFIER}|nodejs|process)_\\w+`, 'g'))].map(([n]) => n),
    );
    expect(names.length).toBeGreaterThanOrEqual(expressions.length - 2);
    for (const name of names) {
      const histogram = name.replace(/_(bucket|sum|count)$/, '');
      expect([name, types.has(name) || types.get(histogram) === 'histogram']).toEqual([name, true]);
    }
    const labels = expressions.flatMap((expr) => [
      ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', ')),
      ...[...expr.matchAll(/[{,] *(\w+)=/g)].map(([, label = '']) => label),
    ]);
    const known = [...text.matchAll(/[{,](\w+)="/g)].map(([, label]) => label);
    // Prometheus adds these labels itself; on Kubernetes, also the namespace.
    expect([...known, 'job', 'instance', 'namespace']).toEqual(expect.arrayContaining(labels));
  });

  it('have a severity, and a summary', () => {
    rules.forEach(({ labels, annotations }) => {
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\S\.$/);
    });
  });

  it('contain the removal date of the deprecated operation', () => {
    const { paths } = JSON.parse(read('openapi.json')) as {
      paths: Record<string, { get?: { 'x-deprecated-sunset'?: string } }>;
    };
    const sunset = paths['/pets/{petId}']?.get?.['x-deprecated-sunset'] ?? '';
    const rule = rules.find(({ alert }) => alert === 'PetstoreDeprecatedCalls');
    expect(rule?.expr).toContain(`> ${Date.parse(sunset) / 1_000} - 90 * 86400`);
  });

  it('have a section in docs/runbook.md, to which each alert links', () => {
    const headings = [...read('docs/runbook.md').matchAll(/^### (Petstore\w+)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(rules.map(({ alert }) => alert));
    const { repository } = JSON.parse(read('package.json')) as { repository: { url: string } };
    const urls = headings.map((name = '') => `${repository.url}/blob/main/docs/runbook.md#${name.toLowerCase()}`);
    expect(rules.map(({ annotations }) => annotations.runbook_url)).toEqual(urls);
  });
});
