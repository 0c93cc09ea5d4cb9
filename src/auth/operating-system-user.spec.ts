import { execFileSync } from 'node:child_process';
import { operatingSystemUser } from './operating-system-user';

describe('The operator', () => {
  it('is the user of the process, as the operating system names it', () => {
    expect(operatingSystemUser().name).toBe(execFileSync('id', ['-un'], { encoding: 'utf8' }).trim());
  });

  it('is the uid if the operating system has no name for it', () => {
    const noName = () => {
      throw new Error('ENOENT: no such user');
    };
    expect(operatingSystemUser(noName).name).toBe(`uid ${process.getuid?.()}`);
  });
});
