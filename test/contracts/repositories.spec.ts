import { DataSource } from 'typeorm';
import { AccountsService } from '../../src/auth';
import { ApiKeyRepository } from '../../src/auth/domain/api-key.repository';
import { PetPages } from '../../src/pets/domain/pet-pages';
import { PetRepository } from '../../src/pets/domain/pet.repository';
import { parseJson } from '../../src/shared/http/json';
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
    const page = async (status: 'pending' | undefined, after: bigint, limit: number) => {
      const { json, next } = await service.app.get(PetPages).page({ status, after, limit });
      return { ids: (JSON.parse(json) as { id: number }[]).map(({ id }) => id), next };
    };
    expect(await page(undefined, 0n, 100)).toEqual({ ids: [1, 2, 3, 4, 5], next: undefined });
    expect(await page(undefined, 0n, 5)).toEqual({ ids: [1, 2, 3, 4, 5], next: undefined });
    expect(await page(undefined, 0n, 4)).toEqual({ ids: [1, 2, 3, 4], next: 4n });
    expect(await page('pending', 2n, 1)).toEqual({ ids: [4], next: 4n });
    expect(await page('pending', MAX, 100)).toEqual({ ids: [], next: undefined });
  });

  it('write a page as JSON, whatever the names are', async () => {
    const [pets, pages] = [service.app.get(PetRepository), service.app.get(PetPages)];
    const names = ['{"id":7,"name":"', '"},{"id":8,', '\\"{\n\u0001\u2028</script>', '\ud83d\ude00', ',{"id":'];
    for (const name of names) {
      await pets.add({ name, categoryId: -MAX, status: 'sold' });
    }
    for (let after: bigint | undefined = 5n, read = 0; after !== undefined; read++) {
      const { json, next } = await pages.page({ status: undefined, after, limit: 1 });
      expect(parseJson(json)).toEqual([{ id: BigInt(6 + read), name: names[read], categoryId: -MAX, status: 'sold' }]);
      after = next;
    }
  });

  it('give each of many animals that are added at the same time its own id', async () => {
    const pets = service.app.get(PetRepository);
    const added = await Promise.all(
      Array.from({ length: 500 }, (_, i) => pets.add({ name: `Animal ${i}`, categoryId: BigInt(i), status: 'sold' })),
    );
    expect(new Set(added.map(({ id }) => id)).size).toBe(500);
    for (const pet of [added[0], added[250], added[499]]) {
      expect(await pets.find(pet?.id ?? 0n)).toEqual(pet);
    }
  });

  it('refuse one animal that breaks a rule of the database without the others that come with it', async () => {
    const pets = service.app.get(PetRepository);
    const outcomes = await Promise.allSettled(
      ['Rex', '', 'Ada'].map((name) => pets.add({ name, categoryId: 1n, status: 'sold' })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
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
