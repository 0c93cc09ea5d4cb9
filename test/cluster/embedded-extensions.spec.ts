import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTemporaryDirectory } from '../support/process';

describe('The embedded database', () => {
  it('lets migrations create the PostgreSQL extensions that it is opened with', async () => {
    const { path } = await createTemporaryDirectory();
    const script = join(__dirname, '../support/overlapping-appointments.cjs');
    const { stdout } = await promisify(execFile)(process.execPath, [script, path]);
    expect(stdout).toBe('booked\nbooked\n23P01\n');
  });
});
