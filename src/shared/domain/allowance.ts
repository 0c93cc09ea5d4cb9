/** How many requests an account may make; both are integers of at least 1. */
export interface Allowance {
  readonly perMinute: number;
  readonly perDay: number;
}
