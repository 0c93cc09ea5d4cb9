/** How many requests an account may make; both are integers of at least 1. */
export interface Allowance {
  readonly perMinute: number;
  readonly perDay: number;
}

/** The largest number of requests that an account may be given for a window. */
export const MAX_ALLOWANCE = 1_000_000_000;
