import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { loadSettings, SETTINGS } from '../../src/config/settings';
import { version } from '../../package.json';
import { render, renderWith, type Resource, validate } from './manifests';

const ALERTS = join(__dirname, '../../docker/monitoring/alerts.yml');
/** The time a replica may need after the drain: `STOP_TIMEOUT_MS` and `LOG_FLUSH_TIMEOUT_MS` of src/main.ts. */
const STOP_SECONDS = 7;

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly volumeMounts: readonly { readonly name: string }[];
  readonly envFrom: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: object;
  readonly livenessProbe?: object;
  readonly readinessProbe?: object;
}
interface Pod {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly terminationGracePeriodSeconds?: number;
    readonly initContainers?: readonly [Container];
    readonly containers: readonly [Container, ...Container[]];
    readonly volumes: readonly {
      readonly name: string;
      readonly secret: { readonly items: readonly { readonly path: string }[] };
    }[];
  };
}

interface Selecting {
  readonly selector: { readonly matchLabels: Record<string, string> };
}

type Deployment = Resource & {
  readonly spec: { readonly minReadySeconds: number; readonly template: Pod } & Selecting;
};

/** @throws unless there is exactly one */
function findIn(resources: readonly Resource[], kind: string, name?: string): Resource {
  const [found, another] = resources.filter(
    (resource) => resource.kind === kind && (name === undefined || resource.metadata.name === name),
  );
  if (found === undefined || another !== undefined) {
    throw new Error(`There must be one ${kind}.`);
  }
  return found;
}

