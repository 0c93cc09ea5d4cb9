import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ADMIN_DATABASE_URL } from '../support/worker-database';

const ROOT = join(__dirname, '../..');

describe("TypeORM's command line", () => {
  it.each([
    ['migration:show', /^(\[X\] \d+ \w+\n)+$/],
    ['migration:generate --check src/none', /^No changes in database schema were found\n$/],
  ])('reads ormconfig.ts: %s', async (command, output) => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(ROOT, 'node_modules/typeorm/cli.js'), '--dataSource', 'dist/ormconfig.js', ...command.split(' ')],
      {
        cwd: ROOT,
        env: { DATABASE_URL: ADMIN_DATABASE_URL },
      },
    );
    expect(stdout).toMatch(output);
  });
});
