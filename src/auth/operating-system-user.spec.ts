import { execFileSync } from 'node:child_process';
import { getOperatingSystemUser } from './operating-system-user';

describe('The operator', () => {
  it('is the name of the operating system user that runs the process', () => {
    expect(getOperatingSystemUser()).toBe(execFileSync('id', ['-un'], { encoding: 'utf8' }).trim());
  });

  it('is the uid if that user has no name', () => {
    const noName = () => {
      throw new Error('ENOENT: no such user');
    };
    expect(getOperatingSystemUser(noName)).toBe(`uid ${process.getuid?.()}`);
  });
});
