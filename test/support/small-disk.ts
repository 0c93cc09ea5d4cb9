import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onEnd } from './cleanup';

export interface SmallDisk {
  readonly path: string;
  grow(mebibytes: number): void;
}

/** Mounts an in-memory file system of the given size. @returns undefined if this user may not mount file systems */
export function mountSmallDisk(mebibytes: number): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), 'petstore-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    rmSync(path, { recursive: true });
    return undefined;
  }
  onEnd(() => {
    execFileSync('umount', [path]);
    rmSync(path, { recursive: true });
  });
  return { path, grow: (size) => execFileSync('mount', ['-o', `remount,size=${size}m`, path]) };
}
