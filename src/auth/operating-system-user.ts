import { userInfo } from 'node:os';
import type { Operator } from './domain/operator';

/** Returns the user that runs this process: by name, or by uid if the user has no name, as in some containers. */
export function getOperatingSystemUser(read: () => { username: string } = userInfo): Operator {
  try {
    return { name: read().username };
  } catch {
    return { name: `uid ${process.getuid?.() ?? 'unknown'}` };
  }
}
