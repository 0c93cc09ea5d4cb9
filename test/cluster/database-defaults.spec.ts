import { AccountsService, type IssuedKey, KeysService } from '../../src/auth';
import { cleanUp } from '../support/cleanup';
import { readJson, runCommand } from '../support/command-line';
import { loadExamples } from '../support/examples';
import { findSuccessStatus, OPERATIONS } from '../support/operations';
import { Client, getErrorCode, runConcurrently } from './support/client';
import { eventually, Replica } from './support/replica';
import { Server } from './support/servers';
import { Store } from './support/store';

const readDate = (_: string, value: unknown) => (/^\d{4}-.*T/.test(String(value)) ? new Date(String(value)) : value);

/** Defaults that change how PostgreSQL reads or writes values, or runs transactions. */
const DEFAULTS: Readonly<Record<string, string>> = {
  DateStyle: 'SQL, DMY',
  TimeZone: 'Asia/Kolkata',
  IntervalStyle: 'sql_standard',
  array_nulls: 'off',
  bytea_output: 'escape',
  default_transaction_deferrable: 'on',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  extra_float_digits: '-15',
  idle_session_timeout: '3s',
  quote_all_identifiers: 'on',
  session_replication_role: 'replica',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
};

describe.each(['directly', 'through PgBouncer in session mode', 'through PgBouncer in transaction mode'])(
  'A replica that is connected %s to a database with unusual defaults',
  (way) => {
    const mode = /(session|transaction) mode/.exec(way)?.[1] as 'session' | 'transaction' | undefined;
    let store: Store;
    let replica: Replica;
    let client: Client;
    let env: Record<string, string>;

    beforeAll(async () => {
      const postgres = await Server.startPostgres();
      const operator = await postgres.openSession();
      for (const [name, value] of Object.entries(DEFAULTS)) {
        await operator.query(`ALTER DATABASE postgres SET ${name} TO ${name === 'DateStyle' ? value : `'${value}'`}`);
      }
      const pooler = mode === undefined ? undefined : await Server.startPgbouncer(postgres, mode, 10);
      env = {
        DATABASE_URL: `${(pooler ?? postgres).url}/postgres`,
        DATABASE_MIGRATION_URL: `${postgres.url}/postgres`,
        ...(mode !== undefined && { DATABASE_POOLER_MODE: mode }),
      };
      store = await Store.open(postgres.url);
      client = new Client(await store.createUnlimitedKey());
      replica = await Replica.start(env);
      await eventually(10_000, () => replica.isReady());
    });
    afterAll(cleanUp);

    const readStatus = (secret: string) => new Client(secret).call(replica.port).then(({ status }) => status, String);

    it('rejects revoked, expired and rotated keys within a second, which the command line can revoke and list', async () => {
      const { id } = await store.get(AccountsService).create('Test', 'business');
      const keys = store.get(KeysService);
      const issued = [await keys.create(id), await keys.create(id), await keys.create(id)] as const;
      const [revoked, expired, rotated] = issued;
      const command = { ...env, APP_ENV: 'production' };
      const isRejectedWith = async ({ secret }: IssuedKey, code: string) => {
        const reply = await new Client(secret).call(replica.port);
        return reply.status === 401 && getErrorCode(reply) === code;
      };
      for (const { secret } of issued) {
        expect(await readStatus(secret)).toBe(200);
      }
      expect((await runCommand(`keys revoke ${revoked.key.id}`, command)).code).toBe(0);
      await eventually(1_000, () => isRejectedWith(revoked, 'invalid_api_key'));
      await store.query(`UPDATE api_keys SET expires_at = now() - interval '1 minute' WHERE id = $1`, [expired.key.id]);
      await eventually(1_000, () => isRejectedWith(expired, 'expired_api_key'));
      expect((await runCommand(`keys rotate ${rotated.key.id} --grace 0`, command)).code).toBe(0);
      await eventually(1_000, () => isRejectedWith(rotated, 'expired_api_key'));
      const listed = await readJson<{ state: string; createdAt: string }[]>(`keys list ${id}`, command);
      expect(listed.map(({ state }) => state)).toEqual(['revoked', 'expired', 'expired', 'active']);
      expect(listed.slice(0, 3).map(({ createdAt }) => createdAt)).toEqual(
        issued.map(({ key }) => key.createdAt.toISOString()),
      );
    });

    it('never lets a key whose expiry is infinity expire, and rejects one whose revocation is infinity', async () => {
      const { id } = await store.get(AccountsService).create('Test', 'business');
      const [endless, revoked] = [await store.get(KeysService).create(id), await store.get(KeysService).create(id)];
      await store.query(`UPDATE api_keys SET expires_at = 'infinity' WHERE id = $1`, [endless.key.id]);
      await store.query(`UPDATE api_keys SET revoked_at = 'infinity' WHERE id = $1`, [revoked.key.id]);
      expect([await readStatus(endless.secret), await readStatus(revoked.secret)]).toEqual([200, 401]);
      expect((await runCommand(`keys list ${id}`, { ...env, APP_ENV: 'production' })).code).toBe(0);
    });

    it('serves every operation, and returns what was sent', async () => {
      const insertExamples = await loadExamples();
      const accountId = `${(await store.get(AccountsService).list()).at(-1)?.id}`;
      for (const operation of OPERATIONS) {
        await insertExamples((sql) => store.query(sql), accountId);
        const { status, body } = await client.call(replica.port, { ...operation, body: operation.body });
        expect([operation.operationId, status]).toEqual([operation.operationId, findSuccessStatus(operation)]);
        if (operation.method === 'POST') {
          expect(JSON.parse(body, readDate)).toMatchObject(
            JSON.parse(JSON.stringify(operation.body), readDate) as object,
          );
        }
      }
    });

    it('stores and lists animals, with and without an Idempotency-Key', async () => {
      const replies = await runConcurrently(16, 64, (index) =>
        client.add(replica.port, 'A \\ "quoted" name', index % 2 === 0 ? { 'idempotency-key': `own-${index}` } : {}),
      );
      expect([...new Set(replies.map(({ status }) => status))]).toEqual([201]);
      const { body } = await client.call(replica.port, { path: '/v1/pets?limit=100' });
      expect((JSON.parse(body) as { name: string }[]).filter(({ name }) => name === 'A \\ "quoted" name')).toHaveLength(
        64,
      );
    });

    it('stores when a key was last used, when it stops', async () => {
      const { id } = await store.get(AccountsService).create('Test', 'business');
      const { secret } = await store.get(KeysService).create(id);
      const before = Date.now();
      expect(await readStatus(secret)).toBe(200);
      await replica.program.kill('SIGTERM');
      const [stored] = await store.get(KeysService).list(id);
      expect(stored?.lastUsedAt?.getTime()).toBeGreaterThanOrEqual(before);
    });
  },
);
