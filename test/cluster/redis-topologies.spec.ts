import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { AccountsService } from '../../src/auth';
import { InvalidSettingsError, loadSettings } from '../../src/config/settings';
import { RedisUsageStore } from '../../src/rate-limiting/redis/redis-usage-store';
import { cleanUp } from '../support/cleanup';
import { findFreePort, parseLog, runPetstore, Program } from '../support/process';
import { createPrincipal } from '../support/principal';
import { type Certificate, CertificateAuthority } from './support/certificates';
import { Client, runConcurrently, filterSuccessful, type Reply } from './support/client';
import { type Cluster, startCluster } from './support/cluster';
import { startRedisCluster } from './support/redis-cluster';
import { eventually, Replica } from './support/replica';
import { Server } from './support/servers';

// The tests cause faults, which would be logged.
Logger.overrideLogger(false);

/** The users in docs/operating.md for a server, a cluster node and a sentinel. */
const [MINIMAL_USER = '', MINIMAL_CLUSTER_USER = '', MINIMAL_SENTINEL_USER = ''] = [
  ...readFileSync(join(__dirname, '../../docs/operating.md'), 'utf8').matchAll(/^ACL SETUSER (petstore .+)$/gm),
].map(([, user = '']) => user.replace('>password', '>secret'));

const open: RedisUsageStore[] = [];
afterEach(() => {
  open.splice(0).forEach((usageStore) => {
    usageStore.close();
  });
});

/** Creates the usage store of a replica with these settings. */
const createUsageStore = (env: Record<string, string>) => {
  const usageStore = RedisUsageStore.create(
    loadSettings({ APP_ENV: 'production', DATABASE_URL: 'postgres://127.0.0.1/none', ...env }),
  );
  open.push(usageStore);
  return usageStore;
};
/** Runs every Redis command that a replica uses. */
const runEveryCommand = async (usageStore: RedisUsageStore, accounts = [1n]) => {
  await usageStore.connect();
  await usageStore.probe();
  const admissions = await Promise.all(
    accounts.map(async (id) => {
      // It exceeds the allowance, so that some requests are rejected.
      const subject = createPrincipal(id, id, 3, 100);
      const results = await usageStore.consume([{ subject, requests: 10 }]);
      return results?.[0]?.admitted;
    }),
  );
  await usageStore.countAuthFailure('192.0.2.1');
  return admissions;
};
const readFailure = (env: Record<string, string>) =>
  runEveryCommand(createUsageStore(env)).then(
    () => 'none',
    (error: unknown) => String(error),
  );

const withAdmin = async <T>(url: string, use: (admin: Redis) => Promise<T>, options = {}): Promise<T> => {
  const admin = new Redis(url, options);
  return use(admin).finally(() => {
    admin.disconnect();
  });
};
const setUser = (admin: Redis, user: string) => admin.call('ACL', 'SETUSER', ...user.split(' '));

