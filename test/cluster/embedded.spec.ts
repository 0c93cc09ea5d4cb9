import { once } from 'node:events';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { cleanUp } from '../support/cleanup';
import { mountSmallDisk } from '../support/small-disk';
import { findFreePort, parseLog } from '../support/process';
import { createEmbeddedService } from './support/embedded-service';

const TEMPLATE = join(__dirname, '../../dist/src/shared/persistence/embedded/embedded-template');

describe('A server on the embedded database', () => {
  let local: Awaited<ReturnType<typeof createEmbeddedService>>;

  beforeEach(async () => {
    local = await createEmbeddedService();
  });
  afterEach(cleanUp);

  it('logs that limits are counted in memory while Redis is unavailable', async () => {
    const server = await local.start({ REDIS_URL: `redis://127.0.0.1:${await findFreePort()}` });
    expect(server.stdout).toContain('Limits      counted in memory until Redis is available');
  });

  it('exits with one clear line when the disk is full at startup or later, and loses nothing', async () => {
    const [tiny, small] = [mountSmallDisk(8), mountSmallDisk(60)];
    if (tiny === undefined || small === undefined) {
      return;
    }
    const { code, stderr } = await local.run({ DATA_DIR: tiny.path }).exit;
    expect([code, await readdir(tiny.path)]).toEqual([1, []]);
    expect(stderr).toMatch(/^The data directory \S+ cannot be written \(the disk is full\)\. .+\n$/);

    local.env.DATA_DIR = small.path;
    const server = await local.start();
    expect((await local.add('Bella', server.key)).status).toBe(201);
    const client = new pg.Client({ host: small.path, user: 'postgres', database: 'postgres' });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('CREATE TABLE filler (text text)');
    const fill = async () => {
      for (;;) {
        await client.query('INSERT INTO filler SELECT repeat(md5(n::text), 20) FROM generate_series(1, 1000) n');
      }
    };
    await expect(fill()).rejects.toThrow('No space left on device');
    const ended = await server.exit;
    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(/FATAL The embedded database crashed: .*No space left on device/);
    const early = await local.run().exit;
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('cannot be written (the disk is full)')]);
    small.grow(200);
    const again = await local.start();
    expect(await (await local.list(again.key)).json()).toContainEqual(
      expect.objectContaining({ id: 4, name: 'Bella' }),
    );
  });

  it('stops once on the two SIGINT signals of Ctrl-C under npm, even during startup', async () => {
    const server = local.run();
    for (const text of ['The database schema is now up to date', '']) {
      const program = text === '' ? await local.start() : server;
      await program.waitForOutput(text);
      process.kill(program.pid, 'SIGINT');
      const { code, stdout } = await program.kill('SIGINT');
      expect(code).toBe(0);
      expect(stdout.match(/Stopping|Stopped/g)).toEqual(['Stopping', 'Stopped']);
    }
  });

  it('stops in order although a request never ends', async () => {
    const server = await local.start();
    const socket = connect(Number(local.env.PORT), '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(`POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\n`);
    socket.write('Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{');
    await local.list(server.key);
    const { code, stdout } = await server.kill('SIGTERM');
    expect([code, ...(stdout.match(/Stopping|Stopped/g) ?? [])]).toEqual([0, 'Stopping', 'Stopped']);
  });

  describe('exits with one clear line and a non-zero code', () => {
    it('in JSON outside development, at any LOG_LEVEL', async () => {
      for (const [changes, messages] of [
        [{ APP_ENV: 'production' }, ['DATABASE_URL is required when APP_ENV is production.']],
        [
          { APP_ENV: 'prod', PORT: 'abc' },
          ['APP_ENV must be development, staging or production.', 'PORT must be a whole number from 1 to 65535.'],
        ],
        [
          { APP_ENV: 'production', DATABASE_URL: 'postgres://u@127.0.0.1:1/d', HOST: '192.0.2.1', LOG_LEVEL: 'silent' },
          ['HOST 192.0.2.1 is not an IP address or host name of this machine.'],
        ],
      ] as const) {
        const { code, stdout, stderr } = await local.run(changes).exit;
        expect([code, stderr]).toEqual([1, '']);
        expect(parseLog(stdout)).toMatchObject(
          messages.map((message) => ({ 'log.level': 'fatal', 'event.action': 'start_failed', message })),
        );
      }
    });

    it('when the database files are damaged or from another PostgreSQL version, and leaves them unchanged', async () => {
      const files = join(local.env.DATA_DIR, 'postgres');
      await cp(TEMPLATE, files, { recursive: true });
      const version = await readFile(join(files, 'PG_VERSION'), 'utf8');
      const runWithFile = async (file: string, content: string) => {
        await writeFile(join(files, file), content);
        const { code, stderr } = await local.run().exit;
        expect([code, await readFile(join(files, file), 'utf8')]).toEqual([1, content]);
        return stderr;
      };
      expect(await runWithFile('PG_VERSION', '99\n')).toMatch(
        /^The database files in \S+ were written by PostgreSQL 99, .+\n$/,
      );
      expect(await runWithFile('PG_VERSION', '')).toMatch(/^The database files in \S+ are damaged \(PG_VERSION .+\n$/);
      await writeFile(join(files, 'PG_VERSION'), version);
      expect(await runWithFile('global/pg_control', '')).toMatch(/^The database files in \S+ are damaged \(.+\n$/);
    });
  });
});
