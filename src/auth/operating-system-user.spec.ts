import { execFileSync } from 'node:child_process';
import { operatingSystemUser } from './operating-system-user';

describe('The operator', () => {
  it('is named as the operating system names the user of the process', () => {
    expect(operatingSystemUser().name).toBe(execFileSync('id', ['-un'], { encoding: 'utf8' }).trim());
  });

  it('is named by uid where the operating system has no name for it', () => {
    const noName = () => {
      throw new Error('ENOENT: no such user');
    };
    expect(operatingSystemUser(noName).name).toBe(`uid ${process.getuid?.()}`);
  });
});
