/** Where every part of the service reads the time, so that tests can set it. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract now(): number;
}

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}
