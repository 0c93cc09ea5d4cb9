import { createHash } from 'node:crypto';
import { userInfo } from 'node:os';
import { command, json } from '../support/command-line';

describe('petstore, the command line', () => {
  it('creates an account, and lists it', async () => {
    const account = await json<object>('accounts create --name Acme --plan enterprise --per-minute 5 --per-day 50');
    expect(account).toMatchObject({ name: 'Acme', plan: 'enterprise', perMinute: 5, perDay: 50 });
    expect(await json<object[]>('accounts list')).toContainEqual(account);
  });

  it('puts an account on another plan, and records the old and the new one', async () => {
    const account = await json<{ id: number }>('accounts create --name Acme --plan free');
    const changed = await json<object>(`accounts set-plan ${account.id} --plan enterprise --per-minute 5 --per-day 50`);
    expect(changed).toEqual({ ...account, plan: 'enterprise', perMinute: 5, perDay: 50 });
    expect(await json<object[]>('accounts list')).toContainEqual(changed);
    expect(await json('audit --limit 1')).toMatchObject([
      {
        ...{ act: 'plan_set', accountId: account.id, keyId: null },
        details: {
          ...{ oldPlan: 'free', oldPerMinute: 60, oldPerDay: 1_000 },
          ...{ plan: 'enterprise', perMinute: 5, perDay: 50 },
        },
      },
    ]);
    expect(await json(`accounts set-plan ${account.id} --plan pro`)).toMatchObject({ perMinute: 300, perDay: 10_000 });
  });

  it.each(['--plan enterprise', '--plan enterprise --per-day 5', '--plan pro --per-day 5'])(
    'leaves an account as it is when its plan cannot be set with "%s"',
    async (options) => {
      const account = await json<{ id: number }>('accounts create --name Acme --plan free');
      const [last] = await json<object[]>('audit --limit 1');
      const { code, stderr } = await command(`accounts set-plan ${account.id} ${options}`);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^error: The .+ plan.+\.\n$/);
      expect(await json<object[]>('accounts list')).toContainEqual(account);
      expect(await json('audit --limit 1')).toEqual([last]);
    },
  );

  it('issues a key and shows it once; lists it, and revokes it', async () => {
    const { id: accountId } = await json<{ id: number }>('accounts create --name Acme --plan free');
    const { key, ...issued } = await json<{ id: number; key: string }>(`keys create --account ${accountId}`);
    expect(key).toMatch(/^pets_test_\w{49}$/);
    expect(issued).toMatchObject({ accountId, startsWith: key.slice(0, 14), revokedAt: null });
    expect(await json(`keys list --account ${accountId}`)).toEqual([issued]);
    const revoked = await json<object>(`keys revoke ${issued.id}`);
    expect(revoked).toEqual({ ...issued, revokedAt: expect.any(String) as string });
    expect(await json(`keys list --account ${accountId}`)).toEqual([revoked]);
  });

  it('prints tables for people', async () => {
    await command('accounts create --name Gamma --plan pro');
    const { code, stdout } = await command('accounts list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^id +name +plan +perMinute +perDay +createdAt\n/);
    expect(stdout).toMatch(/\n\d+ +Gamma +pro +300 +10000 +\d{4}-/);
  });

  it('says that there is nothing, in words for people and as an empty list for programs', async () => {
    const { id } = await json<{ id: number }>('accounts create --name Delta --plan free');
    expect((await command(`keys list --account ${id}`)).stdout).toBe('None.\n');
    expect(await json(`keys list --account ${id}`)).toEqual([]);
  });

  it('shows who did what to an account and its keys, newest last, without a secret or a hash', async () => {
    const { id } = await json<{ id: number }>(
      'accounts create --name Acme --plan enterprise --per-minute 5 --per-day 9',
    );
    const issued = await json<{ id: number; key: string }>(`keys create --account ${id}`);
    await command(`keys revoke ${issued.id}`);
    await command(`keys revoke ${issued.id}`);
    const entries = await json<{ operator: string; at: string }[]>('audit --limit 3');
    const [operator, at] = [userInfo().username, expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string];
    expect(entries).toMatchObject([
      {
        ...{ operator, at, act: 'account_created', accountId: id, keyId: null },
        details: { name: 'Acme', plan: 'enterprise', perMinute: 5, perDay: 9 },
      },
      { operator, at, act: 'key_created', accountId: id, keyId: issued.id, details: { expiresAt: null } },
      { operator, at, act: 'key_revoked', accountId: id, keyId: issued.id, details: {} },
    ]);
    const { stdout } = await command('audit --limit 2');
    expect(stdout).toMatch(/^id +at +operator +act +accountId +keyId +details\n/);
    expect(stdout).toMatch(/\n\d+ +\S+Z +\S+ +key_created +\d+ +\d+ +expiresAt: none\n/);
    const printed = stdout + JSON.stringify(entries);
    const hash = createHash('sha256').update(issued.key).digest();
    for (const secret of [issued.key.slice(10), hash.toString('hex'), hash.toString('base64')]) {
      expect(printed).not.toContain(secret);
    }
  });

  it.each([
    'accounts create --name A --plan gold',
    'accounts create --plan free',
    'accounts create --name A --plan enterprise',
    'accounts create --name A --plan enterprise --per-minute 0 --per-day 5',
    'accounts create --name A --plan enterprise --per-minute 1.5 --per-day 5',
    'accounts create --name A --plan free --per-minute 5',
    'accounts set-plan --plan pro',
    'accounts set-plan 1',
    'accounts set-plan abc --plan pro',
    'keys create',
    'keys create --account abc',
    'keys revoke',
    'keys revoke -1',
    'keys revoke 1 2',
    'audit --limit 0',
    'audit --limit 10001',
    'nonsense',
    'accounts nonsense',
    'accounts list --nonsense',
  ])('refuses "%s" with a clear line and exit 2', async (line) => {
    const { code, stdout, stderr } = await command(line);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: .+\n/);
  });

  it.each([
    'accounts set-plan 999 --plan pro',
    'keys create --account 999',
    'keys list --account 999',
    'keys revoke 999',
  ])('says that "%s" names nothing, with exit 1', async (line) => {
    const { code, stdout, stderr } = await command(`${line} --json`);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^error: No (account|key) has the id 999\.\n$/);
  });

  it.each([
    '--help',
    'accounts --help',
    'accounts create --help',
    'keys revoke --help',
    'audit --help',
    'migrate --help',
    'openapi --help',
  ])('explains itself: %s', async (line) => {
    const { code, stdout } = await command(line);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: petstore/);
  });

  it('says in one line what is wrong with a setting', async () => {
    const { code, stderr } = await command('accounts list', { PORT: 'abc' });
    expect([code, stderr]).toEqual([1, 'error: PORT must be a whole number from 1 to 65535.\n']);
  });
});
