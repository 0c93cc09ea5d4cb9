import { Client } from 'pg';
import { getMigrationNames } from '../support/migrations';
import { runCommand, readJson } from '../support/command-line';
import { ADMIN_DATABASE_URL } from '../support/worker-database';

const [newest = ''] = getMigrationNames().reverse();

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

  it('lists applied migrations in order with --status', async () => {
    expect(await readJson('migrate --status')).toEqual(
      getMigrationNames().map((migration) => ({ migration, state: 'applied' })),
    );
    expect((await runCommand('migrate --status')).stdout).toMatch(/^migration +state\n\w+ +applied\n/);
  });

  it('lists pending migrations with --status, and changes nothing', async () => {
    await asPending(async () => {
      const last = { migration: newest, state: 'pending' };
      expect((await readJson<object[]>('migrate --status')).at(-1)).toEqual(last);
      expect((await readJson<object[]>('migrate --status')).at(-1)).toEqual(last);
    });
  });

  it('lists migrations of a newer version as unknown with --status', async () => {
    await database.query(`INSERT INTO migrations (timestamp, name) VALUES (1, 'FromTheFuture1')`);
    try {
      expect(await readJson('migrate --status')).toContainEqual({ migration: 'FromTheFuture1', state: 'unknown' });
    } finally {
      await database.query(`DELETE FROM migrations WHERE name = 'FromTheFuture1'`);
    }
  });

  it('prints the SQL of pending migrations with --dry-run, and does not run it', async () => {
    await asPending(async () => {
      const [plan] = await readJson<[{ migration: string; statements: [string] }]>('migrate --dry-run');
      expect(plan).toEqual({ migration: newest, statements: [expect.stringMatching(/^(ALTER|CREATE) TABLE /)] });
      const { stdout } = await runCommand('migrate --dry-run');
      expect(stdout).toBe(`-- ${newest}\n${plan.statements.join(';\n').replace(/;?$/, ';')}\n`);
      expect((await readJson<object[]>('migrate --status')).at(-1)).toMatchObject({ state: 'pending' });
    });
  });

  it('reports with --dry-run that no migration is pending', async () => {
    expect(await readJson('migrate --dry-run')).toEqual([]);
    expect((await runCommand('migrate --dry-run')).stdout).toBe('The schema is up to date.\n');
  });
});
