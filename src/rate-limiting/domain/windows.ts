export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** The use of one fixed window. */
export interface Window {
  readonly limit: number;
  used: number;
  readonly endsAt: number;
}

/** The end of the UTC calendar day, in ms since the epoch. */
export function endOfDay(now: number): number {
  return Math.floor(now / DAY_MS) * DAY_MS + DAY_MS;
}

/** The window the rate headers of an admitted request describe: the fewest requests left, on a tie the later end. */
export function tighter(a: Window, b: Window): Window {
  const difference = a.limit - a.used - (b.limit - b.used);
  return difference < 0 || (difference === 0 && a.endsAt > b.endsAt) ? a : b;
}

export function isExhausted({ used, limit }: Window): boolean {
  return used >= limit;
}
