/** Where every part of the service reads the time, so that tests can set it. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. Jumps when the system's clock is set. */
  abstract now(): number;

  /** Whole milliseconds since an arbitrary moment, unaffected when the system's clock is set: for how long something is remembered. */
  abstract monotonic(): number;
}

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }

  monotonic(): number {
    return Math.floor(performance.now());
  }
}
