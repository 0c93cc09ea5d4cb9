import { execFile } from 'node:child_process';
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DataSource } from 'typeorm';
import { loadSettings } from '../../src/config/settings';
import { getErrorMessage } from '../../src/shared/domain/error-message';
import { createTypeOrmConfig } from '../../src/typeorm.config';
import { findFreePort, parseLog, runPetstore, Program, createTemporaryDirectory } from '../support/process';
import { type Certificate, CertificateAuthority } from './support/certificates';
import { eventually, Replica } from './support/replica';
import { Server } from './support/servers';

const execute = promisify(execFile);
const PLAIN = 'not encrypted';
const ENCRYPTED = 'encrypted';
const UNTRUSTED = /self-signed certificate|unable to verify/;
const FAILURE =
  /self-signed certificate|unable to verify|Hostname\/IP does not match|does not support SSL|needs DATABASE_CA_FILE/;

describe('A connection to PostgreSQL over TLS', () => {
  let [authority, stranger] = [] as unknown as [CertificateAuthority, CertificateAuthority];
  let client: Certificate;
  let directory: string;
  /** A server with TLS, whose certificate is for `localhost` and not for 127.0.0.1, and a server without TLS. */
  let [secure, plain] = [] as unknown as [Server, Server];

  beforeAll(async () => {
    [authority, stranger, { path: directory }] = await Promise.all([
      CertificateAuthority.create(),
      CertificateAuthority.create(),
      createTemporaryDirectory(),
    ]);
    const { cert, key } = authority.issue('server', ['DNS:localhost']);
    client = authority.issue('holder');
    const hba = `hostnossl all postgres all trust
hostssl all postgres all trust
hostssl all holder all cert
`;
    [secure, plain] = await Promise.all([
      Server.startPostgres({
        settings: {
          ssl: 'on',
          ssl_cert_file: 'server.crt',
          ssl_key_file: 'server.key',
          ssl_ca_file: 'root.crt',
        },
        files: { 'server.crt': cert, 'server.key': key, 'root.crt': authority.certificate, 'pg_hba.conf': hba },
      }),
      Server.startPostgres(),
    ]);
    await eventually(10_000, () => connect({ DATABASE_URL: `${secure.url}/postgres` }).then(isConnected));
    await (await secure.openSession()).query('CREATE ROLE holder LOGIN SUPERUSER');
  });

  const isConnected = (result: string) => [PLAIN, ENCRYPTED].includes(result);
  /** @returns whether the connection is encrypted, or why it failed */
  const connect = async (env: Record<string, string>): Promise<string> => {
    try {
      const dataSource = await new DataSource(createTypeOrmConfig(loadSettings(env))).initialize();
      const [row] = await dataSource.query<{ ssl: boolean }[]>(
        'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
      );
      await dataSource.destroy();
      return row?.ssl === true ? ENCRYPTED : PLAIN;
    } catch (error) {
      const reason = getErrorMessage(error);
      // The machine may be busy with other tests.
      return reason.includes('connection timeout') ? connect(env) : reason;
    }
  };
  const psqlConnects = async (databaseUrl: string, ca = '') => {
    const env = { PATH: process.env.PATH, HOME: directory, PGSSLROOTCERT: ca };
    return execute('psql', ['-c', 'SELECT 1', databaseUrl], { env }).then(
      () => true,
      () => false,
    );
  };
  const createUrl = (server: Server, query: string, host = 'localhost', user = 'postgres') =>
    `postgres://${user}@${host}:${server.port}/postgres${query}`;

  it.each(['disable', 'require', 'verify-ca', 'verify-full'])(
    'succeeds, encrypted unless disabled, or fails like psql with sslmode=%s',
    async (mode) => {
      const servers = [createUrl(secure, ''), createUrl(secure, '', '127.0.0.1'), createUrl(plain, '')];
      const cases = servers.flatMap((server) =>
        [undefined, authority.file, stranger.file].map((ca) => [`${server}?sslmode=${mode}`, ca] as const),
      );
      const outcomes = await Promise.all(
        cases.map(async ([DATABASE_URL, ca]) => {
          const result = await connect({ DATABASE_URL, ...(ca !== undefined && { DATABASE_CA_FILE: ca }) });
          return { result, isLikePsql: isConnected(result) === (await psqlConnects(DATABASE_URL, ca)) };
        }),
      );
      expect(outcomes.filter(({ isLikePsql }) => !isLikePsql)).toEqual([]);
      const connected = mode === 'disable' ? PLAIN : ENCRYPTED;
      outcomes.forEach(({ result }) => {
        expect(result).toMatch(isConnected(result) ? new RegExp(`^${connected}$`) : FAILURE);
      });
    },
  );

  it('is not encrypted without sslmode', async () => {
    expect(await connect({ DATABASE_URL: createUrl(secure, '') })).toBe(PLAIN);
  });

  it('verifies the certificate authority and the host name with sslmode=verify-full', async () => {
    const verified = createUrl(secure, '?sslmode=verify-full');
    expect(await connect({ DATABASE_URL: verified, DATABASE_CA_FILE: authority.file })).toBe(ENCRYPTED);
    expect(await connect({ DATABASE_URL: verified, DATABASE_CA_FILE: stranger.file })).toMatch(UNTRUSTED);
    const wrongName = createUrl(secure, '?sslmode=verify-full', '127.0.0.1');
    expect(await connect({ DATABASE_URL: wrongName, DATABASE_CA_FILE: authority.file })).toMatch(/does not match/);
  });

  it('presents the client certificate to a server that requires one, and keeps retrying without one', async () => {
    const env = {
      DATABASE_URL: createUrl(secure, '?sslmode=verify-full', 'localhost', 'holder'),
      DATABASE_CA_FILE: authority.file,
    };
    const pair = { DATABASE_CERT_FILE: client.certFile, DATABASE_KEY_FILE: client.keyFile };
    expect(await connect({ ...env, ...pair })).toBe(ENCRYPTED);
    expect(await connect(env)).toBe('connection requires a valid client certificate');
    const migrated = await runPetstore(['migrate'], { APP_ENV: 'production', ...env, ...pair });
    expect([migrated.code, migrated.stderr]).toEqual([0, '']);
    const [accepted, rejected] = await Promise.all([Replica.start({ ...env, ...pair }), Replica.start(env)]);
    await eventually(10_000, () => accepted.isReady());
    await eventually(10_000, () => rejected.program.stdout.includes('connection requires a valid client certificate'));
    expect(await rejected.isReady()).toBe(false);
  });

  it('gets 503 while a certificate file is being replaced, and then works again', async () => {
    const file = join(directory, 'replaced.pem');
    await copyFile(authority.file, file);
    const env = { DATABASE_URL: createUrl(secure, '?sslmode=verify-full'), DATABASE_CA_FILE: file };
    const replica = await Replica.start(env);
    await eventually(10_000, () => replica.isReady());
    await rm(file);
    const operator = await secure.openSession();
    const statuses = new Set<number>();
    await eventually(5_000, async () => {
      await operator.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'petstore'`,
      );
      const { status } = await fetch(`${replica.url}/readyz`);
      statuses.add(status);
      return status !== 200;
    });
    expect(statuses).toContain(503);
    await copyFile(authority.file, file);
    await eventually(5_000, () => replica.isReady());
  });

  it('reports an invalid mode or file in one line of the log and of the command line', async () => {
    const garbage = join(directory, 'garbage.pem');
    await writeFile(garbage, 'not a certificate');
    const missing = join(directory, 'missing.pem');
    const verified = createUrl(secure, '?sslmode=verify-full');
    const cases: [Record<string, string>, string][] = [
      [{ DATABASE_URL: createUrl(secure, '?sslmode=strict') }, 'DATABASE_URL must have sslmode=disable, require'],
      [
        { DATABASE_URL: verified, DATABASE_CA_FILE: missing },
        'DATABASE_CA_FILE names a file that cannot be read (ENOENT).',
      ],
      [
        { DATABASE_URL: verified, DATABASE_CA_FILE: garbage },
        'DATABASE_CA_FILE names a file that is not a PEM certificate.',
      ],
    ];
    for (const [env, message] of cases) {
      const all = { APP_ENV: 'production', PORT: await findFreePort(), ...env };
      const [server, command] = await Promise.all([new Program('main.js', [], all).exit, runPetstore(['audit'], all)]);
      expect(server.code).toBe(1);
      expect(parseLog(server.stdout).filter((line) => line['event.action'] === 'start_failed')).toMatchObject([
        { 'log.level': 'fatal', message: expect.stringContaining(message) as string },
      ]);
      expect(command.stderr.startsWith(`error: ${message}`)).toBe(true);
    }
  });

  it.each<[query: string, files: Record<string, 'cert' | 'key' | 'otherKey'>, message: string]>([
    ['?sslmode=prefer', {}, 'prefer does not ensure that the connection is encrypted'],
    ['?sslmode=allow', {}, 'allow does not ensure'],
    ['?sslmode=no-verify', {}, 'must have sslmode=disable, require, verify-ca or verify-full'],
    ['?sslmode=require&sslrootcert=/x', {}, 'must not have the parameter sslrootcert'],
    [
      '?sslmode=require',
      { DATABASE_CERT_FILE: 'cert' },
      'DATABASE_CERT_FILE and DATABASE_KEY_FILE must be set together',
    ],
    ['', { DATABASE_CA_FILE: 'cert' }, 'because its certificates have no effect without TLS'],
    ['', { DATABASE_CERT_FILE: 'cert' }, 'because its certificates have no effect without TLS'],
    ['?sslmode=verify-ca', {}, 'needs DATABASE_CA_FILE'],
    [
      '?sslmode=require',
      { DATABASE_CERT_FILE: 'cert', DATABASE_KEY_FILE: 'otherKey' },
      'DATABASE_KEY_FILE must name the unencrypted PEM private key of the certificate in DATABASE_CERT_FILE',
    ],
    ['?sslmode=require', { DATABASE_CERT_FILE: 'key', DATABASE_KEY_FILE: 'key' }, 'is not a PEM certificate'],
  ])('is not attempted with the query %j and the files %j', async (query, files, message) => {
    const paths = { cert: client.certFile, key: client.keyFile, otherKey: stranger.issue('other').keyFile };
    const settings = Object.entries(files).map(([name, file]) => [name, paths[file]]);
    const env = Object.fromEntries(settings) as Record<string, string>;
    expect(await connect({ DATABASE_URL: createUrl(secure, query), ...env })).toContain(message);
  });

  it('fails on the command line with an error that names the TLS problem', async () => {
    const env = { APP_ENV: 'production', DATABASE_URL: createUrl(secure, '?sslmode=verify-full') };
    const { code, stderr } = await runPetstore(['audit'], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be reached over TLS: self-signed certificate')]);
  });
});
