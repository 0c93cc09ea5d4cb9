import { Clock } from '../../src/shared/domain/clock';

/** A clock that stands still until a test moves it. */
export class TestClock extends Clock {
  private monotonicMs = 0;

  constructor(private time = Date.UTC(2026, 10, 21, 12, 0, 0)) {
    super();
  }

  now(): number {
    return this.time;
  }

  monotonic(): number {
    return this.monotonicMs;
  }

  /** Sets the clock, without letting time pass. */
  set(time: number): void {
    this.time = time;
  }

  /** Lets time pass. */
  advance(milliseconds: number): void {
    this.time += milliseconds;
    this.monotonicMs += milliseconds;
  }
}
