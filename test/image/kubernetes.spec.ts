import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadSettings, SETTINGS } from '../../src/config/settings';
import { version } from '../../package.json';
import { render, type Resource, validate } from './manifests';

const ALERTS = join(__dirname, '../../docker/monitoring/alerts.yml');
/** The time a replica may need after the drain: `STOP_TIMEOUT_MS` and `LOG_FLUSH_TIMEOUT_MS` of src/main.ts. */
const STOP_SECONDS = 7;

interface Container {
  readonly image: string;
  readonly command?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
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
    readonly containers: readonly [Container];
    readonly volumes: readonly [{ readonly secret: { readonly items: readonly { readonly path: string }[] } }];
  };
}

interface Selecting {
  readonly selector: { readonly matchLabels: Record<string, string> };
}

/** @throws unless there is exactly one */
function findIn(resources: readonly Resource[], kind: string): Resource {
  const [found, another] = resources.filter((resource) => resource.kind === kind);
  if (found === undefined || another !== undefined) {
    throw new Error(`There must be one ${kind}.`);
  }
  return found;
}

describe.each(['staging', 'production'])('The manifests of %s', (environment) => {
  const resources = render(environment);

  const find = (kind: string) => findIn(resources, kind);
  const deployment = find('Deployment') as Resource & {
    readonly spec: { readonly minReadySeconds: number; readonly template: Pod } & Selecting;
  };
  const job = find('Job') as Resource & { readonly spec: { readonly template: Pod } };
  const pods = [deployment, job].map(({ spec }): [Pod] => [spec.template]);
  const [server] = deployment.spec.template.spec.containers;
  const readEnv = ({ env }: Container): Record<string, string> => ({
    ...(find('ConfigMap').data as Record<string, string>),
    ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
  });

  it('match the published types and schemas', () => {
    expect(validate(resources)).toEqual([]);
  });

  it('run the released version, under the labels that Kubernetes recommends', () => {
    pods.forEach(([{ metadata, spec }]) => {
      expect(spec.containers[0].image).toBe(`registry.example.com/petstore:${version}`);
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/name': 'petstore',
        'app.kubernetes.io/version': version,
      });
    });
    expect(deployment.spec.selector.matchLabels).not.toHaveProperty(['app.kubernetes.io/version']);
    expect(
      new Set(resources.map(({ kind, metadata }) => (kind === 'Namespace' ? metadata.name : metadata.namespace))),
    ).toEqual(new Set([`petstore-${environment}`]));
  });

  it.each(pods)('give pods no privileges and no writable file system', ({ spec }) => {
    expect(find('Namespace').metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    });
  });

  it.each(pods)('give pods valid settings, and secrets as files', ({ spec }) => {
    const settings = readEnv(spec.containers[0]);
    const files = Object.entries(settings).filter(([name]) => name.endsWith('_FILE'));
    const mounted = spec.volumes[0].secret.items.map(({ path }) => `/etc/petstore/${path}`);
    expect(files.map(([, path]) => path)).toEqual(mounted);
    const rest = Object.fromEntries(Object.entries(settings).filter(([name]) => !name.endsWith('_FILE')));
    expect(Object.keys(SETTINGS)).toEqual(expect.arrayContaining(Object.keys(rest)));
    expect(loadSettings({ ...rest, DATABASE_URL: 'postgres://database/petstore' })).toMatchObject({
      environment,
      migrateOnStart: false,
      trustProxy: 1,
    });
    expect(spec.containers[0].envFrom).toEqual([{ configMapRef: { name: find('ConfigMap').metadata.name } }]);
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

  it('migrate with the command of the image, and exclude the job from the selectors of the replicas', () => {
    expect(job.spec.template.spec.containers[0].command).toEqual(['petstore', 'migrate']);
    const selectors = ['Deployment', 'PodDisruptionBudget', 'PodMonitor']
      .map((kind) => (find(kind).spec as Selecting).selector.matchLabels)
      .concat((find('Service').spec as { readonly selector: Record<string, string> }).selector);
    selectors.forEach((selector) => {
      expect(deployment.spec.template.metadata.labels).toMatchObject(selector);
      expect(job.spec.template.metadata.labels).not.toMatchObject(selector);
    });
  });

  it('contain the alert rules of docker/monitoring/alerts.yml', () => {
    expect(find('PrometheusRule').spec).toEqual(parse(readFileSync(ALERTS, 'utf8')));
  });

  it('route only the host name of the base URL to the service', () => {
    const settings = readEnv(server);
    const baseUrl = environment === 'production' ? settings.PUBLIC_BASE_URL : settings.STAGING_BASE_URL;
    expect(find('HTTPRoute').spec).toMatchObject({
      hostnames: [new URL(baseUrl ?? '').hostname],
      rules: [{ backendRefs: [{ name: find('Service').metadata.name, port: 80 }] }],
    });
  });
});

describe('A manifest', () => {
  const resources = render('production');

  it.each<[what: string, kind: string, path: string, value: unknown]>([
    ['a misspelt field', 'Deployment', 'spec.template.spec.containers.0.readynessProbe', {}],
    ['a field in the wrong place', 'Deployment', 'spec.terminationGracePeriodSeconds', 30],
    ['a value of the wrong type', 'Job', 'spec.backoffLimit', '5'],
    ['a value that is not allowed', 'Deployment', 'spec.template.spec.containers.0.imagePullPolicy', 'Sometimes'],
    ['an unknown field of the Gateway API', 'HTTPRoute', 'spec.hostname', 'api.petstore.example'],
    ['a malformed host name', 'HTTPRoute', 'spec.hostnames', ['https://api.petstore.example']],
    ['an unknown field of the Prometheus operator', 'PodMonitor', 'spec.podMetricsEndpoints.0.ports', 'metrics'],
  ])('with %s is not valid', (_what, kind, path, value) => {
    const changed = JSON.parse(JSON.stringify(findIn(resources, kind))) as Record<string, unknown>;
    const names = path.split('.');
    const last = names.pop() ?? '';
    const parent = names.reduce((node, name) => node[name] as Record<string, unknown>, changed);
    parent[last] = value;
    expect(validate([changed as unknown as Resource])).toContainEqual(expect.stringContaining(kind));
  });
});
