import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { findFreePort, killPrograms, listen } from '../support/process';
import { Clone } from './support/clone';
import { createEmbeddedService } from './support/embedded-service';

describe('npm start', () => {
  let local: Awaited<ReturnType<typeof createEmbeddedService>>;

  beforeEach(async () => {
    local = await createEmbeddedService();
  });
  afterEach(killPrograms);

  it('prints the URL of the documentation, a key, and a curl command that works', async () => {
    const server = await local.start();
    const url = `http://127.0.0.1:${local.env.PORT}`;
    expect(server.stdout).toContain(`Docs        ${url}/docs`);
    expect(server.stdout).toContain('Limits      counted in memory, for a single replica');
    expect(server.stdout).toContain(`curl -i ${url}/v1/pets -H 'Authorization: Bearer ${server.key}'`);
    expect((await local.list(server.key)).headers.get('x-ratelimit-limit')).toBe('300');
    expect(server.stderr).toBe('');
  });

  it('starts with three animals, loses none and adds no more in restarts, and shows the demo key again', async () => {
    const listNames = async ({ key }: { readonly key: string }) =>
      ((await (await local.list(key)).json()) as { name: string }[]).map(({ name }) => name);
    const first = await local.start();
    const file = join(local.env.DATA_DIR, 'demo-key');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(local.env.DATA_DIR)).mode & 0o777).toBe(0o700);
    expect((await readFile(file, 'utf8')).trim()).toBe(first.key);
    expect(await listNames(first)).toEqual(['Rex', 'Mia', 'Tom']);
    expect((await local.add('Bella', first.key)).status).toBe(201);
    expect((await first.kill('SIGTERM')).code).toBe(0);
    const second = await local.start();
    expect(second.key).toBe(first.key);
    expect(await listNames(second)).toEqual(['Rex', 'Mia', 'Tom', 'Bella']);
    await second.kill('SIGTERM');
    // Another key is created if the file is damaged.
    await writeFile(file, 'damaged');
    const third = await local.start();
    expect(third.key).not.toBe(first.key);
    expect((await local.list(third.key)).status).toBe(200);
  });

  it('loses no acknowledged animal when it is killed during writes', async () => {
    const server = await local.start();
    const acknowledged: string[] = [];
    const write = async (writerName: string) => {
      for (let count = 0; count < 1_000; count++) {
        const name = `${writerName}-${count}`;
        if (!(await local.add(name, server.key)).ok) {
          return;
        }
        acknowledged.push(name);
        if (acknowledged.length === 120) {
          void server.kill('SIGKILL');
        }
      }
    };
    await Promise.allSettled(['a', 'b', 'c', 'd'].map(write));
    expect(acknowledged.length).toBeGreaterThanOrEqual(120);
    const again = await local.start();
    const stored: string[] = [];
    let next: string | undefined = '?limit=100';
    while (next !== undefined) {
      const page: Response = await local.list(again.key, next);
      stored.push(...((await page.json()) as { name: string }[]).map(({ name }) => name));
      next = /(\?[^>]+)>/.exec(page.headers.get('link') ?? '')?.[1];
    }
    expect(stored).toEqual(expect.arrayContaining(acknowledged));
  });

  describe('exits with a clear error message and a non-zero code', () => {
    it('for each invalid setting', async () => {
      const { code, stderr } = await local.run({ PORT: 'abc', DOCS_ENABLED: 'no' }).exit;
      expect(code).toBe(1);
      expect(stderr).toBe('PORT must be a whole number from 1 to 65535.\nDOCS_ENABLED must be true or false.\n');
    });

    it.each(['PORT', 'METRICS_PORT'])('if %s is in use', async (setting) => {
      const port = await listen(createServer());
      const { code, stderr } = await local.run({ [setting]: `${port}` }).exit;
      expect([code, stderr]).toEqual([
        1,
        `Port ${port} on 127.0.0.1 is in use. Stop the process that uses it, or set ${setting} to another port.\n`,
      ]);
    });

    it('if another process uses the data directory, and does not disturb it', async () => {
      const server = await local.start();
      const { code, stderr } = await local.run({ PORT: await findFreePort() }).exit;
      expect(code).toBe(1);
      expect(stderr).toMatch(/^The data directory \S+ is in use by another running process\. .+\n$/);
      expect((await local.add('Rex', server.key)).status).toBe(201);
    });

    it('if the data directory cannot be written', async () => {
      await writeFile(join(local.directory, 'file'), '');
      for (const [path, reason] of [
        ['file', 'a file with that name exists'],
        ['file/data', 'a parent of the path is a file'],
      ] as const) {
        const { code, stderr } = await local.run({ DATA_DIR: join(local.directory, path) }).exit;
        expect([code, stderr]).toEqual([
          1,
          expect.stringMatching(new RegExp(`^The data directory \\S+ cannot be written \\(${reason}\\)\\. .+\\n$`)),
        ]);
      }
    });

    it('if the database cannot be reached', async () => {
      const { code, stderr } = await local.run({
        DATABASE_URL: `postgres://u:secret@127.0.0.1:${await findFreePort()}/d`,
      }).exit;
      expect(code).toBe(1);
      expect(stderr).toMatch(/^The database cannot be used: .*ECONNREFUSED.*\n$/);
      expect(stderr).not.toContain('secret');
    });
  });

  describe('in a clone', () => {
    let clone: Clone;

    beforeAll(async () => {
      clone = await Clone.create();
    });

    const change = async (file: string, edit: (text: string) => string) => {
      const path = join(clone.directory, file);
      await writeFile(path, edit(await readFile(path, 'utf8')));
    };
    const readGuide = async ({ url }: { readonly url: string }, name: string) => {
      const response = await fetch(`${url}/docs${name}`);
      return [response.status, await response.text()] as const;
    };

    it('builds nothing if nothing has changed, and otherwise what has changed, for two starts at once', async () => {
      const first = await clone.start();
      expect(first.output).not.toContain('Built');
      await first.kill();

      await change('docs/errors.md', (text) => `${text}\nA sentence of this fork.\n`);
      await change('src/config/brand.ts', (text) => text.replace("title: 'Pet store'", "title: 'Toy store'"));
      const servers = await Promise.all([clone.start(), clone.start()]);
      for (const server of servers) {
        expect(server.output).toContain('Toy store, listening');
        for (const name of ['', '/getting-started', '/api', '/changelog', '/reference']) {
          expect((await readGuide(server, name))[0]).toBe(200);
        }
        expect(await readGuide(server, '/errors')).toEqual([200, expect.stringContaining('A sentence of this fork.')]);
      }
      await Promise.all(servers.map((server) => server.kill()));
      const again = await clone.start();
      expect(again.output).not.toContain('Built');
      await again.kill();
      expect((await readdir(clone.directory)).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
    }, 600_000);

    it('builds again if something else has changed dist, and not if a source has an error', async () => {
      await rm(join(clone.directory, 'dist/site/index.html'));
      await change('dist/src/config/brand.js', (text) => text.replace(/title: '.+?'/, "title: 'Another store'"));
      const server = await clone.start();
      expect(server.output).toMatch(/(Pet|Toy) store, listening/);
      expect((await readGuide(server, ''))[0]).toBe(200);
      await server.kill();

      await change('src/start-messages.ts', (text) => `${text}\nexport const LIMIT: number = 'none';\n`);
      const { code, output } = await (await clone.npm('start')).end();
      expect([code, output]).toEqual([1, expect.stringContaining("Type 'string' is not assignable to type 'number'")]);
      await change('src/start-messages.ts', (text) => text.replace(/\n.+\n$/, ''));
      const again = await clone.start();
      expect(again.output).not.toContain('Built');
      await again.kill();
    }, 600_000);

    it('starts what was built if development dependencies are not installed', async () => {
      await clone.removeDevelopmentDependencies();
      await change('docs/errors.md', (text) => `${text}\nAnother sentence.\n`);
      const server = await clone.start();
      expect(server.output).not.toContain('Built');
      expect((await readGuide(server, '/errors'))[0]).toBe(200);
      await server.kill();

      await rm(join(clone.directory, 'dist'), { recursive: true });
      expect(await (await clone.npm('start')).end()).toEqual({
        code: 1,
        output: expect.stringContaining('The service is not built, and the development dependencies') as string,
      });
    }, 300_000);
  });

  it('works in a directory whose path is too long for a socket', async () => {
    local.env.DATA_DIR = join(local.directory, 'long'.repeat(30), 'data');
    const server = await local.start();
    expect((await local.add('Rex', server.key)).status).toBe(201);
  });
});