describe.each(['staging', 'production'])('The manifests of %s', (environment) => {
  const resources = render(environment);

  const find = (kind: string, name?: string) => findIn(resources, kind, name);
  const deployment = find('Deployment', 'petstore') as Deployment;
  const tools = find('Deployment', 'petstore-tools') as Deployment;
  const pods = [deployment, tools].map(({ spec }): [Pod] => [spec.template]);
  const [server] = deployment.spec.template.spec.containers;
  const listContainers = ({ spec }: Pod) => [...(spec.initContainers ?? []), ...spec.containers];
  const listOwn = (pod: Pod) => listContainers(pod).filter(({ image }) => image.includes('petstore'));
  const readEnv = ({ env }: Container): Record<string, string> => ({
    ...(find('ConfigMap').data as Record<string, string>),
    ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
  });

  it('match the published types and schemas, and have no resource that Kubernetes cannot change', () => {
    expect(validate(resources)).toEqual([]);
    expect(resources.filter(({ kind }) => kind === 'Job')).toEqual([]);
  });

  it('run the released version, under the labels that Kubernetes recommends', () => {
    pods.forEach(([pod]) => {
      expect(listOwn(pod).map(({ image }) => image)).toContain(`registry.example.com/petstore:${version}`);
      expect(new Set(listOwn(pod).map(({ image }) => image)).size).toBe(1);
      expect(pod.metadata.labels).toMatchObject({
        'app.kubernetes.io/name': 'petstore',
        'app.kubernetes.io/version': version,
      });
    });
    expect(deployment.spec.selector.matchLabels).not.toHaveProperty(['app.kubernetes.io/version']);
    expect(
      new Set(resources.map(({ kind, metadata }) => (kind === 'Namespace' ? metadata.name : metadata.namespace))),
    ).toEqual(new Set([`petstore-${environment}`]));
  });

  it.each(pods)('give pods no privileges and no writable file system', (pod) => {
    expect(find('Namespace').metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    expect(pod.spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    listContainers(pod).forEach((container) => {
      expect(container).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      });
    });
  });

  it.each(pods)('give pods valid settings, and secrets as files', (pod) => {
    listOwn(pod).forEach((container) => {
      const settings = readEnv(container);
      const files = Object.entries(settings).filter(([name]) => name.endsWith('_FILE'));
      const volume = pod.spec.volumes.find(({ name }) => name === container.volumeMounts[0]?.name);
      const mounted = volume?.secret.items.map(({ path }) => `/etc/petstore/${path}`);
      expect(files.map(([, path]) => path)).toEqual(mounted);
      const rest = Object.fromEntries(Object.entries(settings).filter(([name]) => !name.endsWith('_FILE')));
      expect(Object.keys(SETTINGS)).toEqual(expect.arrayContaining(Object.keys(rest)));
      expect(loadSettings({ ...rest, DATABASE_URL: 'postgres://database/petstore' })).toMatchObject({
        environment,
        migrateOnStart: false,
        trustProxy: 1,
      });
      expect(container.envFrom).toEqual([{ configMapRef: { name: find('ConfigMap').metadata.name } }]);
    });
  });

  it('probe the health of a replica on its port, and give it time to finish its requests before the next one is stopped', () => {
    const settings = readEnv(server);
    expect(server.ports).toEqual([
      { name: 'http', containerPort: 3000 },
      { name: 'metrics', containerPort: Number(settings.METRICS_PORT) },
    ]);
    expect(server).toMatchObject({
      startupProbe: { httpGet: { path: '/healthz', port: 'http' } },
      livenessProbe: { httpGet: { path: '/healthz', port: 'http' } },
      readinessProbe: { httpGet: { path: '/readyz', port: 'http' } },
    });
    const stopSeconds = Number(settings.DRAIN_SECONDS) + STOP_SECONDS;
    expect(deployment.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(stopSeconds);
    // Otherwise several pods would drain at the same time, and hold connections to PostgreSQL.
    expect(deployment.spec.minReadySeconds).toBeGreaterThanOrEqual(stopSeconds);
  });

  it('migrate before the server starts, with a URL that the server does not have', () => {
    const { initContainers: [migration] = [], containers } = deployment.spec.template.spec;
    expect(migration?.command).toEqual(['sh', '-c', expect.stringContaining('petstore migrate')]);
    expect(readEnv(migration ?? server).DATABASE_URL_FILE).toBe('/etc/petstore/migration-database-url');
    expect(JSON.stringify(containers)).not.toContain('migration');
  });

  it('exclude the tools from the selectors of the replicas', () => {
    const selectors = ['PodDisruptionBudget', 'PodMonitor']
      .map((kind) => (find(kind).spec as Selecting).selector.matchLabels)
      .concat(
        deployment.spec.selector.matchLabels,
        (find('Service').spec as { selector: Record<string, string> }).selector,
      );
    selectors.forEach((selector) => {
      expect(deployment.spec.template.metadata.labels).toMatchObject(selector);
      expect(tools.spec.template.metadata.labels).not.toMatchObject(selector);
    });
  });

  it('let pods use DNS at any IP address, and give an operator room for commands outside the replicas', () => {
    const { egress } = find('NetworkPolicy').spec as { egress: { to?: object; ports: { port: number }[] }[] };
    const open = egress.filter(({ to }) => to === undefined).flatMap(({ ports }) => ports.map(({ port }) => port));
    expect(open).toEqual(expect.arrayContaining([53, 5353, 5432, 6379]));
    expect(tools.spec.template.spec.containers.map(({ name }) => name)).toEqual(['petstore', 'postgres', 'redis']);
  });

  it('contain the alert rules of docker/monitoring/alerts.yml', () => {
    expect(find('PrometheusRule').spec).toEqual(parse(readFileSync(ALERTS, 'utf8')));
  });

  it('route only the host name of the base URL and the paths for clients to the service', () => {
    const settings = readEnv(server);
    const baseUrl = environment === 'production' ? settings.PUBLIC_BASE_URL : settings.STAGING_BASE_URL;
    expect(find('HTTPRoute').spec).toMatchObject({
      hostnames: [new URL(baseUrl ?? '').hostname],
      rules: [
        {
          matches: ['/v1', '/docs', '/openapi.json', '/openapi.yaml', '/llms.txt', '/.well-known/api-catalog'].map(
            (value) => ({ path: { value } }),
          ),
          backendRefs: [{ name: find('Service').metadata.name, port: 80 }],
        },
      ],
    });
  });
});

describe('The components', () => {
  const components: Readonly<Record<string, readonly string[]>> = {
    'private-ca': ['/etc/petstore-ca'],
    'client-certificate': ['DATABASE_CERT_FILE: /etc/petstore-client/tls.crt', 'mountPath: /etc/petstore-client'],
    'read-endpoint': ['/etc/petstore-read/database-read-url', 'key: database-read-url'],
    pgbouncer: ['DATABASE_POOLER_MODE: transaction', 'port: 6432'],
    sentinel: ['port: 26379'],
  };
  const authority = 'configMapGenerator: [{ name: petstore-ca, literals: [ca.pem=x] }]';

  it.each(Object.entries(components))('%s adds what it is for', (name, added) => {
    const [before, after] = [stringify(render('production')), stringify(renderWith([name], authority))];
    added.forEach((text) => {
      expect([text, before.includes(text), after.includes(text)]).toEqual([text, false, true]);
    });
  });

  it('match the published types and schemas, together', () => {
    expect(validate(renderWith(Object.keys(components), authority))).toEqual([]);
  });
});

describe('The validation of manifests', () => {
  it.each<[kind: string, path: string, value: unknown]>([
    ['Deployment', 'spec.template.spec.containers.0.readynessProbe', {}],
    ['Deployment', 'spec.template.spec.containers.0.imagePullPolicy', 'Sometimes'],
    ['HTTPRoute', 'spec.hostnames', ['https://api.petstore.example']],
    ['PodMonitor', 'spec.podMetricsEndpoints.0.ports', 'metrics'],
  ])('rejects a %s with a wrong %s', (kind, path, value) => {
    const changed = structuredClone(findIn(render('production'), kind, 'petstore')) as unknown as Record<
      string,
      unknown
    >;
    const names = path.split('.');
    const last = names.pop() ?? '';
    const parent = names.reduce((node, name) => node[name] as Record<string, unknown>, changed);
    parent[last] = value;
    expect(validate([changed as unknown as Resource])).toContainEqual(expect.stringContaining(kind));
  });
});