describe('With Redis Sentinel', () => {
  const ALLOWANCE = 50;
  let servers: Server[];
  let sentinels: Server[];
  let { replicas, env, createLimitedKey, send, areLimitsShared } = {} as Cluster;

  beforeAll(async () => {
    const access = [
      '--requirepass',
      'administrator',
      '--masterauth',
      'administrator',
      '--user',
      ...MINIMAL_USER.split(' '),
    ];
    const first = await Server.startRedis(...access);
    servers = [first, await Server.startRedis(...access, '--replicaof', '127.0.0.1', `${first.port}`)];
    const directives = [
      'sentinel auth-pass mymaster administrator',
      'sentinel down-after-milliseconds mymaster 1000',
      'sentinel failover-timeout mymaster 1000',
      'requirepass guard',
      'sentinel sentinel-pass guard',
      `user ${MINIMAL_SENTINEL_USER.replace('>secret', '>visitor')}`,
    ];
    sentinels = await Promise.all([1, 2, 3].map(() => Server.startSentinel(first, ...directives)));
    await eventually(20_000, async () => {
      const views = await Promise.all(sentinels.map(({ url }) => readSentinelView(url)));
      return views.every((view) => view.includes('status=ok') && view.includes('slaves=1,sentinels=3'));
    });
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const settings = {
      REDIS_URL: `redis+sentinel://petstore:secret@${hosts}/0?name=mymaster&sentinelUsername=petstore&sentinelPassword=visitor`,
      // Bans must not affect the counts.
      BAN_WINDOW_SECONDS: '1',
      BAN_DURATIONS_SECONDS: '1',
    };
    ({ replicas, env, createLimitedKey, send, areLimitsShared } = await startCluster({ replicas: 2, env: settings }));
  });
  afterAll(cleanUp);

  const readSentinelView = (url: string) =>
    withAdmin(url, (sentinel) => sentinel.info('sentinel'), { password: 'guard', enableReadyCheck: false });
  const findPrimary = async (): Promise<Server> => {
    const [, port] = (await withAdmin(
      sentinels[0]?.url ?? '',
      (sentinel) => sentinel.call('SENTINEL', 'get-master-addr-by-name', 'mymaster'),
      { password: 'guard', enableReadyCheck: false },
    )) as string[];
    const found = servers.find((server) => `${server.port}` === port);
    if (found === undefined) {
      throw new Error(`The sentinels name an unknown primary: ${port}`);
    }
    return found;
  };
  const readInfo = ({ url }: Server, section: string) =>
    withAdmin(url, (admin) => admin.info(section), { password: 'administrator' });
  /** Other load may delay a call to Redis beyond its timeout, so that a replica decides alone. */
  const areManyRequestsExact = async () =>
    filterSuccessful(await send(await createLimitedKey(ALLOWANCE), 400)).length === ALLOWANCE;
  const isDegraded = async ({ url }: Replica) =>
    /^petstore_redis_breaker_open 1$/m.test(await (await fetch(`${url}/metrics`)).text());

  it.each<[string, (server: Server) => Promise<void> | void, (server: Server) => Promise<void> | void]>([
    ['killed', (server) => server.stop(), (server) => server.start()],
    [
      'frozen',
      (server) => {
        server.freeze();
      },
      (server) => {
        server.thaw();
      },
    ],
  ])(
    'limits are shared again on the new primary after the primary is %s, and no replica admits more than the allowance',
    async (_fault, begin, end) => {
      await eventually(10_000, areLimitsShared);
      const key = await createLimitedKey(ALLOWANCE);
      const old = await findPrimary();
      const before = await send(key, 20);
      await begin(old);
      const startedAt = performance.now();
      const during: Reply[] = [];
      await eventually(3_000, async () => {
        during.push(...(await send(key, 20)));
        return (await Promise.all(replicas.map(isDegraded))).every(Boolean);
      });
      await eventually(15_000, async () => {
        during.push(...(await send(key, 20)));
        return (await areLimitsShared()) && !(await Promise.all(replicas.map(isDegraded))).some(Boolean);
      });
      const outageMs = performance.now() - startedAt;
      const current = await findPrimary();
      expect(current.port).not.toBe(old.port);
      const after = await send(key, 200);
      await eventually(10_000, areManyRequestsExact);
      await end(old);
      await eventually(20_000, async () => (await readInfo(old, 'replication')).includes('master_link_status:up'));
      await eventually(10_000, areManyRequestsExact);
      expect(await findPrimary()).toBe(current);

      expect(before.map(({ status }) => status)).toEqual(Array(20).fill(200));
      const all = [...before, ...during, ...after];
      expect(all.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
      for (const replica of replicas) {
        expect(filterSuccessful(all).filter(({ port }) => port === replica.port).length).toBeLessThanOrEqual(ALLOWANCE);
      }
      expect(outageMs).toBeLessThan(15_000);
    },
  );

  it('a sentinel that is down or frozen is skipped', async () => {
    await sentinels[0]?.stop();
    sentinels[1]?.freeze();
    try {
      const another = await Replica.start(env);
      await eventually(10_000, async () => !(await isDegraded(another)));
    } finally {
      sentinels[1]?.thaw();
      await sentinels[0]?.start();
    }
  });

  it('an error reports which password is wrong, or that the sentinels do not know the primary', async () => {
    const url = env.REDIS_URL ?? '';
    expect(await readFailure({ REDIS_URL: url.replace('visitor', 'wrong') })).toMatch(
      /failed to connect to sentinel .*WRONGPASS/,
    );
    expect(await readFailure({ REDIS_URL: url.replace('secret', 'wrong') })).toContain('WRONGPASS');
    expect(await readFailure({ REDIS_URL: url.replace('mymaster', 'other') })).toBe(
      'Error: the sentinels know no primary with the name in REDIS_URL',
    );
  });
});

/** Creates certificates for Redis and the service. @returns the options of Redis and the settings of the service that use them */
const createCertificates = async () => {
  const authority = await CertificateAuthority.create();
  const server = authority.issue('redis', ['DNS:localhost']);
  const client = authority.issue('petstore');
  const createServerOptions = ({ certFile, keyFile }: Certificate) => [
    ...['--tls-ca-cert-file', authority.file, '--tls-cert-file', certFile, '--tls-key-file', keyFile],
    ...['--tls-auth-clients', 'yes'],
  ];
  const env = {
    REDIS_CA_FILE: authority.file,
    REDIS_CERT_FILE: client.certFile,
    REDIS_KEY_FILE: client.keyFile,
  };
  return { serverOptions: createServerOptions(server), env };
};

describe('With Redis over TLS', () => {
  let certificates: Awaited<ReturnType<typeof createCertificates>>;
  let server: Server;
  let env: Record<string, string>;

  beforeAll(async () => {
    certificates = await createCertificates();
    const port = await findFreePort();
    server = await Server.startRedis('--tls-port', port, ...certificates.serverOptions);
    env = { REDIS_URL: `rediss://localhost:${port}`, ...certificates.env };
  });
  afterAll(cleanUp);
  const omit = (...names: string[]) =>
    Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));

  it('limits are shared over mutual TLS', async () => {
    expect(await runEveryCommand(createUsageStore(env))).toEqual([3]);
  });

  it('a failed connection reports its cause: unknown authority, wrong host name, missing client certificate', async () => {
    expect(await readFailure(omit('REDIS_CA_FILE'))).toContain('self-signed certificate in certificate chain');
    expect(await readFailure({ ...env, REDIS_URL: (env.REDIS_URL ?? '').replace('localhost', '127.0.0.1') })).toContain(
      "IP: 127.0.0.1 is not in the cert's list",
    );
    expect(await readFailure(omit('REDIS_CERT_FILE', 'REDIS_KEY_FILE'))).toContain('certificate required');
  });

  it.each<[changes: Record<string, string>, message: string]>([
    [{ REDIS_CA_FILE: __filename }, 'REDIS_CA_FILE names a file that is not a PEM certificate.'],
    [{ REDIS_CERT_FILE: __filename }, 'REDIS_CERT_FILE names a file that is not a PEM certificate.'],
    [{ REDIS_KEY_FILE: __filename }, 'REDIS_KEY_FILE must name the unencrypted PEM private key of the certificate in'],
    [{ REDIS_KEY_FILE: '' }, 'REDIS_CERT_FILE and REDIS_KEY_FILE must be set together.'],
    [{ REDIS_URL: 'redis://localhost' }, 'REDIS_URL must begin with rediss, because its certificates have no effect'],
  ])('%j is reported as an invalid setting', (changes, message) => {
    const create = () => createUsageStore({ ...env, ...changes });
    expect(create).toThrow(InvalidSettingsError);
    expect(create).toThrow(message);
  });

  it('a missing certificate file makes startup fail with one log line', async () => {
    const { code, stdout, stderr } = await new Program('main.js', [], {
      ...{ APP_ENV: 'production', DATABASE_URL: 'postgres://127.0.0.1/none', PORT: await findFreePort() },
      ...{ ...env, REDIS_CA_FILE: '/none.pem' },
    }).exit;
    expect([code, stderr]).toEqual([1, '']);
    expect(parseLog(stdout).filter((line) => line['event.action'] !== 'stopped')).toMatchObject([
      {
        ...{ 'log.level': 'fatal', 'event.action': 'start_failed' },
        message: 'REDIS_CA_FILE names a file that cannot be read (ENOENT).',
      },
    ]);
  });

  it('the sentinels and the primary are connected over TLS', async () => {
    const port = await findFreePort();
    const directives = certificates.serverOptions
      .join(' ')
      .split(' --')
      .map((option) => option.replace(/^--/, ''));
    await Server.startSentinel(
      server,
      ...directives,
      `tls-port ${port}`,
      'sentinel resolve-hostnames yes',
      'sentinel announce-hostnames yes',
      `sentinel monitor tls localhost ${new URL(env.REDIS_URL ?? '').port} 1`,
      'tls-replication yes',
    );
    const url = `rediss+sentinel://localhost:${port}?name=tls`;
    await eventually(10_000, async () => (await readFailure({ ...env, REDIS_URL: url })) === 'none');
    expect(await readFailure({ ...omit('REDIS_CERT_FILE', 'REDIS_KEY_FILE'), REDIS_URL: url })).toContain(
      'failed to connect to sentinel localhost',
    );
  });
});

