import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { freePort, Program, startServer, createTemporaryDirectory } from '../support/process';

describe('npm start', () => {
  let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
  let env: Record<string, string>;
  const running: Program[] = [];

  beforeEach(async () => {
    directory = await createTemporaryDirectory();
    env = { DATA_DIR: join(directory.path, 'data'), PORT: await freePort() };
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((program) => program.kill('SIGKILL')));
    await directory.remove();
  });

  const start = async () => {
    const server = await startServer(env);
    running.push(server);
    return server;
  };
  const pets = (path: string, key: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${env.PORT}/v1/pets${path}`, {
      ...init,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
  const add = (name: string, key: string) =>
    pets('', key, { method: 'POST', body: JSON.stringify({ name, categoryId: 1 }) });
  const fails = async (changes: Record<string, string>) => new Program('main.js', [], { ...env, ...changes }).exit;

  it('prints the URL of the documentation, a key, and a curl command that works', async () => {
    const server = await start();
    const address = `http://127.0.0.1:${env.PORT}`;
    expect(server.stdout).toContain(`Docs        ${address}/docs`);
    expect(server.stdout).toContain('Limits      counted in memory, for a single replica');
    expect(server.stdout).toContain(`curl -i ${address}/v1/pets -H 'Authorization: Bearer ${server.key}'`);
    expect((await pets('', server.key)).headers.get('x-ratelimit-limit')).toBe('300');
    expect(server.stderr).toBe('');
  });

  it('has three animals to begin with, and adds no more when it is started again', async () => {
    const names = async ({ key }: { key: string }) =>
      ((await (await pets('', key)).json()) as { name: string }[]).map(({ name }) => name);
    const first = await start();
    expect(await names(first)).toEqual(['Rex', 'Mia', 'Tom']);
    await first.kill('SIGTERM');
    expect(await names(await start())).toEqual(['Rex', 'Mia', 'Tom']);
  });

  it('loses no animal in restarts, shows the demo key again, and creates another if it is damaged', async () => {
    const first = await start();
    const file = join(env.DATA_DIR ?? '', 'demo-key');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(env.DATA_DIR ?? '')).mode & 0o777).toBe(0o700);
    expect((await readFile(file, 'utf8')).trim()).toBe(first.key);
    expect((await add('Bella', first.key)).status).toBe(201);
    expect((await first.kill('SIGTERM')).code).toBe(0);
    const second = await start();
    expect(second.key).toBe(first.key);
    expect(await (await pets('', second.key)).json()).toContainEqual(expect.objectContaining({ id: 4, name: 'Bella' }));
    await second.kill('SIGTERM');
    await writeFile(file, 'damaged');
    const third = await start();
    expect(third.key).not.toBe(first.key);
    expect((await pets('', third.key)).status).toBe(200);
  });

  it('loses no acknowledged animal in a kill -9 during writes', async () => {
    const server = await start();
    const acknowledged: string[] = [];
    const writer = async (writerName: string) => {
      for (let count = 0; count < 1_000; count++) {
        const name = `${writerName}-${count}`;
        if (!(await add(name, server.key)).ok) {
          return;
        }
        acknowledged.push(name);
        if (acknowledged.length === 120) {
          void server.kill('SIGKILL');
        }
      }
    };
    await Promise.allSettled(['a', 'b', 'c', 'd'].map(writer));
    expect(acknowledged.length).toBeGreaterThanOrEqual(120);
    const again = await start();
    const stored: string[] = [];
    let next: string | undefined = '?limit=100';
    while (next !== undefined) {
      const page: Response = await pets(next, again.key);
      stored.push(...((await page.json()) as { name: string }[]).map(({ name }) => name));
      next = /(\?[^>]+)>/.exec(page.headers.get('link') ?? '')?.[1];
    }
    expect(stored).toEqual(expect.arrayContaining(acknowledged));
  });

  describe('exits with a clear error message and a non-zero code', () => {
    it('for each invalid setting', async () => {
      const { code, stderr } = await fails({ PORT: 'abc', DOCS_ENABLED: 'no' });
      expect(code).toBe(1);
      expect(stderr).toBe('PORT must be a whole number from 1 to 65535.\nDOCS_ENABLED must be true or false.\n');
    });

    it('if the port is in use', async () => {
      const other = createServer();
      await new Promise<void>((listening) => other.listen(Number(env.PORT), '127.0.0.1', listening));
      const { code, stderr } = await fails({});
      other.close();
      expect(code).toBe(1);
      expect(stderr).toBe(
        `Port ${env.PORT} on 127.0.0.1 is in use. Stop the process that uses it, or set PORT to another port.\n`,
      );
    });

    it('if another process holds the data directory, which continues undisturbed', async () => {
      const server = await start();
      const { code, stderr } = await fails({ PORT: await freePort() });
      expect(code).toBe(1);
      expect(stderr).toMatch(/^The data directory \S+ is in use by another running process\. .+\n$/);
      expect((await add('Rex', server.key)).status).toBe(201);
    });

    it('if the data directory cannot be written', async () => {
      await writeFile(join(directory.path, 'file'), '');
      for (const [path, reason] of [
        ['file', 'a file of that name exists'],
        ['file/data', 'a part of its path is a file'],
      ] as const) {
        const { code, stderr } = await fails({ DATA_DIR: join(directory.path, path) });
        expect([code, stderr]).toEqual([
          1,
          expect.stringMatching(new RegExp(`^The data directory \\S+ cannot be written \\(${reason}\\)\\. .+\\n$`)),
        ]);
      }
    });

    it('if the database cannot be reached', async () => {
      const { code, stderr } = await fails({ DATABASE_URL: `postgres://u:secret@127.0.0.1:${await freePort()}/d` });
      expect(code).toBe(1);
      expect(stderr).toMatch(/^The database cannot be used: .*ECONNREFUSED.*\n$/);
      expect(stderr).not.toContain('secret');
    });
  });

  it('works in a directory whose path is too long for a socket', async () => {
    env.DATA_DIR = join(directory.path, 'long'.repeat(30), 'data');
    const server = await start();
    expect((await add('Rex', server.key)).status).toBe(201);
  });
});
