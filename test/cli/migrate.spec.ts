import { Client } from 'pg';
import { migrations } from '../support/migrations';
import { command, json } from '../support/command-line';
import { ADMIN_DATABASE_URL } from '../support/worker-database';

const [newest = ''] = migrations().reverse();

describe('petstore migrate', () => {
  let database: Client;

  beforeAll(async () => {
    database = new Client({ connectionString: ADMIN_DATABASE_URL });
    await database.connect();
  });
  afterAll(() => database.end());

  const asPending = async (work: () => Promise<void>) => {
    const { rows } = await database.query('DELETE FROM migrations WHERE name = $1 RETURNING *', [newest]);
    const [{ id, timestamp, name }] = rows as [Record<string, unknown>];
    try {
      await work();
    } finally {
      await database.query('INSERT INTO migrations VALUES ($1, $2, $3)', [id, timestamp, name]);
    }
  };

  it('lists with --status what is applied, in the order it runs', async () => {
    expect(await json('migrate --status')).toEqual(migrations().map((migration) => ({ migration, state: 'applied' })));
    expect((await command('migrate --status')).stdout).toMatch(/^migration +state\n\w+ +applied\n/);
  });

  it('lists with --status what is pending, and changes nothing', async () => {
    await asPending(async () => {
      const last = { migration: newest, state: 'pending' };
      expect((await json<object[]>('migrate --status')).at(-1)).toEqual(last);
      expect((await json<object[]>('migrate --status')).at(-1)).toEqual(last);
    });
  });

  it('lists with --status what a newer version has applied as unknown', async () => {
    await database.query(`INSERT INTO migrations (timestamp, name) VALUES (1, 'FromTheFuture1')`);
    try {
      expect(await json('migrate --status')).toContainEqual({ migration: 'FromTheFuture1', state: 'unknown' });
    } finally {
      await database.query(`DELETE FROM migrations WHERE name = 'FromTheFuture1'`);
    }
  });

  it('prints with --dry-run the SQL that would run, and runs none of it', async () => {
    await asPending(async () => {
      const [plan] = await json<[{ migration: string; statements: [string] }]>('migrate --dry-run');
      expect(plan).toEqual({ migration: newest, statements: [expect.stringMatching(/^(ALTER|CREATE) TABLE /)] });
      const { stdout } = await command('migrate --dry-run');
      expect(stdout).toBe(`-- ${newest}\n${plan.statements.join(';\n')};\n`);
      expect((await json<object[]>('migrate --status')).at(-1)).toMatchObject({ state: 'pending' });
    });
  });

  it('says with --dry-run when nothing would run', async () => {
    expect(await json('migrate --dry-run')).toEqual([]);
    expect((await command('migrate --dry-run')).stdout).toBe('The schema is up to date.\n');
  });
});
