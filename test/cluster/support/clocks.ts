import { existsSync, readdirSync } from 'node:fs';

/** Environment variables that shift the date of a program by an offset such as `+45s` (libfaketime). */
export function withClockOffset(offset: string): Record<string, string> {
  // Only the date changes: timers are not affected.
  return { LD_PRELOAD: findFakeTime(), FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' };
}

function findFakeTime(): string {
  const library = readdirSync('/usr/lib')
    .map((directory) => `/usr/lib/${directory}/faketime/libfaketimeMT.so.1`)
    .find(existsSync);
  if (library === undefined) {
    throw new Error('libfaketime is not installed. On Debian or Ubuntu: apt-get install libfaketime');
  }
  return library;
}
