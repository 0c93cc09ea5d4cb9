import { DataSource } from 'typeorm';
import { AccountsService } from '../../src/auth';
import { ApiKeyRepository } from '../../src/auth/domain/api-key.repository';
import { PetRepository } from '../../src/pets/domain/pet.repository';
import { TestService } from '../support/service';

const MAX = 2n ** 63n - 1n;

describe('The repositories, on the database of this run', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.close());

  it('keep an animal as it is, with bigint ids', async () => {
    const pets = service.app.get(PetRepository);
    const added = await pets.add({ name: ' Rex ', categoryId: MAX, status: 'sold' });
    expect(added).toEqual({ id: 1n, name: ' Rex ', categoryId: MAX, status: 'sold' });
    expect(await pets.find(1n)).toEqual(added);
    expect(await pets.find(MAX)).toBeNull();
  });

  it('list by ascending id, after an id, of one status, no more than asked for', async () => {
    const pets = service.app.get(PetRepository);
    for (const status of ['pending', 'sold', 'pending', 'pending'] as const) {
      await pets.add({ name: 'Rex', categoryId: -1n, status });
    }
    const ids = async (status: 'pending' | undefined, after: bigint, limit: number) =>
      (await pets.list({ status, after, limit })).map(({ id }) => id);
    expect(await ids(undefined, 0n, 100)).toEqual([1n, 2n, 3n, 4n, 5n]);
    expect(await ids('pending', 2n, 1)).toEqual([4n]);
    expect(await ids('pending', MAX, 100)).toEqual([]);
  });

  it('find a key with its account by its hash, revoke it once, and give no other for it', async () => {
    const [accounts, keys] = [service.app.get(AccountsService), service.app.get(ApiKeyRepository)];
    const account = await accounts.create('Acme', 'enterprise', { perMinute: 5, perDay: 1_000_000_000 });
    const created = { accountId: account.id, firstCharacters: 'abcd', createdAt: new Date(5), expiresAt: new Date(9) };
    const key = await keys.add({ ...created, hash: Buffer.alloc(32, 1) });
    expect(await keys.findByHash(Buffer.alloc(32, 1))).toMatchObject({ key, account });
    expect(await keys.findByHash(Buffer.alloc(32, 2))).toBeNull();
    expect(await keys.revoke(key.id, new Date(7))).toEqual({ ...key, revokedAt: new Date(7) });
    expect(await keys.revoke(key.id, new Date(8))).toEqual({ ...key, revokedAt: new Date(7) });
    expect(await keys.revoke(key.id + 1n, new Date(8))).toBeNull();
    expect(await keys.listOf(account.id)).toHaveLength(1);
  });

  it.each([
    `INSERT INTO pets (name, category_id, status) VALUES ('', 1, 'sold')`,
    `INSERT INTO pets (name, category_id, status) VALUES (E' \\t', 1, 'sold')`,
    `INSERT INTO pets (name, category_id, status) VALUES (repeat('a', 256), 1, 'sold')`,
    `INSERT INTO pets (name, category_id, status) VALUES ('Rex', 1, 'lost')`,
    `INSERT INTO pets (name, category_id, status) VALUES ('Rex', NULL, 'sold')`,
    `INSERT INTO accounts (name, plan, created_at) VALUES ('A', 'gold', now())`,
    `INSERT INTO accounts (name, plan, created_at) VALUES ('A', 'enterprise', now())`,
    `INSERT INTO accounts (name, plan, per_minute, per_day, created_at) VALUES ('A', 'free', 1, 1, now())`,
    `INSERT INTO accounts (name, plan, per_minute, per_day, created_at) VALUES ('A', 'enterprise', 0, 1, now())`,
    `INSERT INTO api_keys (account_id, hash, first_characters, created_at) VALUES (999, sha256('a'), 'abcd', now())`,
    `INSERT INTO api_keys (account_id, hash, first_characters, created_at) VALUES (1, 'short', 'abcd', now())`,
  ])('the database refuses %s', async (sql) => {
    await expect(service.app.get(DataSource).query(sql)).rejects.toThrow(/violates|null value/);
  });

  it('both orders of listing are served by an index', async () => {
    const dataSource = service.app.get(DataSource);
    await dataSource.query(
      `INSERT INTO pets (name, category_id, status) SELECT 'x', 1, 'pending' FROM generate_series(1, 5000)`,
    );
    await dataSource.query('ANALYZE pets');
    const plan = async (where: string) =>
      JSON.stringify(await dataSource.query(`EXPLAIN SELECT * FROM pets WHERE ${where} ORDER BY id LIMIT 21`));
    expect(await plan('id > 4000')).toContain('Index Scan using pets_pkey');
    expect(await plan(`id > 100 AND status = 'sold'`)).toContain('Index Scan using pets_status_id');
  });
});
