import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { BRAND } from '../../src/config/brand';
import { loadSettings, SETTINGS } from '../../src/config/settings';
import { listen } from '../support/process';

const FILE = join(__dirname, '../../docker/compose.yaml');
const LINTER = join(__dirname, '../../node_modules/dclint/bin/dclint.cjs');

interface Service {
  readonly image?: string;
  readonly profiles?: readonly string[];
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly deploy?: { readonly replicas: number };
}

/** Reads the services with variables replaced, like Compose. @throws if a required variable is not set */
function readServices(variables: Readonly<Record<string, string>>): Readonly<Record<string, Service>> {
  const insert = (_: string, name: string, operator?: string, alternative = '') => {
    const value = variables[name] ?? '';
    if (value === '' && operator === '?') {
      throw new Error(`required variable ${name} is missing a value: ${alternative}`);
    }
    return value === '' && operator === '-' ? alternative : value;
  };
  /** The innermost variables first, because an alternative may contain others. */
  const insertAll = (text: string): string => {
    const inserted = text.replace(/\$\{(\w+)(?::([-?])([^${}]*))?\}/g, insert);
    return inserted === text ? text : insertAll(inserted);
  };
  const file = parse(
    readFileSync(FILE, 'utf8'),
    (_key, value: unknown) => (typeof value === 'string' ? insertAll(value) : value),
    { merge: true },
  ) as { services: Record<string, Service> };
  return file.services;
}

const services = readServices({ POSTGRES_PASSWORD: 'secret' });
const entries = Object.entries(services);

describe('compose.yaml', () => {
  it('is valid by the Compose Specification', () => {
    // The file is ordered by dependency, and the linter does not recognize an interface in a variable.
    const rules = [
      'no-unbound-port-interfaces',
      'service-keys-order',
      'services-alphabetical-order',
      'top-level-properties-order',
    ];
    const options = ['--max-warnings', '0', '--disable-rule', ...rules];
    execFileSync(process.execPath, [LINTER, FILE, ...options], { stdio: 'inherit' });
  });

  it("runs four replicas, and monitoring and an operator's tools only on request", () => {
    expect(services[BRAND.name]?.deploy?.replicas).toBe(4);
    const always = entries.filter(([, { profiles }]) => profiles === undefined).map(([name]) => name);
    expect(always).toEqual(['postgres', 'redis', BRAND.name, 'gateway']);
  });

  it('pins the version of every image that it does not build', () => {
    const images = entries.filter(([, { build }]) => build === undefined).map(([, { image }]) => image);
    images.forEach((image) => {
      expect(image).toMatch(/^[a-z]+:\d+\.\d+(\.\d+)?-[a-z]+$|^\w+\/[a-z]+:v?\d+\.\d+\.\d+$/);
    });
    expect(images).toHaveLength(6);
    expect(services.tools?.image).toBe(services.postgres?.image);
  });

  it('publishes ports only on this machine by default', () => {
    const published = entries.flatMap(([, { ports = [] }]) => ports);
    expect(published.map((port) => port.split(':', 1)[0])).toEqual(Array(3).fill('127.0.0.1'));
    expect(readServices({ POSTGRES_PASSWORD: 'secret', GATEWAY_ADDRESS: '443' }).gateway?.ports).toEqual(['443:8080']);
  });

  it('lets the gateway reach the replicas, and only the replicas and the tools reach the databases', () => {
    const listMembers = (network: string) =>
      entries.filter(([, { networks }]) => networks.includes(network)).map(([name]) => name);
    expect(listMembers('requests')).toEqual([BRAND.name, 'tools', 'gateway']);
    expect(listMembers('data')).toEqual(['postgres', 'redis', BRAND.name, 'tools']);
    expect(services.postgres?.networks).toEqual(['data']);
  });

  it.each(entries)('lets %s write only where it must, and gives it no privileges', (_name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      restart: 'unless-stopped',
    });
  });

  it.each(entries)(
    'checks the health of %s, and starts it only when its dependencies are healthy',
    (_name, service) => {
      expect(service.healthcheck?.test[0]).toBe('CMD');
      Object.entries(service.depends_on ?? {}).forEach(([needed, { condition }]) => {
        expect(services).toHaveProperty(needed);
        expect(condition).toBe('service_healthy');
      });
    },
  );

  it('sets only valid settings of the service', () => {
    const environment = services[BRAND.name]?.environment ?? {};
    expect(Object.keys(SETTINGS)).toEqual(expect.arrayContaining(Object.keys(environment)));
    expect(loadSettings({ APP_ENV: 'production', ...environment })).toMatchObject({
      databaseUrl: 'postgres://petstore:secret@postgres:5432/petstore',
      redisUrls: ['redis://redis:6379'],
      trustProxy: 1,
    });
  });

  it('uses the database of DATABASE_URL in docker/.env', () => {
    const changed = readServices({ POSTGRES_PASSWORD: 'secret', DATABASE_URL: 'postgres://user:other@host/petstore' });
    expect(changed[BRAND.name]?.environment?.DATABASE_URL).toBe('postgres://user:other@host/petstore');
  });

  it('checks readiness without starting Node.js', async () => {
    const [, ...command] = services[BRAND.name]?.healthcheck?.test ?? [];
    const check = async (status: number) => {
      const port = await listen(createServer((_, response) => response.writeHead(status).end()));
      const [program = '', ...args] = command.map((text) => text.replace('3000', `${port}`).replaceAll('$$', '$'));
      const child = spawn(program, args, { stdio: 'ignore' });
      const [code] = (await once(child, 'exit')) as [number];
      return [program, code];
    };
    expect(await check(200)).toEqual(['bash', 0]);
    expect(await check(503)).toEqual(['bash', 1]);
  });

  it('lets Prometheus scrape the metrics port of the replicas', () => {
    const text = readFileSync(join(dirname(FILE), 'monitoring/prometheus.yml'), 'utf8');
    const { scrape_configs: jobs } = parse(text) as { scrape_configs: unknown };
    const port = Number(services[BRAND.name]?.environment?.METRICS_PORT);
    expect(jobs).toMatchObject([{ job_name: 'petstore', dns_sd_configs: [{ names: ['petstore'], type: 'A', port }] }]);
  });

  it('explains what to do when the password is missing', () => {
    expect(() => readServices({})).toThrow(/put POSTGRES_PASSWORD=.* into docker\/\.env/);
  });

  it('only refers to existing files', () => {
    const build = services[BRAND.name]?.build;
    const mounted = entries
      .flatMap(([, { volumes = [] }]) => volumes)
      .map((volume) => volume.split(':', 1)[0] ?? '')
      .filter((source) => source.startsWith('.'));
    const context = resolve(dirname(FILE), build?.context ?? '');
    const files = [...mounted.map((path) => resolve(dirname(FILE), path)), resolve(context, build?.dockerfile ?? '')];
    expect(files).toHaveLength(7);
    expect(files.filter((path) => !existsSync(path))).toEqual([]);
    expect(existsSync(join(context, 'package.json'))).toBe(true);
  });
});
