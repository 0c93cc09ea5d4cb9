import { integer } from '../../config/formats';
import { type DeclaredSettings, declareSettings } from '../../config/settings';

const WEEK_SECONDS = 604_800;

export const RATE_LIMIT_SETTINGS = declareSettings({
  /** The number of failed authentications allowed per minute and client IP address. */
  authFailuresPerMinute: ['AUTH_FAILURES_PER_MINUTE', integer(1, 1_000_000), 60],
  /** The period over which rejected requests of a key are counted, in seconds. */
  banWindowSeconds: ['BAN_WINDOW_SECONDS', integer(1, WEEK_SECONDS), 600],
  /** The period after the first rejection in an exhausted window in which rejections do not count towards a ban, in seconds. */
  banGraceSeconds: ['BAN_GRACE_SECONDS', integer(0, 3_600), 1],
  /** The durations of consecutive bans, in seconds; the last one repeats. */
  banDurationsSeconds: [
    'BAN_DURATIONS_SECONDS',
    {
      requirement: 'be one to ten whole numbers of seconds from 1 to 999999, separated by commas',
      parse: (text: string): readonly number[] | undefined =>
        /^[1-9]\d{0,5}(,[1-9]\d{0,5}){0,9}$/.test(text) ? text.split(',').map(Number) : undefined,
    },
    [900, 3600, 86_400],
  ],
  /** The period after a ban in which the next ban is longer, in seconds. */
  banMemorySeconds: ['BAN_MEMORY_SECONDS', integer(1, WEEK_SECONDS), 86_400],
});

export type RateLimitSettings = DeclaredSettings<typeof RATE_LIMIT_SETTINGS>;
