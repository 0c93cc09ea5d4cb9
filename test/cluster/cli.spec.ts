import { spawnSync } from 'node:child_process';
import { eventually } from '../cluster/support/replica';
import { Proxy } from '../cluster/support/proxy';
import { Server } from '../cluster/support/servers';
import { findFreePort, runPetstore, startServer, createTemporaryDirectory } from '../support/process';

describe('The petstore program', () => {
  let env: Record<string, string>;

  beforeAll(async () => {
    env = { DATA_DIR: (await createTemporaryDirectory()).path, PORT: await findFreePort() };
  });

  const run = (line: string) => runPetstore(line.split(' '), env);
  const readJson = async <T>(line: string) => {
    const { code, stdout, stderr } = await run(`${line} --json`);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as T;
  };

  it('uses the embedded database without a server and with one: a new key works immediately, a revoked one stops working', async () => {
    const account = await readJson<{ id: number }>('accounts create --name Acme --plan free');
    const issued = await readJson<{ id: number; key: string }>(`keys create ${account.id}`);
    await startServer(env);
    const call = (key: string) =>
      fetch(`http://127.0.0.1:${env.PORT}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    expect((await call(issued.key)).headers.get('x-ratelimit-limit')).toBe('60');
    const later = await readJson<{ id: number; key: string }>(`keys create ${account.id}`);
    expect((await call(later.key)).status).toBe(200);
    await run(`keys revoke ${later.id}`);
    await eventually(1_000, async () => (await call(later.key)).status === 401);
    expect(await readJson('migrate')).toEqual([]);
    const entries = await readJson<{ action: string; accountId: number; details: { name?: string } }[]>('audit');
    const demo = entries.findIndex(({ action, details }) => action === 'account_created' && details.name === 'demo');
    expect(entries[demo + 1]).toMatchObject({ action: 'key_created', accountId: entries[demo]?.accountId });
  }, 120_000);

  it('prints the OpenAPI document, and rejects an invalid command on standard error, with exit code 2', async () => {
    expect(JSON.parse((await run('openapi')).stdout)).toMatchObject({ openapi: '3.1.0', paths: { '/pets': {} } });
    const { code, stdout, stderr } = await run('nonsense');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: .+\n/);
  });

  it.each([
    ['ends quietly when the reader of its output needs no more', '| head -c 1', 0, '{', /^$/],
    ['says in one line that its output cannot be written', '> /dev/full', 1, '', /^error: The output .+: ENOSPC.+\n$/],
  ])('%s', (_, redirection, code, stdout, message) => {
    const script = `"$0" dist/src/cli/main.js openapi ${redirection}`;
    const result = spawnSync('sh', ['-c', script, process.execPath], { encoding: 'utf8', env: {} });
    expect([result.status, result.stdout]).toEqual([code, stdout]);
    expect(result.stderr).toMatch(message);
  });

  it.each(['| true', '> /dev/full'])('says that a key was issued that nobody has (%s)', async (redirection) => {
    const { id } = await readJson<{ id: number }>('accounts create --name Acme --plan free');
    const script = `"$0" dist/src/cli/main.js keys create ${id} ${redirection}`;
    const { stderr } = spawnSync('sh', ['-c', script, process.execPath], { encoding: 'utf8', env });
    expect(stderr).toMatch(/^error: The output cannot be written: .+ A key was issued that nobody has: .+\n$/);
  });

  it('reports in one line that the database cannot be reached', async () => {
    const { code, stderr } = await runPetstore(['accounts', 'list'], {
      DATABASE_URL: `postgres://u:secret@127.0.0.1:${await findFreePort()}/d`,
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: The database is busy or unreachable: connect ECONNREFUSED .+\. Check .+\n$/);
    expect(stderr).not.toContain('secret');
  });

  describe('on a server', () => {
    let postgres: Server;
    let settings: Record<string, string>;

    beforeAll(async () => {
      postgres = await Server.startPostgres();
      settings = { APP_ENV: 'production', DATABASE_URL: postgres.url };
      expect((await runPetstore(['migrate'], settings)).code).toBe(0);
    });

    it('reports that the database is busy, and why, while a table is locked', async () => {
      const session = await postgres.openSession();
      await session.query('BEGIN; LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE');
      const { code, stderr } = await runPetstore(['accounts', 'list'], settings);
      await session.end();
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(
          /^error: The database is busy or unreachable: canceling statement due to lock timeout\. .+\n$/,
        ),
      ]);
    });

    it('reaches a database that takes a second to accept a connection', async () => {
      const proxy = await Proxy.start(postgres.port);
      await proxy.delay(450);
      const url = new URL(postgres.url);
      url.port = `${proxy.port}`;
      expect(await runPetstore(['accounts', 'list'], { ...settings, DATABASE_URL: url.href })).toMatchObject({
        code: 0,
        stderr: '',
      });
    });
  });
});
