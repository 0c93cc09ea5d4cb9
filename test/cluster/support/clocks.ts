import { existsSync, readdirSync } from 'node:fs';

/** The environment in which a program takes another time for the present: an offset such as `+45s` (libfaketime). */
export function clockAt(offset: string): Record<string, string> {
  // Timers go on as they are; only the date is another one.
  return { ...fakeTime(offset), FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' };
}

/** The environment in which all clocks and timers of a program run so many times as fast. */
export function clockSpeed(factor: number): Record<string, string> {
  return fakeTime(`+0 x${factor}`);
}

function fakeTime(specification: string): Record<string, string> {
  const library = readdirSync('/usr/lib')
    .map((directory) => `/usr/lib/${directory}/faketime/libfaketimeMT.so.1`)
    .find(existsSync);
  if (library === undefined) {
    throw new Error('libfaketime is not installed. On Debian or Ubuntu: apt-get install libfaketime');
  }
  return { LD_PRELOAD: library, FAKETIME: specification };
}
