import { EventEmitter, once } from 'node:events';
import type { PoolClient } from 'pg';
import { DataSource, type QueryRunner } from 'typeorm';
import type { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner';
import { AccountsService, type ApiKey, AuditTrail, KeysService } from '../../src/auth';
import { Account, createAccount } from '../../src/auth/domain/account';
import { AccountRepository } from '../../src/auth/domain/account.repository';
import { ApiKeyRepository } from '../../src/auth/domain/api-key.repository';
import { getKeyState } from '../../src/auth/domain/api-key';
import { RenameKeyStartAndAuditAction1795788000000 } from '../../src/auth/persistence/rename-key-start-and-audit-action.migration';
import { FIND_CHANGES_SINCE } from '../../src/auth/persistence/typeorm-api-key.repository';
import { getOperatingSystemUser } from '../../src/auth/operating-system-user';
import { Pet } from '../../src/pets/domain/pet';
import { PetRepository } from '../../src/pets/domain/pet.repository';
import { ServiceUnavailableError } from '../../src/shared/domain/pet-store-error';
import { UnitOfWork } from '../../src/shared/domain/unit-of-work';
import { getPool } from '../../src/shared/persistence/session';
import { TypeOrmUnitOfWork } from '../../src/shared/persistence/typeorm-unit-of-work';
import { TestService } from '../support/service';

const MAX = 2n ** 63n - 1n;

describe('The repositories', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.close());

  it('give each reader of a page, also of one that requests share, its own animals', async () => {
    const pets = service.app.get(PetRepository);
    const { id } = await pets.add({ name: 'Ada', categoryId: 1n, status: 'sold' });
    await pets.add({ name: 'Rex', categoryId: 1n, status: 'sold' });
    const query = { status: undefined, after: id - 1n, limit: 2 };
    const [page, other] = await Promise.all([pets.list(query), pets.list(query)]);
    Object.assign(page.items[0] ?? {}, { name: 'changed' });
    expect(page.items.map(({ name }) => name)).toEqual(['changed', 'Rex']);
    expect(other.items.map(({ name }) => name)).toEqual(['Ada', 'Rex']);
  });

  it('lose none of 500 animals that are added concurrently: each is stored with its own ID or fails as unavailable', async () => {
    const pets = service.app.get(PetRepository);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 500 }, (_, i) => pets.add({ name: `Animal ${i}`, categoryId: BigInt(i), status: 'sold' })),
    );
    const added = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    expect(new Set(added.map(({ id }) => id)).size).toBe(added.length);
    expect(added.length).toBeGreaterThan(0);
    expect(reasons.filter((reason) => !(reason instanceof ServiceUnavailableError))).toEqual([]);
    for (const pet of added) {
      expect(await pets.find(pet.id)).toEqual(pet);
    }
  });

  it('acknowledge no animal that is added in a transaction which a pooler has left open', async () => {
    const pets = service.app.get(PetRepository);
    getPool(service.app.get(DataSource))?.once('acquire', (client: PoolClient) => void client.query('BEGIN'));
    const rex = { name: 'Rex', categoryId: 1n, status: 'sold' } as const;
    await expect(pets.add(rex)).rejects.toThrow(ServiceUnavailableError);
    const { id } = await pets.add(rex);
    expect(await pets.find(id)).toEqual({ id, ...rex });
  });

  it('lose nothing that is stored after somebody has left a transaction open', async () => {
    const [pets, dataSource] = [service.app.get(PetRepository), service.app.get(DataSource)];
    const rex = { name: 'Rex', categoryId: 1n, status: 'sold' } as const;
    await dataSource.query('BEGIN');
    const { id } = await pets.add(rex);
    await dataSource.query('BEGIN');
    await dataSource.getRepository(Pet).update({ id }, { name: 'Max' });
    await dataSource.query('BEGIN; SELECT 1 / 0').catch(() => undefined);
    expect(await pets.find(id)).toEqual({ id, ...rex, name: 'Max' });
  });

  it('reject animals that violate a constraint, or that a trigger of the operator rejects, without failing the others in their batch', async () => {
    await service.queryAsAdmin(`
      CREATE FUNCTION reject_poison() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF NEW.name = 'Poison' THEN RAISE EXCEPTION 'rejected'; END IF; RETURN NEW; END
      $$;
      CREATE TRIGGER reject_poison BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION reject_poison()`);
    const pets = service.app.get(PetRepository);
    const outcomes = await Promise.allSettled(
      ['Rex', '', 'Ada', 'Poison', 'Mia'].map((name) => pets.add({ name, categoryId: 1n, status: 'sold' })),
    );
    await service.queryAsAdmin('DROP FUNCTION reject_poison CASCADE');
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true, false, true]);
  });

  describe('never read a date as missing that is not', () => {
    let keys: ApiKeyRepository;
    let key: ApiKey;

    beforeEach(async () => {
      keys = service.app.get(ApiKeyRepository);
      const { id } = await service.app.get(AccountsService).create('Acme', 'free');
      ({ key } = await service.app.get(KeysService).create(id));
    });

    const update = (assignment: string) =>
      service.app.get(DataSource).query(`UPDATE api_keys SET ${assignment} WHERE id = ${key.id}`);
    /** Whether requests with the key are authenticated, and the state that operators see. */
    const readState = async () => {
      const [found] = (await keys.findByHashes([key.hash])).keys;
      const [listed] = await keys.listByAccount(key.accountId);
      const now = Date.now();
      const { expiresAt, revokedAt } = found?.key ?? {};
      return [
        revokedAt === null && (expiresAt === null || Number(expiresAt) > now),
        listed && getKeyState(listed, now),
      ];
    };

    it.each([
      ['infinity as the expiry: the key never expires', `expires_at = 'infinity'`, true, 'active'],
      ['-infinity as the expiry: the key is expired', `expires_at = '-infinity'`, false, 'expired'],
      ['infinity as the revocation: the key is revoked', `revoked_at = 'infinity'`, false, 'revoked'],
      ['-infinity as the revocation: the key is revoked', `revoked_at = '-infinity'`, false, 'revoked'],
    ])('(%s)', async (_, assignment, isValid, state) => {
      await update(assignment);
      expect(await readState()).toEqual([isValid, { name: state }]);
      await service.app.get(KeysService).revoke(key.id);
      expect(await readState()).toEqual([false, { name: 'revoked' }]);
    });

    it.each(['SQL, DMY', 'German', 'Postgres, MDY'])('(in DateStyle %s)', async (style) => {
      await update(`revoked_at = '2026-01-31', expires_at = '2026-02-01'`);
      await service.app.get(UnitOfWork).run(async () => {
        await service.app.get(TypeOrmUnitOfWork).manager.query(`SET LOCAL DateStyle TO ${style}`);
        const [found] = (await keys.findByHashes([key.hash])).keys;
        expect(found?.key).toMatchObject({
          revokedAt: new Date('2026-01-31T00:00:00Z'),
          expiresAt: new Date('2026-02-01T00:00:00Z'),
        });
        await expect(keys.listByAccount(key.accountId)).rejects.toThrow('a date that cannot be read');
      });
    });

    it('(infinity in the audit trail)', async () => {
      await service.queryAsAdmin(
        `INSERT INTO audit_entries (at, operator, action, account_id, details) VALUES ('infinity', 'a', 'erased', 1, '{}')`,
      );
      expect(await service.app.get(AuditTrail).listLatest(1)).toMatchObject([
        { at: new Date('9999-12-31T23:59:59.999Z'), action: 'erased' },
      ]);
    });
  });

  it.each([
    `INSERT INTO pets (name, category_id, status) VALUES ('', 1, 'sold')`,
    `INSERT INTO pets (name, category_id, status) VALUES (E' \\t', 1, 'sold')`,
    `INSERT INTO pets (name, category_id, status) VALUES (repeat('a', 256), 1, 'sold')`,
    `INSERT INTO pets (name, category_id, status) VALUES ('Rex', 1, 'lost')`,
    `INSERT INTO pets (name, category_id, status) VALUES ('Rex', NULL, 'sold')`,
    `INSERT INTO accounts (name, plan, created_at) VALUES ('A', '', now())`,
    `INSERT INTO accounts (name, plan, created_at) VALUES ('A', 'enterprise', now())`,
    `INSERT INTO accounts (name, plan, per_minute, per_day, created_at) VALUES ('A', 'free', 1, 1, now())`,
    `INSERT INTO accounts (name, plan, per_minute, per_day, created_at) VALUES ('A', 'enterprise', 0, 1, now())`,
    `INSERT INTO api_keys (account_id, hash, start, created_at) VALUES (999, sha256('a'), 'abcd', now())`,
    `INSERT INTO api_keys (account_id, hash, start, created_at) VALUES (1, 'short', 'abcd', now())`,
    'UPDATE api_keys SET replaced_by = id, expires_at = now()',
    `UPDATE api_keys SET scope = 'read,write'`,
    `UPDATE api_keys SET scope = ' read'`,
    'UPDATE api_keys SET replaced_by = 1, expires_at = null WHERE id <> 1',
  ])('have their rules enforced by the database: it rejects %s', async (sql) => {
    const { id } = await service.app.get(AccountsService).create('Acme', 'free');
    await service.app.get(KeysService).rotate((await service.app.get(KeysService).create(id)).key.id);
    await expect(service.app.get(DataSource).query(sql)).rejects.toThrow(/violates|null value/);
  });

  it('store when keys were last used, each at most once a minute', async () => {
    const keys = service.app.get(ApiKeyRepository);
    const { id: accountId } = await service.app.get(AccountsService).create('Acme', 'free');
    const ids: bigint[] = [];
    for (const byte of [5, 6, 7]) {
      const secret = { hash: Buffer.alloc(32, byte), start: 'abcd' };
      const scope = 'write';
      ids.push((await keys.add({ accountId, ...secret, scope, createdAt: new Date(0), expiresAt: null })).id);
    }
    const [first = 0n, second = 0n, unused = 0n] = ids;
    const createUse = (keyId: bigint, at: number) => ({ keyId, at: new Date(at) });
    const readLastUses = async () =>
      (await keys.listByAccount(accountId)).map(({ lastUsedAt }) => lastUsedAt?.getTime());
    await keys.recordLastUsed([]);
    expect(await readLastUses()).toEqual([undefined, undefined, undefined]);
    await keys.recordLastUsed([createUse(second, 20_000), createUse(first, 10_000), createUse(unused + 1n, 0)]);
    expect(await readLastUses()).toEqual([10_000, 20_000, undefined]);
    await keys.recordLastUsed([createUse(first, 70_000), createUse(second, 79_999)]);
    expect(await readLastUses()).toEqual([70_000, 20_000, undefined]);
    await keys.recordLastUsed([createUse(first, 10_000)]);
    expect(await readLastUses()).toEqual([70_000, 20_000, undefined]);
  });

  describe('report which accounts have changed since a position', () => {
    let keys: ApiKeyRepository;
    let accountId: bigint;
    let key: ApiKey;

    beforeEach(async () => {
      keys = service.app.get(ApiKeyRepository);
      ({ id: accountId } = await service.app.get(AccountsService).create('Acme', 'free'));
      ({ key } = await service.app.get(KeysService).create(accountId));
    });

    const query = (sql: string) => service.app.get(DataSource).query(sql);
    const readChangesDuring = async (work: () => Promise<unknown>) => {
      const { position } = await keys.findChangesSince(undefined);
      await work();
      const { accountIds } = await keys.findChangesSince(position);
      return accountIds === 'all' ? accountIds : [...accountIds];
    };

    it('(all accounts, if no position is given)', async () => {
      expect((await keys.findChangesSince(undefined)).accountIds).toBe('all');
    });

    it.each<[string, () => Promise<unknown>]>([
      ['a new plan', () => service.app.get(AccountsService).setPlan(accountId, 'pro')],
      ['a revocation', () => service.app.get(KeysService).revoke(key.id)],
      ['a rotation', () => service.app.get(KeysService).rotate(key.id)],
      ['a lifted ban', () => service.app.get(KeysService).unban(key.id)],
      ['a key that is deleted by hand', () => query(`DELETE FROM api_keys WHERE id = ${key.id}`)],
      [
        'a key that an operator moves to another account with SQL',
        () => query(`UPDATE api_keys SET account_id = 1 WHERE id = ${key.id}`),
      ],
    ])('(after %s)', async (_, change) => {
      expect(await readChangesDuring(change)).toEqual([accountId]);
    });

    it('(none after the last use of a key, which is stored every minute)', async () => {
      const recordUse = () => keys.recordLastUsed([{ keyId: key.id, at: new Date(5) }]);
      expect(await readChangesDuring(recordUse)).toEqual([]);
    });

    it('(all accounts after very many changes, or in another database)', async () => {
      expect(
        await readChangesDuring(() =>
          query(`INSERT INTO accounts (name, plan, created_at) SELECT 'Many', 'free', now() FROM generate_series(1, 1001);
                 UPDATE accounts SET plan = 'pro' WHERE name = 'Many'`),
        ),
      ).toBe('all');
      const { position } = await keys.findChangesSince(undefined);
      expect((await keys.findChangesSince({ ...position, source: 'another' })).accountIds).toBe('all');
    });

    it('(none after changes that a restored dump brought from another server)', async () => {
      await query(`INSERT INTO auth_changes (transaction_id, account_id) VALUES ('4611686018427387904', ${accountId})`);
      expect(await readChangesDuring(() => Promise.resolve())).toEqual([]);
    });

    it('(with an index scan, however many changes there are)', async () => {
      const plan: unknown = await service.app.get(DataSource).transaction(async (manager) => {
        await manager.query(
          `INSERT INTO auth_changes (transaction_id, account_id) SELECT '3', 1 FROM generate_series(1, 10000)`,
        );
        await manager.query('ANALYZE auth_changes');
        await manager.query('SET LOCAL plan_cache_mode = force_generic_plan');
        await manager.query(`PREPARE changes (text) AS ${FIND_CHANGES_SINCE.text}`);
        const explained: unknown = await manager.query(
          `EXPLAIN (FORMAT JSON) EXECUTE changes (pg_current_snapshot()::text)`,
        );
        await manager.query('DEALLOCATE changes');
        return explained;
      });
      expect(JSON.stringify(plan)).toContain('"Index Name":"auth_changes_transaction_id"');
    });
  });

  it('report that all accounts may have changed when their table is truncated', async () => {
    const other = await TestService.start();
    const keys = other.app.get(ApiKeyRepository);
    const { position } = await keys.findChangesSince(undefined);
    await other.queryAsAdmin('TRUNCATE api_keys, accounts CASCADE');
    expect((await keys.findChangesSince(position)).accountIds).toBe('all');
    await other.close();
  });

  it('list all accounts by ascending ID, however many there are', async () => {
    const accounts = service.app.get(AccountRepository);
    const before = await accounts.list();
    await service.queryAsAdmin(
      "INSERT INTO accounts (name, plan, created_at) SELECT 'One of many', 'free', now() FROM generate_series(1, 10001)",
    );
    const ids = (await accounts.list()).map(({ id }) => id);
    expect(ids).toHaveLength(before.length + 10_001);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => (a < b ? -1 : 1)));
    // A DELETE takes seconds, in which the embedded database serves no other test.
    await service.queryAsAdmin('TRUNCATE accounts CASCADE');
  });

  it('return numbers also after a newer version has made their columns larger', async () => {
    const other = await TestService.start();
    const account = await other.app
      .get(AccountsService)
      .create('Acme', 'enterprise', { perMinute: 5, perDay: 1_000_000_000 });
    const { key } = await other.app.get(KeysService).create(account.id);
    const setTypes = (type: string) =>
      other.queryAsAdmin(`
        ALTER TABLE accounts ALTER COLUMN per_minute TYPE ${type}, ALTER COLUMN per_day TYPE ${type};
        ALTER TABLE api_keys ALTER COLUMN unbans TYPE ${type}`);
    await setTypes('bigint');
    const stored = [await other.app.get(AccountRepository).find(account.id)];
    const keys = await other.app.get(KeysService).list(account.id);
    await setTypes('integer');
    await other.close();
    expect(stored).toEqual([account]);
    expect(keys).toEqual([key]);
  });

  it('join the current transaction when a nested one is requested', async () => {
    const [accounts, unitOfWork] = [service.app.get(AccountRepository), service.app.get(UnitOfWork)];
    const before = await accounts.list();
    const failing = unitOfWork.run(async () => {
      await unitOfWork.run(() => accounts.add(createAccount('Acme', 'pro', {}, 0)));
      throw new Error('it failed after all');
    });
    await expect(failing).rejects.toThrow('it failed after all');
    expect(await accounts.list()).toEqual(before);
  });

  it('use no transaction that has ended, in work that was started in it', async () => {
    const [accounts, unitOfWork] = [service.app.get(AccountRepository), service.app.get(UnitOfWork)];
    const latch = new EventEmitter();
    const ended = once(latch, 'ended');
    const list = async () => {
      await ended;
      return [await accounts.list(), await unitOfWork.run(() => accounts.list())];
    };
    const [listed] = await unitOfWork.run(() => Promise.resolve([list()]));
    latch.emit('ended');
    const all = await accounts.list();
    expect(await listed).toEqual([all, all]);
  });

  it('store nothing of a unit of work that has failed, also if another branch of it goes on', async () => {
    const [accounts, unitOfWork] = [service.app.get(AccountRepository), service.app.get(UnitOfWork)];
    const before = await accounts.list();
    const latch = new EventEmitter();
    const failed = once(latch, 'failed');
    let isAnnounced = false;
    const goOn = async (store: () => Promise<unknown>) => {
      await failed;
      await store();
    };
    const add = () => accounts.add(createAccount('Acme', 'pro', {}, 0));
    const branches = [
      add,
      () => unitOfWork.run(add),
      async () => {
        unitOfWork.afterCommit(() => (isAnnounced = true));
        await Promise.resolve();
      },
    ].map((store) => () => goOn(store));
    let outcomes: Promise<PromiseSettledResult<void>[]> | undefined;
    const failing = unitOfWork.run(async () => {
      await add();
      outcomes = Promise.allSettled(branches.map((branch) => branch()));
      throw new Error('it failed after all');
    });
    await expect(failing).rejects.toThrow('it failed after all');
    latch.emit('failed');
    expect((await outcomes)?.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect([await accounts.list(), isAnnounced]).toEqual([before, false]);
  });

  it('give up a unit of work whose session has ended, so that others can write', async () => {
    const [accounts, unitOfWork] = [service.app.get(AccountRepository), service.app.get(TypeOrmUnitOfWork)];
    const hang = async () => {
      const client = (await (unitOfWork.manager.queryRunner as PostgresQueryRunner).connect()) as PoolClient;
      void client.end();
      await new Promise(() => undefined);
    };
    for (let count = 0; count < 10; count++) {
      await expect(unitOfWork.run(hang)).rejects.toThrow(ServiceUnavailableError);
    }
    await unitOfWork.run(() => accounts.add(createAccount('Acme', 'pro', {}, 0)));
  });

  it('run work after the outermost transaction has been stored, and only then', async () => {
    const [accounts, unitOfWork] = [service.app.get(AccountRepository), service.app.get(UnitOfWork)];
    const found: Promise<boolean>[] = [];
    const isStored = (id: bigint) => service.app.get(DataSource).getRepository(Account).existsBy({ id });
    const add = async () => {
      const account = await accounts.add(createAccount('Acme', 'pro', {}, 0));
      unitOfWork.afterCommit(() => found.push(isStored(account.id)));
    };
    await unitOfWork.run(async () => {
      await unitOfWork.run(add);
      expect(found).toEqual([]);
    });
    const failing = unitOfWork.run(async () => {
      await add();
      throw new Error('it failed after all');
    });
    await expect(failing).rejects.toThrow('it failed after all');
    await add();
    expect(await Promise.all(found)).toEqual([true, true]);
  });

  it('stay open when the service stops, until the work after commits has been stored', async () => {
    const other = await TestService.start();
    const [accounts, unitOfWork] = [other.app.get(AccountRepository), other.app.get(UnitOfWork)];
    const stopping = new EventEmitter();
    const stopped = once(stopping, 'stopping');
    let announced: Promise<Account> | undefined;
    await unitOfWork.run(() => {
      unitOfWork.afterCommit(async () => {
        await stopped;
        announced = unitOfWork.run(() => accounts.add(createAccount('Acme', 'pro', {}, 0)));
        await announced;
      });
      return Promise.resolve();
    });
    const closed = other.close();
    setImmediate(() => stopping.emit('stopping'));
    await closed;
    expect(await announced).toMatchObject({ name: 'Acme' });
  });

  it('fail if a statement has failed, also if the work catches its error: PostgreSQL stores nothing then', async () => {
    const [accounts, unitOfWork] = [service.app.get(AccountRepository), service.app.get(UnitOfWork)];
    const before = await accounts.list();
    const addAndFail = async () => {
      await accounts.add(createAccount('Acme', 'pro', {}, 0));
      return [
        service.app
          .get(TypeOrmUnitOfWork)
          .manager.query('SELECT 1 / 0')
          .catch(() => undefined),
      ];
    };
    const message = 'Nothing was stored, because a statement of the transaction has failed';
    await expect(unitOfWork.run(addAndFail)).rejects.toThrow(message);
    await expect(unitOfWork.run(async () => Promise.all(await addAndFail()))).rejects.toThrow(message);
    expect(await accounts.list()).toEqual(before);
  });

  it('record a change together with the change itself, or neither', async () => {
    const [accounts, audit] = [service.app.get(AccountRepository), service.app.get(AuditTrail)];
    const unitOfWork = service.app.get(UnitOfWork);
    const create = async () => {
      const account = await accounts.add(createAccount('Acme', 'pro', {}, 0));
      await audit.record({
        action: 'account_created',
        accountId: account.id,
        keyId: MAX,
        details: { name: 'Acme', id: MAX },
      });
      return account;
    };
    const account = await unitOfWork.run(create);
    const [before, entry] = await audit.listLatest(2);
    expect(entry).toEqual({
      id: expect.any(BigInt) as bigint,
      at: new Date(service.clock.now()),
      operator: getOperatingSystemUser(),
      action: 'account_created',
      accountId: account.id,
      keyId: MAX,
      details: { name: 'Acme', id: MAX },
    });
    expect(before?.id).toBeLessThan(entry?.id ?? 0n);

    const failing = unitOfWork.run(async () => {
      await create();
      throw new Error('it failed after all');
    });
    await expect(failing).rejects.toThrow('it failed after all');
    expect((await accounts.list()).at(-1)).toEqual(account);
    expect(await audit.listLatest(1)).toEqual([entry]);
  });

  it.each([
    `UPDATE audit_entries SET operator = 'nobody'`,
    `UPDATE audit_entries SET operator = 'nobody' WHERE false`,
    `DELETE FROM audit_entries WHERE id = 1`,
    'TRUNCATE audit_entries',
    `INSERT INTO audit_entries (id, at, operator, action, account_id, details) OVERRIDING SYSTEM VALUE
     SELECT id, at, 'nobody', action, account_id, details FROM audit_entries ORDER BY id LIMIT 1
     ON CONFLICT (id) DO UPDATE SET operator = excluded.operator`,
  ])('keep the audit trail append-only: %s', async (sql) => {
    const audit = service.app.get(AuditTrail);
    await service.app.get(AccountsService).create('Acme', 'pro');
    const before = await audit.listLatest(10_000);
    await expect(service.queryAsAdmin(sql)).rejects.toThrow('audit_entries is append-only');
    expect(await audit.listLatest(10_000)).toEqual(before);
  });

  it('share keys and audit entries with an older version during a rollout: each reads those of both', async () => {
    const { id } = await service.app.get(AccountsService).create('Acme', 'free');
    const writeAsOlderVersion = (text: string) =>
      service.queryAsAdmin(`
        INSERT INTO api_keys (account_id, hash, first_characters, created_at)
        VALUES (${id}, sha256('${text}'), '${text}', now());
        INSERT INTO audit_entries (at, operator, act, account_id, details) VALUES (now(), 'a', '${text}', ${id}, '{}')`);
    const readAsOlderVersion = async (column: string, table: string, limit: number) => {
      const sql = `SELECT ${column} AS text FROM ${table} ORDER BY id DESC LIMIT ${limit}`;
      const rows: { text: string }[] = await service.app.get(DataSource).query(sql);
      return rows.map(({ text }) => text).reverse();
    };

    const runner = { query: (sql: string) => service.queryAsAdmin(sql) } as unknown as QueryRunner;
    const migration = new RenameKeyStartAndAuditAction1795788000000();
    await migration.down(runner);
    await writeAsOlderVersion('old1');
    await migration.up(runner);
    await writeAsOlderVersion('old2');
    const { key } = await service.app.get(KeysService).create(id);

    const starts = ['old1', 'old2', key.start];
    const actions = ['account_created', 'old1', 'old2', 'key_created'];
    const keys = await service.app.get(ApiKeyRepository).listByAccount(id);
    expect(keys.map(({ start }) => start)).toEqual(starts);
    const entries = await service.app.get(AuditTrail).listLatest(actions.length);
    expect(entries.map(({ action }) => action)).toEqual(actions);
    expect(await readAsOlderVersion('first_characters', 'api_keys', starts.length)).toEqual(starts);
    expect(await readAsOlderVersion('act', 'audit_entries', actions.length)).toEqual(actions);
  });
});
