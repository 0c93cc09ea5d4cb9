import { IDENTIFIER } from '../../src/config/brand';
import { AccountsService, KeysService } from '../../src/auth';
import { AccountSchema } from '../../src/auth/persistence/account.schema';
import { ApiKeySchema } from '../../src/auth/persistence/api-key.schema';
import { PetSchema } from '../../src/pets/persistence/pet.schema';
import { runCommand, readJson } from '../support/command-line';
import { getCode, parseRateLimit, TestService } from '../support/service';

/** The constraints that a newer version changes when it adds a value. */
const CONSTRAINTS = [AccountSchema, ApiKeySchema, PetSchema].flatMap(({ options }) =>
  (options.checks ?? []).flatMap(({ name = '', expression }) =>
    /^accounts_|_(scope|status)_check$/.test(name) ? [{ table: options.tableName ?? '', name, expression }] : [],
  ),
);

describe('A value that a newer version of the service stored', () => {
  let service: TestService;
  let key: string;
  const lines: string[] = [];

  beforeAll(async () => {
    service = await TestService.start(
      { APP_ENV: 'production', LOG_LEVEL: 'warn' },
      { write: (line) => lines.push(line) },
    );
    for (const { table, name } of CONSTRAINTS) {
      await service.queryAsAdmin(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
    }
  });
  beforeEach(async () => {
    key = await service.createKey();
    lines.length = 0;
  });
  afterAll(async () => {
    await service.queryAsAdmin('TRUNCATE pets, api_keys, accounts CASCADE');
    for (const { table, name, expression } of CONSTRAINTS) {
      await service.queryAsAdmin(`ALTER TABLE ${table} ADD CONSTRAINT ${name} CHECK (${expression})`);
    }
    await service.close();
  });

  const createOther = async () => {
    const { id } = await service.app.get(AccountsService).create('Other', 'free');
    return { id, ...(await service.app.get(KeysService).create(id)) };
  };
  /** Sends requests with two keys at the same time, so that both keys are looked up together. */
  const listWithBoth = (other: string) =>
    Promise.all([key, other, key, other].map((each) => service.get('/v1/pets', { key: each })));
  const findWarnings = () =>
    lines
      .map((line) => JSON.parse(line) as { 'event.action': string; message: string })
      .filter((line) => line['event.action'] === 'unknown_value');

  it.each([
    ['an unknown plan', `plan = 'starter'`, 'starter'],
    ['a plan named like a property of every object', `plan = 'constructor'`, 'constructor'],
    ['an enterprise plan without limits', `plan = 'enterprise', per_minute = NULL, per_day = 5`, 'enterprise'],
    ['an enterprise plan without a positive limit', `plan = 'enterprise', per_minute = 5, per_day = -1`, 'enterprise'],
  ])('costs only the account with %s, which gets 503 and is charged nothing', async (_, change, plan) => {
    const other = await createOther();
    await service.queryAsAdmin(`UPDATE accounts SET ${change} WHERE id = $1`, [other.id]);
    service.clock.advance(1_000);
    const [served, unserved, ...later] = await listWithBoth(other.secret);
    expect([served, ...later].map((response) => response?.status)).toEqual([200, 200, 503]);
    expect(unserved).toMatchObject({
      status: 503,
      body: { code: 'service_unavailable' },
      headers: { 'retry-after': '1', 'x-ratelimit-remaining': '60' },
    });
    expect(findWarnings()).toMatchObject([
      {
        'event.action': 'unknown_value',
        message: `This version does not know the limits of the plan "${plan}" of account ${other.id}: its requests get 503.`,
        [IDENTIFIER]: { plan, accountId: Number(other.id) },
      },
    ]);

    await service.queryAsAdmin(`UPDATE accounts SET plan = 'free', per_minute = NULL, per_day = NULL WHERE id = $1`, [
      other.id,
    ]);
    service.clock.advance(1_000);
    const response = await service.get('/v1/pets', { key: other.secret });
    expect(parseRateLimit(response)).toMatchObject({ limit: 60, remaining: 59 });
  });

  it('hides neither a revocation nor an expiry behind the 503', async () => {
    const other = await createOther();
    await service.queryAsAdmin(`UPDATE accounts SET plan = 'starter' WHERE id = $1`, [other.id]);
    await service.app.get(KeysService).revoke(other.key.id);
    service.clock.advance(1_000);
    expect(getCode(await service.get('/v1/pets', { key: other.secret }))).toBe('invalid_api_key');
  });

  it('as the scope of a key grants nothing, is logged once, and costs no other key', async () => {
    const other = await createOther();
    await service.queryAsAdmin(`UPDATE api_keys SET scope = 'admin' WHERE id = $1`, [other.key.id]);
    service.clock.advance(1_000);
    const responses = await listWithBoth(other.secret);
    const created = await service.post('/v1/pets', { key: other.secret, body: { name: 'Rex', categoryId: 3 } });
    expect([...responses, created].map(({ status }) => status)).toEqual([200, 403, 200, 403, 403]);
    expect([getCode(created), parseRateLimit(created).remaining]).toEqual(['insufficient_scope', 57]);
    expect(created.headers['www-authenticate']).toBe('Bearer realm="petstore", error="insufficient_scope"');
    expect(findWarnings().map(({ message }) => message)).toEqual([
      `This version does not know the scope "admin" of key ${other.key.id} of account ${other.id}: it grants nothing.`,
    ]);
  });

  it('as the status of an animal costs only that animal: lists leave it out, and its own URL is 503', async () => {
    const add = async (name: string) =>
      ((await service.post('/v1/pets', { key, body: { name, categoryId: 3 } })).body as { id: number }).id;
    const ids = [await add('Ada'), await add('Mia'), await add('Rex'), await add('Tom')];
    const [first, second, third, last] = ids;
    await service.queryAsAdmin(`UPDATE pets SET status = '"' WHERE id = $1`, [second]);
    const list = async (query: string) => {
      const { body, headers } = await service.get(`/v1/pets?${query}`, { key });
      const cursor = /cursor=([\w-]+)/.exec(headers.link ?? '')?.[1];
      return { ids: (body as { id: number }[]).map(({ id }) => id), cursor };
    };
    expect(await list('')).toEqual({ ids: [first, third, last], cursor: undefined });
    expect(await list('status=available')).toEqual({ ids: [first, third, last], cursor: undefined });
    const page = await list('limit=2');
    expect(page.ids).toEqual([first]);
    expect(await list(`limit=2&cursor=${page.cursor}`)).toEqual({ ids: [third, last], cursor: undefined });
    const response = await service.get(`/v1/pets/${second}`, { key });
    expect([response.status, getCode(response), response.headers['retry-after']]).toEqual([
      503,
      'service_unavailable',
      '1',
    ]);
    expect((await service.get(`/v1/pets/${first}`, { key })).status).toBe(200);
    await service.get(`/v1/pets/${second}`, { key });
    expect(findWarnings().map(({ message }) => message)).toEqual([
      `This version does not know the status "\\"" of animal ${second}: lists do not contain it, and requests for it get 503.`,
    ]);
  });

  it('is shown by the command line, which can replace it', async () => {
    const { id, key: issued } = await createOther();
    await service.queryAsAdmin(`UPDATE accounts SET plan = 'starter' WHERE id = $1`, [id]);
    await service.queryAsAdmin(`UPDATE api_keys SET scope = 'admin' WHERE id = $1`, [issued.id]);
    const account = { id: Number(id), plan: 'starter', perMinute: null, perDay: null };
    expect(await readJson('accounts list')).toContainEqual(expect.objectContaining(account));
    expect(await readJson(`accounts show ${id}`)).toMatchObject({ ...account, validKeys: 1 });
    expect(await readJson(`keys list ${id}`)).toMatchObject([{ scope: 'admin', state: 'active' }]);
    expect(await readJson(`keys rotate ${issued.id} --grace 0`)).toMatchObject({ scope: 'admin' });
    // Without a limit, no usage can be shown, so Redis is not even asked.
    const env = { REDIS_URL: 'redis://127.0.0.1:1' };
    expect(await runCommand(`keys list ${id}`, env)).toMatchObject({
      code: 0,
      stderr:
        'note: The ban state of the keys is unknown: this version does not know the limits of the plan starter.\n',
    });
    expect(await readJson(`accounts set-plan ${id} --plan pro`)).toMatchObject({ plan: 'pro', perMinute: 300 });
    expect(await readJson('audit --limit 1')).toMatchObject([
      { details: { oldPlan: 'starter', oldPerMinute: null, plan: 'pro' } },
    ]);
  });
});
