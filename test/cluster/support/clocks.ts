import { existsSync, readdirSync } from 'node:fs';

/** Environment variables that shift the date of a program by an offset such as `+45s` (libfaketime). */
export function withClockOffset(offset: string): Record<string, string> {
  // Only the date changes: timers are not affected.
  return { ...createFakeTimeEnv(offset), FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' };
}

/** Environment variables that make all clocks and timers of a program run `factor` times as fast. */
export function withClockSpeed(factor: number): Record<string, string> {
  return createFakeTimeEnv(`+0 x${factor}`);
}

function createFakeTimeEnv(specification: string): Record<string, string> {
  const library = readdirSync('/usr/lib')
    .map((directory) => `/usr/lib/${directory}/faketime/libfaketimeMT.so.1`)
    .find(existsSync);
  if (library === undefined) {
    throw new Error('libfaketime is not installed. On Debian or Ubuntu: apt-get install libfaketime');
  }
  return { LD_PRELOAD: library, FAKETIME: specification };
}
