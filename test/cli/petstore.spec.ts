import { createHash } from 'node:crypto';
import { userInfo } from 'node:os';
import { runCommand, readJson } from '../support/command-line';
import { Printer } from '../../src/cli/printer';
import { version } from '../../package.json';
import { queryAsAdmin } from '../support/worker-database';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const NO_END = { expiresAt: null, replacedBy: null, revokedAt: null };

interface CreatedKey {
  readonly id: number;
  readonly accountId: number;
  readonly key: string;
}

const createAccount = () => readJson<{ id: number }>('accounts create --name Acme --plan free');
/** Creates a key of a new account. */
const createKey = async (options = '') => readJson<CreatedKey>(`keys create ${(await createAccount()).id}${options}`);

describe('The petstore command', () => {
  it('creates an account, and lists it', async () => {
    const account = await readJson<object>('accounts create --name Acme --plan enterprise --per-minute 5 --per-day 50');
    expect(account).toMatchObject({ name: 'Acme', plan: 'enterprise', perMinute: 5, perDay: 50 });
    expect(await readJson<object[]>('accounts list')).toContainEqual(account);
  });

  it('prints a table of any number of rows', () => {
    let output = '';
    const terminal = { write: (text: string) => (output += text), writeError: () => undefined };
    new Printer({}, terminal, () => ({})).printList(
      Array.from({ length: 200_000 }, (_, id) => ({ id, name: 'Acme' })),
      '',
    );
    expect(output.split('\n').slice(0, 2)).toEqual(['id      name', '0       Acme']);
    expect(output.split('\n')).toHaveLength(200_002);
  });

  it('changes the plan of an account, and records the old and the new one', async () => {
    const account = await createAccount();
    const changed = await readJson<object>(
      `accounts set-plan ${account.id} --plan enterprise --per-minute 5 --per-day 50`,
    );
    expect(changed).toEqual({ ...account, plan: 'enterprise', perMinute: 5, perDay: 50 });
    expect(await readJson<object[]>('accounts list')).toContainEqual(changed);
    expect(await readJson('audit --limit 1')).toMatchObject([
      {
        ...{ action: 'plan_set', accountId: account.id, keyId: null },
        details: {
          ...{ oldPlan: 'free', oldPerMinute: 60, oldPerDay: 1_000 },
          ...{ plan: 'enterprise', perMinute: 5, perDay: 50 },
        },
      },
    ]);
    expect(await readJson(`accounts set-plan ${account.id} --plan pro`)).toMatchObject({
      perMinute: 300,
      perDay: 10_000,
    });
  });

  it.each(['--plan enterprise', '--plan enterprise --per-day 5', '--plan pro --per-day 5'])(
    'leaves an account unchanged if its plan cannot be set with "%s"',
    async (options) => {
      const account = await createAccount();
      const [last] = await readJson<object[]>('audit --limit 1');
      const { code, stderr } = await runCommand(`accounts set-plan ${account.id} ${options}`);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^error: The .+ plan.+\.\n$/);
      expect(await readJson<object[]>('accounts list')).toContainEqual(account);
      expect(await readJson('audit --limit 1')).toEqual([last]);
    },
  );

  it('issues a key and shows it once; lists it, and revokes it', async () => {
    const { key, ...issued } = await createKey();
    const { accountId } = issued;
    expect(key).toMatch(/^pets_test_\w{49}$/);
    expect(issued).toMatchObject({ start: key.slice(0, -45), state: 'active', ...NO_END });
    expect(await readJson(`keys list ${accountId}`)).toEqual([issued]);
    const revoked = await readJson<object>(`keys revoke ${issued.id}`);
    expect(revoked).toEqual({ ...issued, state: 'revoked', revokedAt: TIME });
    expect(await readJson(`keys list ${accountId}`)).toEqual([revoked]);
  });

  it.each([
    ['2999-01-31', '2999-01-31T00:00:00.000Z'],
    ['2999-01-31T18:30:00+02:00', '2999-01-31T16:30:00.000Z'],
  ])('issues a key that expires at %s', async (expires, expiresAt) => {
    const issued = await createKey(` --expires ${expires}`);
    expect(issued).toMatchObject({ state: 'expiring', expiresAt });
    expect((await runCommand(`keys list ${issued.accountId}`)).stdout).toContain(` expires ${expiresAt} `);
    expect(await readJson('audit --limit 1')).toMatchObject([{ action: 'key_created', details: { expiresAt } }]);
  });

  it('cannot issue a key with an expiry in the past', async () => {
    const { id } = await createAccount();
    const { code, stderr } = await runCommand(`keys create ${id} --expires 2026-01-31`);
    expect([code, stderr]).toEqual([2, 'error: The expiry must be in the future; 2026-01-31T00:00:00.000Z is not.\n']);
    expect(await readJson(`keys list ${id}`)).toEqual([]);
  });

  it('lists and revokes keys whose dates somebody set to infinity in the database', async () => {
    const { id, accountId } = await createKey();
    await queryAsAdmin(`UPDATE api_keys SET expires_at = 'infinity', last_used_at = '-infinity' WHERE id = $1`, [id]);
    expect(await readJson(`keys list ${accountId}`)).toMatchObject([{ id, state: 'active' }]);
    expect((await runCommand(`keys list ${accountId}`)).stdout).toContain(' active ');
    expect(await readJson(`keys rotate ${id} --grace 0`)).toMatchObject({ oldKeyId: id });
    expect(await readJson(`keys revoke ${id}`)).toMatchObject({ id, state: 'revoked' });
  });

  it('also accepts the account of a key as --account, but not twice', async () => {
    const { id } = await createAccount();
    const issued = await readJson<{ id: number }>(`keys create --account ${id}`);
    expect(await readJson(`keys list --account ${id}`)).toMatchObject([{ id: issued.id }]);
    const { code, stderr } = await runCommand(`keys list ${id} --account ${id}`);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: specify exactly one account ID\n/);
  });

  describe('rotates a key', () => {
    const HOUR_MS = 3_600_000;

    interface Rotated extends CreatedKey {
      readonly oldKeyId: number;
      readonly oldKeyExpiresAt: string;
    }

    const getGrace = ({ oldKeyExpiresAt }: Rotated) => Date.parse(oldKeyExpiresAt) - Date.now();

    it('with a replacement that is shown once; the old key stays valid for a day', async () => {
      const old = await createKey();
      const rotated = await readJson<Rotated>(`keys rotate ${old.id}`);
      expect(rotated).toMatchObject({ ...{ accountId: old.accountId, state: 'active', oldKeyId: old.id }, ...NO_END });
      expect(rotated.key).toMatch(/^pets_test_\w{49}$/);
      expect(rotated.key).not.toBe(old.key);
      expect(getGrace(rotated)).toBeGreaterThan(23.9 * HOUR_MS);
      expect(getGrace(rotated)).toBeLessThanOrEqual(24 * HOUR_MS);
      const { oldKeyExpiresAt: expiresAt } = rotated;
      const keys = await readJson(`keys list ${old.accountId}`);
      expect(keys).toMatchObject([
        { id: old.id, state: 'rotating', expiresAt, replacedBy: rotated.id },
        { id: rotated.id, state: 'active', ...NO_END },
      ]);
      const { stdout } = await runCommand(`keys list ${old.accountId}`);
      expect(stdout).toMatch(/^id +accountId +start +scope +state +createdAt/);
      expect(stdout).toContain(` rotating until ${expiresAt} `);
      const trail = await readJson('audit --limit 1');
      expect(trail).toMatchObject([
        {
          ...{ action: 'key_rotated', accountId: old.accountId, keyId: old.id },
          details: { expiresAt, newKeyId: rotated.id, newKeyExpiresAt: null },
        },
      ]);
      expect(stdout + JSON.stringify([keys, trail])).not.toContain(rotated.key.slice(-45));
    });

    it.each([
      ['0', 0],
      ['30m', HOUR_MS / 2],
      ['90s', 90_000],
      ['2h', 2 * HOUR_MS],
      ['7d', 7 * 24 * HOUR_MS],
    ])('with a grace period of %s', async (grace, ms) => {
      const old = await createKey(' --expires 2999-01-31');
      const left = getGrace(await readJson<Rotated>(`keys rotate ${old.id} --grace ${grace}`));
      expect(left).toBeLessThanOrEqual(ms);
      expect(left).toBeGreaterThan(ms - 20_000);
    });

    it('with a replacement that has an expiry', async () => {
      const old = await createKey();
      expect(await readJson(`keys rotate ${old.id} --expires 2999-01-31`)).toMatchObject({
        ...{ state: 'expiring', expiresAt: '2999-01-31T00:00:00.000Z' },
      });
    });

    it('only with a grace period of up to 7 days, and only if it is not already rotated, expired or revoked', async () => {
      const { accountId, ...old } = await createKey();
      const getRejection = async (options = '') => {
        const { code, stdout, stderr } = await runCommand(`keys rotate ${old.id}${options}`);
        expect(stdout).toBe('');
        return `${code} ${stderr}`;
      };
      expect(await getRejection(` --grace ${7 * 24 * 3_600 + 1}s`)).toBe(
        '2 error: The grace period must be from 0 to 7 days.\n',
      );
      await runCommand(`keys rotate ${old.id} --grace 1h`);
      const [, { id } = { id: 0 }] = await readJson<{ id: number }[]>(`keys list ${accountId}`);
      const advice = `Create a key for account ${accountId} instead.\n`;
      expect(await getRejection()).toMatch(
        new RegExp(
          `^1 error: Key ${old.id} is already being rotated: key ${id} replaces it\\. Key ${old.id} expires at ` +
            `\\d{4}-.+Z; to end its grace period now, revoke key ${old.id}\\.\n$`,
        ),
      );
      await runCommand(`keys revoke ${old.id}`);
      expect(await getRejection()).toBe(`1 error: Key ${old.id} is revoked, so it cannot be rotated. ${advice}`);
      await runCommand(`keys rotate ${id} --grace 0`);
      const { stderr } = await runCommand(`keys rotate ${id}`);
      expect(stderr).toBe(`error: Key ${id} is expired, so it cannot be rotated. ${advice}`);
      expect(await readJson(`keys list ${accountId}`)).toHaveLength(3);
    });
  });

  it('prints the version of the service', async () => {
    expect(await runCommand('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('issues a read-only key, which keeps its scope when it is rotated, until the scope is set', async () => {
    const { id, accountId } = await createKey(' --scope read');
    expect(await readJson('audit --limit 1')).toMatchObject([{ action: 'key_created', details: { scope: 'read' } }]);
    expect(await readJson(`keys create ${accountId}`)).toMatchObject({ scope: 'write' });
    const rotated = await readJson<{ id: number }>(`keys rotate ${id}`);
    const listScopes = async () =>
      (await readJson<{ scope: string }[]>(`keys list ${accountId}`)).map(({ scope }) => scope);
    expect(await listScopes()).toEqual(['read', 'write', 'read']);
    expect(await readJson(`keys set-scope ${rotated.id} write`)).toMatchObject({ id: rotated.id, scope: 'write' });
    expect(await readJson('audit --limit 1')).toMatchObject([
      { action: 'key_scope_set', accountId, keyId: rotated.id, details: { oldScope: 'read', scope: 'write' } },
    ]);
    expect(await listScopes()).toEqual(['read', 'write', 'write']);
  });

  it('gives a key several scopes', async () => {
    const created = await createKey(' --scope read --scope write');
    expect(created).toMatchObject({ scope: 'read write' });
    expect(await readJson(`keys rotate ${created.id}`)).toMatchObject({ scope: 'read write' });
    expect(await readJson(`keys set-scope ${created.id} write read write`)).toMatchObject({
      scope: 'write read',
    });
    expect((await runCommand('keys create 1 --scope reed')).stderr).toContain('Allowed choices are read, write');
  });

  it('suspends and resumes an account', async () => {
    const { id } = await createAccount();
    const isTime = expect.stringMatching(/^\d{4}-.*Z$/) as string;
    expect(await readJson(`accounts suspend ${id}`)).toMatchObject({ id, suspendedAt: isTime });
    expect(await readJson(`accounts show ${id}`)).toMatchObject({ id, suspendedAt: isTime });
    expect(await readJson(`accounts resume ${id}`)).toMatchObject({ id, suspendedAt: null });
    expect((await runCommand('accounts suspend 999999')).stderr).toBe('error: No account has the ID 999999.\n');
  });

  it('deletes an account with all its rows only if it is suspended, and only with --yes; the audit trail stays', async () => {
    const { id: keyId, accountId: id } = await createKey();
    await runCommand(`keys rotate ${keyId}`);
    await queryAsAdmin(
      `INSERT INTO idempotency_records (account_id, key, fingerprint)
       SELECT $1, i, sha256('') FROM generate_series(1, 5001) AS i`,
      [id],
    );
    const rows = { idempotency_records: 5_001, api_keys: 2 };
    for (const option of ['', ' --yes']) {
      const stderr = `error: Account ${id} is not suspended. Suspend it first.\n`;
      expect(await runCommand(`accounts delete ${id}${option}`)).toMatchObject({ code: 1, stderr });
    }
    await runCommand(`accounts suspend ${id}`);
    const { stdout, stderr } = await runCommand(`accounts delete ${id}`);
    expect(stdout).toContain(' idempotency_records: 5001, api_keys: 2\n');
    expect(stderr).toBe('note: Nothing was deleted. To delete the account and these rows, add --yes.\n');
    expect(await readJson(`accounts delete ${id} --yes`)).toMatchObject({ id, deletedRows: rows });
    expect((await runCommand(`accounts show ${id}`)).stderr).toBe(`error: No account has the ID ${id}.\n`);
    const trail = await readJson<{ accountId: number; action: string; details: object }[]>('audit --limit 6');
    const actions = ['account_created', 'key_created', 'key_rotated', 'account_suspended'];
    expect(trail.map(({ accountId, action }) => [accountId, action])).toEqual(
      [...actions, 'account_deletion_started', 'account_deleted'].map((it) => [id, it]),
    );
    expect(trail.at(-1)?.details).toMatchObject({ name: 'Acme', plan: 'free', ...rows });
  });

  it('says that the audit trail may have older entries than those that it lists by default', async () => {
    await queryAsAdmin(`
      INSERT INTO audit_entries (at, operator, act, account_id, details)
      SELECT now(), 'nobody', 'plan_set', 1, '{}' FROM generate_series(1, 100)`);
    expect((await runCommand('audit')).stderr).toMatch(
      /^note: Older entries may exist: only the latest 100 are listed/,
    );
    expect((await runCommand('audit --limit 100')).stderr).toBe('');
  });

  it('deletes rows that reference others of the account first, in whatever order the tables were created or restored', async () => {
    const { id } = await createAccount();
    try {
      await queryAsAdmin(`
        CREATE TABLE payments (account_id bigint REFERENCES accounts (id));
        CREATE TABLE invoices (id int PRIMARY KEY, account_id bigint REFERENCES accounts (id));
        ALTER TABLE payments ADD COLUMN invoice_id int REFERENCES invoices (id);
        INSERT INTO invoices VALUES (1, ${id});
        INSERT INTO payments VALUES (${id}, 1)`);
      await runCommand(`accounts suspend ${id}`);
      expect(await readJson(`accounts delete ${id} --yes`)).toMatchObject({
        deletedRows: { payments: 1, invoices: 1 },
      });
    } finally {
      await queryAsAdmin('DROP TABLE IF EXISTS payments, invoices');
    }
  });

  it('lifts the ban of a key, banned or not, and records it', async () => {
    const { accountId, ...issued } = await createKey();
    expect(await readJson(`keys unban ${issued.id}`)).toMatchObject({ id: issued.id, state: 'active', ...NO_END });
    expect(await readJson('audit --limit 1')).toMatchObject([
      { action: 'key_unbanned', accountId, keyId: issued.id, details: {} },
    ]);
  });

  it.each([
    ['unban', '', 'it cannot be unbanned'],
    ['set-scope', ' read', 'its scope cannot be changed'],
  ])('cannot %s a revoked or expired key', async (command, argument, consequence) => {
    for (const [state, end] of [
      ['revoked', 'revoke'],
      ['expired', 'rotate --grace 0'],
    ] as const) {
      const { id, accountId } = await createKey();
      await runCommand(`keys ${end} ${id}`);
      const [last] = await readJson<object[]>('audit --limit 1');
      expect(await runCommand(`keys ${command} ${id}${argument}`)).toEqual({
        ...{ code: 1, stdout: '' },
        stderr: `error: Key ${id} is ${state}, so ${consequence}. Create a key for account ${accountId} instead.\n`,
      });
      expect(await readJson('audit --limit 1')).toEqual([last]);
      expect((await readJson<object[]>(`keys list ${accountId}`))[0]).toMatchObject({ id, state, scope: 'write' });
    }
  });

  it('shows an account with its number of keys, and how many of them are valid', async () => {
    const account = await createAccount();
    expect(await readJson(`accounts show ${account.id}`)).toEqual({ ...account, keys: 0, validKeys: 0 });
    const ids = [];
    for (let count = 0; count < 3; count++) {
      ids.push((await readJson<{ id: number }>(`keys create ${account.id}`)).id);
    }
    await runCommand(`keys revoke ${ids[0]}`);
    await runCommand(`keys rotate ${ids[1]} --grace 0`);
    expect(await readJson(`accounts show ${account.id}`)).toEqual({ ...account, keys: 4, validKeys: 2 });
  });

  it('notes that bans and usage are unknown if replicas count in memory, but not with --json', async () => {
    const { accountId: id } = await createKey();
    const why = 'unknown: without REDIS_URL, each replica counts in its own memory.\n';
    expect((await runCommand(`keys list ${id}`)).stderr).toBe(`note: The ban state of the keys is ${why}`);
    expect((await runCommand(`accounts show ${id}`)).stderr).toBe(`note: The rate limit usage is ${why}`);
    expect(Object.keys((await readJson<object[]>(`keys list ${id}`))[0] ?? {})).not.toContain('bannedUntil');
    expect(Object.keys(await readJson<object>(`accounts show ${id}`))).not.toContain('minute');
  });

  it.each(['a\x1b[2J', 'a\nb', 'a\x7f', 'a\x9b2J', 'a\u202eb', 'a\u2066b', 'a\u2028b'])(
    'rejects the name %j, which would control a terminal, and does not print it as it is',
    async (name) => {
      const { code, stdout, stderr } = await runCommand(`accounts create --plan free --name=${name}`);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toBe('error: The name must not contain control characters or bidirectional overrides.\n');
      const misplaced = await runCommand(`accounts ${name}`);
      expect(misplaced.stderr.replace(/\n/g, '')).not.toMatch(/[\p{Cc}\u2028\u202e\u2066]/u);
    },
  );

  it.each(['שלום', 'Zoé 🧑‍🌾', 'a\u200eb', '🐶'.repeat(100)])('accepts the name %j', async (name) => {
    expect(await readJson(`accounts create --plan free --name=${name.replaceAll(' ', '\u00a0')}`)).toMatchObject({
      name: name.replaceAll(' ', '\u00a0'),
    });
  });

  it('prints control characters in names of the database and of operators visibly; JSON keeps their value', async () => {
    const { id } = await createAccount();
    const name = 'a\x1b[2J\nb\x7f\x9b\u202ec';
    await queryAsAdmin('UPDATE accounts SET name = $1 WHERE id = $2', [name, id]);
    await queryAsAdmin(
      `INSERT INTO audit_entries (at, operator, action, account_id, details) VALUES (now(), $1, 'plan_set', $2, '{}')`,
      [name, id],
    );
    const escaped = 'a\\u001b[2J\\u000ab\\u007f\\u009b\\u202ec';
    for (const command of [`accounts show ${id}`, 'audit --limit 1']) {
      const { stdout } = await runCommand(command);
      expect(stdout).toContain(` ${escaped} `);
      expect(stdout.split('\n')).toHaveLength(3);
      const json = await runCommand(`${command} --json`);
      expect(json.stdout).not.toMatch(/[\x7f\x9b\u202e]/);
      expect(JSON.stringify(JSON.parse(json.stdout))).toContain(JSON.stringify(name));
    }
  });

  it('prints a sentence for an empty list, and an empty array with --json', async () => {
    const { id } = await readJson<{ id: number }>('accounts create --name Delta --plan free');
    expect((await runCommand(`keys list ${id}`)).stdout).toBe('None.\n');
    expect(await readJson(`keys list ${id}`)).toEqual([]);
  });

  it('shows who changed an account and its keys and how, newest last, without secrets or hashes', async () => {
    const { id } = await readJson<{ id: number }>(
      'accounts create --name Acme --plan enterprise --per-minute 5 --per-day 9',
    );
    const issued = await readJson<{ id: number; key: string }>(`keys create --account ${id}`);
    await runCommand(`keys revoke ${issued.id}`);
    await runCommand(`keys revoke ${issued.id}`);
    const entries = await readJson<{ operator: string; at: string }[]>('audit --limit 3');
    const [operator, at] = [userInfo().username, TIME];
    expect(entries).toMatchObject([
      {
        ...{ operator, at, action: 'account_created', accountId: id, keyId: null },
        details: { name: 'Acme', plan: 'enterprise', perMinute: 5, perDay: 9 },
      },
      { operator, at, action: 'key_created', accountId: id, keyId: issued.id, details: { expiresAt: null } },
      { operator, at, action: 'key_revoked', accountId: id, keyId: issued.id, details: {} },
    ]);
    const { stdout } = await runCommand('audit --limit 2');
    expect(stdout).toMatch(/^id +at +operator +action +accountId +keyId +details\n/);
    expect(stdout).toMatch(/\n\d+ +\S+Z +\S+ +key_created +\d+ +\d+ +scope: write, expiresAt: none\n/);
    const printed = stdout + JSON.stringify(entries);
    const hash = createHash('sha256').update(issued.key).digest();
    for (const secret of [issued.key.slice(-49), hash.toString('hex'), hash.toString('base64')]) {
      expect(printed).not.toContain(secret);
    }
  });

  it.each([
    ...[
      ...['--plan free', '--name A --plan gold', '--name A --plan free --per-minute 5', '--name A --plan enterprise'],
      ...['0', '1.5'].map((limit) => `--name A --plan enterprise --per-minute ${limit} --per-day 5`),
      ...['', '\u00a0', 'a\0', '🐶'.repeat(101)].map((name) => `--plan free --name=${name}`),
    ].map((options) => `accounts create ${options}`),
    ...['--plan pro', '1', 'abc --plan pro'].map((options) => `accounts set-plan ${options}`),
    ...['keys create', 'keys create abc', 'keys create --account abc', 'keys create 1 --scope all'],
    'keys create 1 --scope read --scope all',
    ...['tomorrow', '2999-02-30', '9999-12-31T23:59:59-12:00', '2999-01-31T18:00:00'].map(
      (expiry) => `keys create 1 --expires ${expiry}`,
    ),
    ...['keys list', 'keys rotate', 'keys set-scope 1', 'keys set-scope 1 all', 'keys set-scope 1 read all'],
    ...['24', '-1h', '1w', '1.5h'].map((grace) => `keys rotate 1 --grace ${grace}`),
    ...['keys unban', 'keys unban abc', 'keys revoke', 'keys revoke -1', 'keys revoke 1 2'],
    ...['audit --limit 0', 'audit --limit 10001', 'migrate --status --dry-run'],
    ...['nonsense', 'accounts nonsense', 'accounts list --nonsense'],
  ])('rejects "%s" with a clear line and exit code 2', async (line) => {
    const { code, stdout, stderr } = await runCommand(line);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: .+\n/);
  });

  it.each([
    ...['accounts set-plan 999 --plan pro', 'accounts show 999'],
    ...['create', 'list', 'rotate', 'unban', 'revoke'].map((command) => `keys ${command} 999`),
  ])('says that the ID in "%s" does not exist, with exit code 1', async (line) => {
    const { code, stdout, stderr } = await runCommand(`${line} --json`);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^error: No (account|key) has the ID 999\.\n$/);
  });

  it.each([
    ...['', 'accounts', 'accounts create', 'keys list', 'keys rotate', 'keys unban', 'keys revoke'],
    ...['audit', 'migrate', 'openapi'],
  ])('has help for "%s"', async (command) => {
    const { code, stdout } = await runCommand(`${command} --help`.trim());
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: petstore/);
  });

  it('reports a version of the API that no operation has as an invalid command', async () => {
    const { code, stderr } = await runCommand('openapi --api-version 9');
    expect([code, stderr]).toEqual([2, expect.stringContaining('error: no operation has the API version 9\n')]);
  });

  it('reports an invalid setting in one line', async () => {
    const { code, stderr } = await runCommand('accounts list', { PORT: 'abc' });
    expect([code, stderr]).toEqual([1, 'error: PORT must be a whole number from 1 to 65535.\n']);
  });
});
