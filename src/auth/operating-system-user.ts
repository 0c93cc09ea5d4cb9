import { userInfo } from 'node:os';

/** Returns the user that runs this process: the name, or the uid if the user has no name, as in some containers. */
export function getOperatingSystemUser(readUser: () => { username: string } = userInfo): string {
  try {
    return readUser().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