describe('Redis Cluster over TLS and with host names', () => {
  const PREFIX = 'shop.eu:pets:';
  let certificates: Awaited<ReturnType<typeof createCertificates>>;
  let nodes: Server[];
  let env: Record<string, string>;

  beforeAll(async () => {
    certificates = await createCertificates();
    const tlsPorts = await Promise.all([findFreePort(), findFreePort(), findFreePort()]);
    const options = [
      ...['--cluster-announce-hostname', 'localhost', '--cluster-preferred-endpoint-type', 'hostname'],
      ...certificates.serverOptions,
      ...['--user', ...MINIMAL_CLUSTER_USER.replace('petstore:production:', PREFIX).split(' ')],
    ];
    nodes = await startRedisCluster(tlsPorts.map((tlsPort) => ({ tlsPort, options })));
    // The nodes learn each other's host names later.
    await eventually(20_000, async () => {
      const views = await Promise.all(nodes.map(({ url }) => withAdmin(url, (node) => node.cluster('SLOTS'))));
      return views.every((view) => JSON.stringify(view).split('"localhost"').length === 4);
    });
    env = {
      ...certificates.env,
      REDIS_URL: `rediss+cluster://petstore:secret@localhost:${tlsPorts[0]}`,
      REDIS_KEY_PREFIX: PREFIX,
    };
  });
  afterAll(cleanUp);

  it('shares limits on all nodes from a single endpoint, with minimal permissions and a custom prefix', async () => {
    const accounts = Array.from({ length: 20 }, (_, index) => BigInt(index + 1));
    const replicas = [createUsageStore(env), createUsageStore(env)];
    await Promise.all(replicas.map((usageStore) => usageStore.connect()));
    const admitted = await Promise.all(
      replicas.flatMap((usageStore) =>
        accounts.map(async (id) => {
          const subject = createPrincipal(id, id, 10, 100);
          const results = await usageStore.consume([{ subject, requests: 7 }]);
          return { id, admissions: results?.[0]?.admitted ?? 0 };
        }),
      ),
    );
    const sumAdmissions = (account: bigint) =>
      admitted.filter(({ id }) => id === account).reduce((sum, { admissions }) => sum + admissions, 0);
    expect(accounts.map(sumAdmissions)).toEqual(accounts.map(() => 10));
    const keys = await Promise.all(nodes.map(({ url }) => withAdmin(url, (node) => node.keys('*'))));
    expect(Math.min(...keys.map(({ length }) => length))).toBeGreaterThan(0);
    expect(keys.flat().filter((key) => !key.startsWith(PREFIX))).toEqual([]);
    await runEveryCommand(createUsageStore(env), accounts);
  });

  it('reports the required grants if the user may not discover the other nodes', async () => {
    await Promise.all(nodes.map(({ url }) => withAdmin(url, (node) => setUser(node, 'petstore -cluster|slots'))));
    expect(await readFailure(env)).toMatch(
      /^Error: NOPERM .+ACL SETUSER petstore ~shop\.eu:pets:\* \+eval .+ \+cluster\|slots \+asking$/,
    );
    await Promise.all(nodes.map(({ url }) => withAdmin(url, (node) => setUser(node, 'petstore +cluster|slots'))));
  });
});

