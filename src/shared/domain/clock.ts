/** The time source of the whole service, so that tests can set the time. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. Jumps if the system clock is set. */
  abstract now(): number;

  /** Whole milliseconds since an arbitrary moment, unaffected if the system clock is set: for durations and expiry. */
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
