import { userInfo } from 'node:os';
import type { Operator } from './domain/operator';

/** The user that this process runs as: by name, or by uid if the system has no name for it, as in some containers. */
export function operatingSystemUser(read: () => { username: string } = userInfo): Operator {
  try {
    return { name: read().username };
  } catch {
    return { name: `uid ${process.getuid?.() ?? 'unknown'}` };
  }
}
