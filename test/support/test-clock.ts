import { Clock } from '../../src/shared/domain/clock';

/** A clock that stands still until a test moves it. */
export class TestClock extends Clock {
  constructor(private time = Date.UTC(2026, 10, 21, 12, 0, 0)) {
    super();
  }

  now(): number {
    return this.time;
  }

  set(time: number): void {
    this.time = time;
  }

  advance(milliseconds: number): void {
    this.time += milliseconds;
  }
}