describe('A Redis user with the documented permissions', () => {
  let server: Server;
  let { env, store } = {} as Cluster;

  beforeAll(async () => {
    server = await Server.startRedis('--user', ...MINIMAL_USER.split(' '));
    const settings = { REDIS_URL: `redis://petstore:secret@127.0.0.1:${server.port}` };
    ({ env, store } = await startCluster({ replicas: 0, env: settings }));
  });
  const PERMISSIONS = MINIMAL_USER.split(' ').filter((word) => /^[+~]/.test(word));
  const grantAll = (admin: Redis) => setUser(admin, MINIMAL_USER);

  it('has sufficient permissions for a replica and for the command line', async () => {
    await withAdmin(server.url, grantAll);
    const replica = await Replica.start(env);
    const client = new Client(await store.createKey('free'));
    const [reply] = await runConcurrently(10, 70, () => client.call(replica.port));
    expect(reply?.status).toBe(200);
    const { id } = (await store.get(AccountsService).list()).at(-1) ?? {};
    const { stdout } = await runPetstore(['accounts', 'show', `${id}`], { ...env, APP_ENV: 'production' });
    expect(stdout).toContain('used: 60, limit: 60');
    const { stdout: log, stderr } = await replica.program.kill('SIGTERM');
    expect(stderr).toBe('');
    expect(log).not.toContain('breaker_opened');
    expect(await withAdmin(server.url, (admin) => admin.call('ACL', 'LOG'))).toEqual([]);
  });

  it.each(PERMISSIONS.filter((permission) => permission !== '+info'))(
    'has insufficient permissions without %s, and the error says what to grant',
    async (permission) => {
      await withAdmin(server.url, async (admin) => {
        await grantAll(admin);
        await setUser(admin, permission.startsWith('~') ? 'petstore resetkeys' : `petstore -${permission.slice(1)}`);
        await admin.script('FLUSH');
        expect(await readFailure(env)).toMatch(
          /^Error: .+; grant the permissions with: ACL SETUSER petstore ~petstore:production:\* \+eval .+ \+info$/,
        );
        await grantAll(admin);
      });
      expect(await readFailure(env)).toBe('none');
    },
  );

  it('is named default in the error if REDIS_URL names no user', async () => {
    await withAdmin(server.url, (admin) => setUser(admin, 'default -hset'));
    const failure = await readFailure({ REDIS_URL: server.url });
    await withAdmin(server.url, (admin) => setUser(admin, 'default +hset'));
    expect(failure).toContain('; grant the permissions with: ACL SETUSER default ~petstore:production:* ');
  });

  it('works without a restart once a missing permission is granted', async () => {
    await withAdmin(server.url, async (admin) => {
      await setUser(admin, 'petstore -hset');
      const replica = await Replica.start(env);
      await replica.program.waitForOutput('grant the permissions with: ACL SETUSER petstore');
      await grantAll(admin);
      await replica.program.waitForOutput('breaker_closed');
      await replica.program.kill('SIGTERM');
    });
  });

  it('works without +info, with a warning on each connection', async () => {
    await withAdmin(server.url, async (admin) => {
      await grantAll(admin);
      await setUser(admin, 'petstore -info');
    });
    const replica = await Replica.start(env);
    const { stdout, stderr } = await replica.program.kill('SIGTERM');
    expect(stdout).toContain('"rateLimitStore":"redis"');
    expect(stderr).toContain("has no permissions to run the 'info' command");
    await withAdmin(server.url, grantAll);
  });
});
