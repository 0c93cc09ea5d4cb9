import { RenameKeyStartAndAuditAction1795788000000 } from '../../src/auth/persistence/rename-key-start-and-audit-action.migration';
import { getMigrationNames } from '../support/migrations';
import { runCommand, readJson } from '../support/command-line';
import { queryAsAdmin } from '../support/worker-database';

const [newest = ''] = getMigrationNames().reverse();

describe('petstore migrate', () => {
  const asPending = async (migration: string, work: () => Promise<void>) => {
    const [row] = await queryAsAdmin('DELETE FROM migrations WHERE name = $1 RETURNING *', [migration]);
    try {
      await work();
    } finally {
      await queryAsAdmin('INSERT INTO migrations VALUES ($1, $2, $3)', [row?.id, row?.timestamp, row?.name]);
    }
  };

  it('lists applied migrations in order with --status', async () => {
    expect(await readJson('migrate --status')).toEqual(
      getMigrationNames().map((migration) => ({ migration, state: 'applied' })),
    );
    expect((await runCommand('migrate --status')).stdout).toMatch(/^migration +state\n\w+ +applied\n/);
  });

  it('lists pending migrations with --status, and changes nothing', async () => {
    await asPending(newest, async () => {
      const last = { migration: newest, state: 'pending' };
      expect((await readJson<object[]>('migrate --status')).at(-1)).toEqual(last);
      expect((await readJson<object[]>('migrate --status')).at(-1)).toEqual(last);
    });
  });

  it('lists migrations of a newer version as unknown with --status', async () => {
    await queryAsAdmin(`INSERT INTO migrations (timestamp, name) VALUES (1, 'FromTheFuture1')`);
    try {
      expect(await readJson('migrate --status')).toContainEqual({ migration: 'FromTheFuture1', state: 'unknown' });
    } finally {
      await queryAsAdmin(`DELETE FROM migrations WHERE name = 'FromTheFuture1'`);
    }
  });

  it('prints the SQL of pending migrations with --dry-run, and does not run it', async () => {
    // A migration of the service itself: those of other modules may have any number of statements.
    const { name: migration } = RenameKeyStartAndAuditAction1795788000000;
    await asPending(migration, async () => {
      const [plan] = await readJson<[{ migration: string; statements: [string] }]>('migrate --dry-run');
      expect(plan).toEqual({ migration, statements: [expect.stringMatching(/^(ALTER|CREATE) TABLE /)] });
      const { stdout } = await runCommand('migrate --dry-run');
      expect(stdout).toBe(`-- ${migration}\n${plan.statements.join(';\n').replace(/;?$/, ';')}\n`);
      expect((await readJson<object[]>('migrate --status')).at(-1)).toMatchObject({ state: 'pending' });
    });
  });

  it('reports with --dry-run that no migration is pending', async () => {
    expect(await readJson('migrate --dry-run')).toEqual([]);
    expect((await runCommand('migrate --dry-run')).stdout).toBe('The schema is up to date.\n');
  });
});
