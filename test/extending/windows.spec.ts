import { PLAN_ALLOWANCES } from '../../src/auth/domain/account';
import { getCode, parseRateLimit, TestService } from '../support/service';

jest.mock('../../src/shared/domain/allowance', () => jest.requireActual<object>('../support/four-windows'));

describe('A window that a fork adds to the list', () => {
  let service: TestService;

  beforeAll(async () => {
    // The numbers that the compiler requires for each plan; those of the enterprise plan apply to all its accounts.
    Object.assign(PLAN_ALLOWANCES.free, { perHour: 3, perWeek: 5_000 });
    Object.assign(PLAN_ALLOWANCES.enterprise, { perHour: 2, perWeek: 5_000 });
    service = await TestService.start();
  });
  afterAll(() => service.close());

  const list = (key: string) => service.get('/v1/pets', { key });

  it('limits requests, with an error code, and appears in the headers and in the rate limit usage', async () => {
    const key = await service.createKey('free');
    const now = service.clock.now() / 1_000;
    const [first, , third] = [await list(key), await list(key), await list(key)];
    expect([first.status, first.headers['ratelimit-policy'], first.headers.ratelimit]).toEqual([
      200,
      '"minute";q=60;w=60, "hour";q=3;w=3600, "day";q=1000;w=86400, "week";q=5000;w=604800',
      '"minute";r=59;t=60, "hour";r=2;t=3600, "day";r=999;t=43200, "week";r=4999;t=388800',
    ]);
    expect(parseRateLimit(third)).toEqual({ limit: 3, remaining: 0, reset: now + 3_600 });
    service.clock.advance(61_000);
    const rejected = await list(key);
    expect([rejected.status, rejected.headers['retry-after'], rejected.body]).toEqual([
      429,
      '3539',
      {
        code: 'hourly_quota_exceeded',
        message: "The plan's requests for this hour are used up. Wait for the number of seconds in Retry-After.",
        status: 429,
      },
    ]);
    expect((await service.get('/v1/rate-limit', { key })).body).toEqual({
      minute: { limit: 60, remaining: 60, reset: now + 121 },
      hour: { limit: 3, remaining: 0, reset: now + 3_600 },
      day: { limit: 1_000, remaining: 997, reset: now + 43_200 },
      week: { limit: 5_000, remaining: 4_997, reset: now + 388_800 },
    });
    service.clock.advance(3_539_000);
    expect((await list(key)).status).toBe(200);
  });

  it('applies to enterprise accounts, whose other limits are their own', async () => {
    const key = await service.createKey('enterprise', { perMinute: 5, perDay: 50 });
    const responses = [await list(key), await list(key), await list(key)];
    expect(responses.map(getCode)).toEqual([undefined, undefined, 'hourly_quota_exceeded']);
    expect(responses[0]?.headers['ratelimit-policy']).toMatch(/^"minute";q=5;w=60, "hour";q=2;.+"day";q=50;/);
  });
});
