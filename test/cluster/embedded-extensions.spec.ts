import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

describe('The embedded database', () => {
  it('lets migrations create the PostgreSQL extensions that it is opened with', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'petstore-extensions-'));
    try {
      const script = join(__dirname, '../support/overlapping-appointments.cjs');
      const { stdout } = await promisify(execFile)(process.execPath, [script, dataDir]);
      expect(stdout).toBe('booked\nbooked\n23P01\n');
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });
});
