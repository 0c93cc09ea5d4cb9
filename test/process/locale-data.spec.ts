import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Program } from '../support/process';

const ROOT = join(__dirname, '../..');
/** Reports each use of a constructor in `Intl`. */
const REPORT_USES = `
  for (const [name, value] of Object.entries(Object.getOwnPropertyDescriptors(Intl))) {
    if (typeof value.value === 'function') {
      const report = (use) => (...args) => (console.error('Used: Intl.' + name), use(...args));
      Intl[name] = new Proxy(value.value, { apply: report(Reflect.apply), construct: report(Reflect.construct) });
    }
  }`;
const REPORTING = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(REPORT_USES)}` };

describe('Locale data', () => {
  it('is not loaded at startup, because that takes 20 ms and 6 MiB', async () => {
    // The settings are read once everything is loaded.
    const { stdout, stderr } = await new Program('main.js', [], { ...REPORTING, PORT: 'none' }).exit;
    expect(stdout + stderr).toContain('PORT');
    expect(stderr).not.toContain('Used:');
  });

  it("is loaded for Nest's own logger when it writes a line", async () => {
    const script = `
      require('./dist/src/nest-date-formats');
      new (require('@nestjs/common').ConsoleLogger)().log('Hello');`;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['-e', script], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, ...REPORTING },
    });
    expect(stdout).toMatch(/\d+:\d\d:\d\d.*Hello/);
    expect(stderr).toBe('Used: Intl.DateTimeFormat\n');
  });
});
