import { userInfo } from 'node:os';
import type { Operator } from './domain/operator';

/** Returns the user that runs this process: the name, or the uid if the user has no name, as in some containers. */
export function getOperatingSystemUser(readUser: () => { username: string } = userInfo): Operator {
  try {
    return { name: readUser().username };
  } catch {
    return { name: `uid ${process.getuid?.() ?? 'unknown'}` };
  }
}
