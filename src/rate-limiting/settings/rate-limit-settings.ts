import { integer } from '../../config/formats';
import { type DeclaredSettings, declareSettings } from '../../config/settings';

const WEEK_SECONDS = 604_800;

export const RATE_LIMIT_SETTINGS = declareSettings({
  authFailuresPerMinute: [
    'AUTH_FAILURES_PER_MINUTE',
    integer(1, 1_000_000),
    60,
    'requests [without a valid key](api.md#requests-without-a-valid-key) per minute and client IP address',
  ],
  banWindowSeconds: [
    'BAN_WINDOW_SECONDS',
    integer(1, WEEK_SECONDS),
    600,
    'period in which the 429 responses of a key are counted for a [ban](api.md#bans)',
  ],
  banGraceSeconds: [
    'BAN_GRACE_SECONDS',
    integer(0, 3_600),
    1,
    'period after the first 429 of an exhausted window in which further ones do not count towards a ban',
  ],
  banDurationsSeconds: [
    'BAN_DURATIONS_SECONDS',
    {
      requirement: 'be one to ten whole numbers of seconds from 1 to 999999, separated by commas',
      parse: (text: string): readonly number[] | undefined =>
        /^[1-9]\d{0,5}(,[1-9]\d{0,5}){0,9}$/.test(text) ? text.split(',').map(Number) : undefined,
    },
    [900, 3600, 86_400],
    'duration of the first, second, … ban; the last one repeats',
  ],
  banMemorySeconds: [
    'BAN_MEMORY_SECONDS',
    integer(1, WEEK_SECONDS),
    86_400,
    'period after a ban in which the next ban is longer',
  ],
});

export type RateLimitSettings = DeclaredSettings<typeof RATE_LIMIT_SETTINGS>;
