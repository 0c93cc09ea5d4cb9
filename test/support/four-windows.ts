import type * as allowance from '../../src/shared/domain/allowance';

const actual = jest.requireActual<typeof allowance>('../../src/shared/domain/allowance');
const [minute, day] = ['minute', 'day'].map((name) => actual.WINDOWS.find((window) => window.name === name));

/** What `jest.mock()` puts in place of `src/shared/domain/allowance.ts`: the windows of a fork with an hour and a week. */
module.exports = {
  ...actual,
  WINDOWS: [
    minute,
    { name: 'hour', limit: 'perHour', lengthMs: 3_600_000, opens: 'first request', error: 'hourly_quota_exceeded' },
    day,
    { name: 'week', limit: 'perWeek', lengthMs: 604_800_000, opens: 'calendar', error: 'weekly_quota_exceeded' },
  ],
};
