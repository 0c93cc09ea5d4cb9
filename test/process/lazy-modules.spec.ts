import { execFile } from 'node:child_process';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort, Program } from '../support/process';
import { ADMIN_DATABASE_URL } from '../support/worker-database';

const ROOT = join(__dirname, '../..');
/** When the process exits, prints the names of the loaded modules that only some applications need. */
const PRINT_MODULES = `
  import { createRequire } from 'node:module';
  const { cache } = createRequire('/');
  process.on('exit', () => {
    const paths = Object.values(cache).map(({ filename }) => filename ?? '');
    console.error(paths.filter((path) => /node_modules.(libphonenumber|semver|@sqltools|tinyglobby)|Driver[.]js$/.test(path)).join());
  });`;
/** Uses some of the modules, directly and through the packages that load them. */
const USE_MODULES = `
  const phoneNumbers = require('libphonenumber-js/max');
  const { isPhoneNumber } = require('class-validator');
  const { DataSource } = require('typeorm');
  const openDataSource = (type) => {
    try {
      return new DataSource({ type }).driver.constructor.name;
    } catch ({ message }) {
      return message;
    }
  };
  console.log(JSON.stringify({
    exports: Object.keys(phoneNumbers),
    copiedExports: Object.keys({ ...phoneNumbers }),
    hasExport: 'parsePhoneNumber' in phoneNumbers,
    phoneNumbers: ['+41446681800', '+4144'].map((each) => isPhoneNumber(each)),
    dataSources: ['cockroachdb', 'mysql'].map(openDataSource),
  }));`;

async function run(script: string): Promise<Record<string, unknown>> {
  const options = { cwd: ROOT, env: { PATH: process.env.PATH } };
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], options);
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('Modules that the service does not use', () => {
  it('are not loaded by a replica, because that takes 30 ms and 5 MiB', async () => {
    const replica = new Program('main.js', [], {
      APP_ENV: 'production',
      DATABASE_URL: ADMIN_DATABASE_URL,
      PORT: await findFreePort(),
      DRAIN_SECONDS: '0',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PRINT_MODULES)}`,
    });
    await replica.waitForOutput('Listening');
    const { stderr } = await replica.kill('SIGTERM');
    expect(stderr.split(',').map((path) => basename(path.trim()))).toEqual(['PostgresDriver.js']);
  });

  it('work as usual once something uses them', async () => {
    const [actual, usual] = await Promise.all([
      run(`require('./dist/src/lazy-modules'); ${USE_MODULES}`),
      run(USE_MODULES),
    ]);
    expect(actual).toEqual(usual);
    expect(actual).toMatchObject({
      phoneNumbers: [true, false],
      dataSources: ['CockroachDriver', expect.stringContaining('npm install mysql2')],
    });
  });
});
