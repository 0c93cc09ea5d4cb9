import { getOperatingSystemUser } from './operating-system-user';

describe('The operator', () => {
  it('is the uid if the operating system user that runs the process has no name', () => {
    const noName = () => {
      throw new Error('ENOENT: no such user');
    };
    expect(getOperatingSystemUser(noName)).toBe(`uid ${process.getuid?.()}`);
  });
});
