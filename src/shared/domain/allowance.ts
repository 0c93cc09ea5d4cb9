/** The request limits of an account; both are integers of at least 1. */
export interface Allowance {
  readonly perMinute: number;
  readonly perDay: number;
}

/** The largest limit that an account can have for a window. */
export const MAX_REQUEST_LIMIT = 1_000_000_000;
