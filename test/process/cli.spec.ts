import { freePort, petstore, startServer, temporaryDirectory } from '../support/process';

describe('petstore, the command line', () => {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let env: Record<string, string>;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    env = { DATA_DIR: directory.path, PORT: await freePort() };
  });
  afterAll(() => directory.remove());

  const run = (line: string) => petstore(line.split(' '), env);
  const json = async <T>(line: string) => {
    const { code, stdout, stderr } = await run(`${line} --json`);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as T;
  };

  it('creates accounts and keys, lists them, and revokes a key, while no server runs', async () => {
    const account = await json<{ id: number }>(
      'accounts create --name Acme --plan enterprise --per-minute 5 --per-day 50',
    );
    expect(account).toMatchObject({ name: 'Acme', plan: 'enterprise', perMinute: 5, perDay: 50 });
    expect(await json('accounts list')).toEqual([account]);
    const issued = await json<{ id: number; key: string }>(`keys create --account ${account.id}`);
    expect(issued.key).toMatch(/^pets_test_\w{49}$/);
    const keys = await json<object[]>(`keys list --account ${account.id}`);
    expect(keys).toMatchObject([{ id: issued.id, startsWith: issued.key.slice(0, 14), revokedAt: null }]);
    expect(JSON.stringify(keys)).not.toContain(issued.key);
    expect(await json(`keys revoke ${issued.id}`)).toMatchObject({
      id: issued.id,
      revokedAt: expect.any(String) as string,
    });
  });

  it('works on the embedded database while the server has it open; a key works at once, revoked it does not', async () => {
    const server = await startServer(env);
    try {
      const account = await json<{ id: number }>('accounts create --name Beta --plan free');
      const issued = await json<{ id: number; key: string }>(`keys create --account ${account.id}`);
      const call = () =>
        fetch(`http://127.0.0.1:${env.PORT}/v1/pets`, { headers: { authorization: `Bearer ${issued.key}` } });
      expect((await call()).headers.get('x-ratelimit-limit')).toBe('60');
      await run(`keys revoke ${issued.id}`);
      // The command took longer than the second a valid key is remembered for.
      expect((await call()).status).toBe(401);
      expect(await json('migrate')).toEqual([]);
    } finally {
      await server.kill('SIGTERM');
    }
  });

  it('prints tables for people', async () => {
    await run('accounts create --name Gamma --plan pro');
    const { code, stdout } = await run('accounts list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^id +name +plan +perMinute +perDay +createdAt\n/);
    expect(stdout).toMatch(/\n\d+ +Gamma +pro +300 +10000 +\d{4}-/);
  });

  it('prints the OpenAPI document', async () => {
    const { code, stdout } = await run('openapi');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ openapi: '3.1.0', paths: { '/pets': {} } });
  });

  it.each([
    'accounts create --name A --plan gold',
    'accounts create --plan free',
    'accounts create --name A --plan enterprise',
    'accounts create --name A --plan enterprise --per-minute 0 --per-day 5',
    'accounts create --name A --plan enterprise --per-minute 1.5 --per-day 5',
    'accounts create --name A --plan free --per-minute 5',
    'keys create',
    'keys create --account abc',
    'keys revoke',
    'keys revoke -1',
    'keys revoke 1 2',
    'nonsense',
    'accounts nonsense',
    'accounts list --nonsense',
  ])('refuses "%s" with a clear line and exit 2', async (line) => {
    const { code, stdout, stderr } = await run(line);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: .+\n/);
  });

  it.each(['keys create --account 999', 'keys list --account 999', 'keys revoke 999'])(
    'says that "%s" names nothing, with exit 1',
    async (line) => {
      const { code, stdout, stderr } = await run(`${line} --json`);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^error: No (account|key) has the id 999\.\n$/);
    },
  );

  it.each([
    '--help',
    'accounts --help',
    'accounts create --help',
    'keys revoke --help',
    'migrate --help',
    'openapi --help',
  ])('explains itself: %s', async (line) => {
    const { code, stdout } = await run(line);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: petstore/);
  });

  it('says in one line that the database cannot be reached', async () => {
    const { code, stderr } = await petstore(['accounts', 'list'], {
      DATABASE_URL: `postgres://u:secret@127.0.0.1:${await freePort()}/d`,
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: The database cannot be reached\. .+\n$/);
    expect(stderr).not.toContain('secret');
  });
});
