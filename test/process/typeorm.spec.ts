import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ADMIN_DATABASE_URL } from '../support/worker-database';

const ROOT = join(__dirname, '../..');

describe("TypeORM's command line", () => {
  it('uses the database in DATABASE_URL', async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['scripts/typeorm.mjs', '--dataSource', 'dist/ormconfig.js', 'migration:show'],
      { cwd: ROOT, env: { DATABASE_URL: ADMIN_DATABASE_URL } },
    );
    expect(stdout).toMatch(/^(\[X\] \d+ \w+\n)+$/);
  });
});
