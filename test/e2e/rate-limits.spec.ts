import { type TestResponse, getCode, parseRateLimit, TestService } from '../support/service';

const MINUTE = 60_000;
const DAY = 86_400_000;

describe('Rate limits', () => {
  let service: TestService;
  let midnight: number;

  beforeAll(async () => {
    service = await TestService.start();
  });
  // Each test begins at noon (UTC).
  beforeEach(() => {
    midnight = (Math.floor(service.clock.now() / DAY) + 2) * DAY;
    service.clock.advance(midnight - DAY / 2 - service.clock.now());
  });
  afterAll(() => service.close());

  const list = (key: string) => service.get('/v1/pets', { key });
  const listRepeatedly = (count: number, key: string) => Promise.all(Array.from({ length: count }, () => list(key)));

  it.each([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ] as const)(
    'plan %s has %d requests a minute and %d a day, and shows how many are left',
    async (plan, limit, perDay) => {
      const key = await service.createKey(plan);
      const reset = service.clock.now() / 1_000 + 60;
      expect(parseRateLimit(await list(key))).toEqual({ limit, remaining: limit - 1, reset });
      const second = await list(key);
      expect(parseRateLimit(second)).toEqual({ limit, remaining: limit - 2, reset });
      expect(second.headers['ratelimit-policy']).toContain(`"day";q=${perDay};w=86400`);
    },
  );

  it('plan enterprise has the limits of its account', async () => {
    const key = await service.createKey('enterprise', { perMinute: 3, perDay: 50 });
    expect((await listRepeatedly(5, key)).map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429]);
  });

  it('exactly 60 of 200 concurrent requests with a free key pass, with each remaining value from 59 to 0 once', async () => {
    const key = await service.createKey('free');
    const responses = await listRepeatedly(200, key);
    const passed = responses.filter(({ status }) => status === 200);
    expect(passed.map((response) => parseRateLimit(response).remaining).sort((a, b) => b - a)).toEqual(
      Array.from({ length: 60 }, (_, index) => 59 - index),
    );
    expect(responses.filter((response) => getCode(response) === 'rate_limit_exceeded')).toHaveLength(140);
    service.clock.advance(MINUTE);
    expect((await list(key)).status).toBe(200);
  });

  it('429 returns when to retry, and the request then passes', async () => {
    const key = await service.createKey('free');
    await listRepeatedly(60, key);
    service.clock.advance(20_500);
    const rejected = await list(key);
    expect([rejected.status, getCode(rejected), rejected.headers['retry-after']]).toEqual([
      429,
      'rate_limit_exceeded',
      '40',
    ]);
    expect(parseRateLimit(rejected)).toEqual({ limit: 60, remaining: 0, reset: service.clock.now() / 1_000 + 39.5 });
    service.clock.advance(40_000);
    expect((await list(key)).status).toBe(200);
  });

  it('all keys of an account share its limits', async () => {
    const [first = '', second = ''] = await service.createKeys(2, 'free');
    await listRepeatedly(59, first);
    expect(parseRateLimit(await list(second)).remaining).toBe(0);
    expect((await list(first)).status).toBe(429);
  });

  it('every request counts unless its response is 429', async () => {
    const key = await service.createKey('free');
    const responses: TestResponse[] = [
      await service.get('/v1/pets', { key }),
      await service.get('/v1/pets?limit=0', { key }),
      await service.get('/v1/pets/1', { key }),
      await service.get('/v1/nowhere', { key }),
      await service.get('/v1/pets/', { key }),
      await service.call('DELETE', '/v1/pets', { key }),
      await service.post('/v1/pets', { key, body: '{' }),
      await service.post('/v1/pets', { key, body: 'a'.repeat(70_000) }),
      await service.post('/v1/pets', { key, body: '{}', headers: { 'content-type': 'text/plain' } }),
      await service.get('/v1/pets/%zz', { key }),
      await service.get(`/v1/pets?${'a'.repeat(9_000)}`, { key }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 400, 404, 404, 404, 405, 400, 413, 415, 400, 414]);
    expect(responses.map((response) => parseRateLimit(response).remaining)).toEqual([
      59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49,
    ]);
  });

  it('the headers show the window with the fewest requests left, and on a tie the one that ends later', async () => {
    const key = await service.createKey('enterprise', { perMinute: 10, perDay: 12 });
    expect(parseRateLimit(await list(key)).limit).toBe(10);
    service.clock.advance(MINUTE);
    // 9 requests are left in the minute, 10 in the day.
    expect(parseRateLimit(await list(key))).toEqual({
      limit: 10,
      remaining: 9,
      reset: service.clock.now() / 1_000 + 60,
    });
    service.clock.advance(MINUTE);
    // 9 requests are left in each window.
    expect(parseRateLimit(await list(key))).toEqual({ limit: 12, remaining: 9, reset: midnight / 1_000 });
  });

  it('an exhausted day returns 429 daily_quota_exceeded until midnight UTC, and these requests do not count in the minute', async () => {
    const key = await service.createKey('enterprise', { perMinute: 10, perDay: 5 });
    await listRepeatedly(5, key);
    const rejected = await list(key);
    expect([rejected.status, getCode(rejected)]).toEqual([429, 'daily_quota_exceeded']);
    expect(parseRateLimit(rejected)).toEqual({ limit: 5, remaining: 0, reset: midnight / 1_000 });
    expect(rejected.headers['retry-after']).toBe(`${12 * 3_600}`);
    service.clock.advance(midnight - service.clock.now());
    expect(parseRateLimit(await list(key))).toMatchObject({ limit: 5, remaining: 4 });
  });

  it('a key that keeps sending for more than a second after 429 is banned for 15 minutes, then 1 hour, then 24 hours', async () => {
    const [key = '', other = ''] = await service.createKeys(2, 'enterprise', { perMinute: 3, perDay: 1_000 });
    for (const seconds of [900, 3_600, 86_400, 86_400]) {
      await listRepeatedly(4, key);
      service.clock.advance(2_000);
      expect((await listRepeatedly(3, key)).map(getCode)).toEqual(Array(3).fill('rate_limit_exceeded'));
      const banned = await list(key);
      const end = service.clock.now() / 1_000 + seconds;
      expect([banned.status, getCode(banned)]).toEqual([429, 'key_temporarily_banned']);
      expect(parseRateLimit(banned)).toEqual({ limit: 3, remaining: 0, reset: end });
      expect(banned.headers['retry-after']).toBe(`${seconds}`);

      service.clock.advance(seconds * 1_000 - 1);
      const stillBanned = await list(key);
      expect([getCode(stillBanned), parseRateLimit(stillBanned).reset]).toEqual(['key_temporarily_banned', end]);
      expect((await list(other)).status).toBe(200);
      service.clock.advance(MINUTE + 1);
    }
    service.clock.advance(86_400_000);
    await listRepeatedly(4, key);
    service.clock.advance(2_000);
    await listRepeatedly(3, key);
    expect((await list(key)).headers['retry-after']).toBe('900');
  });

  describe('RateLimit and RateLimit-Policy', () => {
    const readWindows = ({ headers }: TestResponse) => [headers['ratelimit-policy'], headers.ratelimit];
    /** Also of a plan with more windows. */
    const readMinuteAndDay = (response: TestResponse) =>
      readWindows(response).map((header = '') => header.match(/"(minute|day)";[^,]+/g)?.join());

    it('describe every window of the plan: its limit and length, the requests left, and the seconds until it ends', async () => {
      const key = await service.createKey('free');
      await list(key);
      service.clock.advance(17_500);
      expect(readMinuteAndDay(await list(key))).toEqual([
        '"minute";q=60;w=60,"day";q=1000;w=86400',
        '"minute";r=58;t=43,"day";r=998;t=43183',
      ]);
      service.clock.advance(MINUTE);
      expect(readMinuteAndDay(await list(key))[1]).toBe('"minute";r=59;t=60,"day";r=997;t=43123');
    });

    it('are the same for GET /v1/rate-limit, which is not counted', async () => {
      const key = await service.createKey('pro');
      const counted = readWindows(await list(key));
      expect(readWindows(await service.get('/v1/rate-limit', { key }))).toEqual(counted);
    });

    it('say that no request is left until a ban ends', async () => {
      const key = await service.createKey('enterprise', { perMinute: 1, perDay: 50 });
      await listRepeatedly(2, key);
      service.clock.advance(2_000);
      await listRepeatedly(2, key);
      service.clock.advance(MINUTE);
      for (const banned of [await list(key), await service.get('/v1/rate-limit', { key })]) {
        expect(readMinuteAndDay(banned)).toEqual([
          '"minute";q=1;w=60,"day";q=50;w=86400',
          '"minute";r=0;t=840,"day";r=0;t=840',
        ]);
      }
    });

    it('describe the window of the client IP address in responses without an account', async () => {
      const policy = '"client-ip";q=60;w=60';
      const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
      expect(readWindows(await service.get('/v1/pets'))).toEqual([policy, '"client-ip";r=59;t=60']);
      service.clock.advance(10_000);
      expect(readWindows(await service.get('/v1/pets', { key: 'wrong' }))).toEqual([policy, '"client-ip";r=58;t=50']);
      expect(readWindows(await service.call('OPTIONS', '/v1/pets', { headers: preflight }))).toEqual([
        ...[policy, '"client-ip";r=58;t=50'],
      ]);
      const malformed = await service.sendRaw('GET /v1/pets HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n');
      expect(malformed).toContain(`\r\nratelimit-policy: ${policy}\r\nratelimit: "client-ip";r=58;t=50\r\n`);
      await Promise.all(Array.from({ length: 58 }, () => service.get('/v1/pets')));
      const rejected = await service.get('/v1/pets');
      expect([getCode(rejected), ...readWindows(rejected)]).toEqual([
        ...['too_many_auth_failures', policy, '"client-ip";r=0;t=50'],
      ]);
    });
  });

  describe('GET /v1/rate-limit', () => {
    const getUsage = (key: string) => service.get('/v1/rate-limit', { key });

    it('shows every window, and is counted in none', async () => {
      const key = await service.createKey('free');
      const now = service.clock.now() / 1_000;
      const unused = {
        minute: { limit: 60, remaining: 60, reset: now + 60 },
        day: { limit: 1_000, remaining: 1_000, reset: midnight / 1_000 },
      };
      expect((await getUsage(key)).body).toMatchObject(unused);
      expect((await getUsage(key)).body).toMatchObject(unused);
      await listRepeatedly(3, key);
      service.clock.advance(20_500);
      const response = await getUsage(key);
      expect([response.status, response.body]).toMatchObject([
        200,
        {
          minute: { limit: 60, remaining: 57, reset: now + 60 },
          day: { limit: 1_000, remaining: 997, reset: midnight / 1_000 },
        },
      ]);
      // The headers show the window with fewer requests left.
      expect(parseRateLimit(response)).toEqual({ limit: 60, remaining: 57, reset: now + 60 });
    });

    it('responds while the minute is exhausted, and does not count towards a ban', async () => {
      const key = await service.createKey('enterprise', { perMinute: 2, perDay: 50 });
      await listRepeatedly(3, key);
      service.clock.advance(2_000);
      const responses = await Promise.all(Array.from({ length: 20 }, () => getUsage(key)));
      expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
      expect(responses[0]?.headers['retry-after']).toBeUndefined();
      expect((await listRepeatedly(2, key)).map(getCode)).toEqual(Array(2).fill('rate_limit_exceeded'));
    });

    it('shows a ban of the key, which other keys of the account do not have', async () => {
      const [key = '', other = ''] = await service.createKeys(2, 'enterprise', { perMinute: 1, perDay: 50 });
      await listRepeatedly(2, key);
      service.clock.advance(2_000);
      await listRepeatedly(2, key);
      const end = service.clock.now() / 1_000 + 900;
      service.clock.advance(MINUTE);
      const banned = await getUsage(key);
      const minute = { limit: 1, remaining: 1, reset: service.clock.now() / 1_000 + 60 };
      expect([banned.status, banned.body]).toMatchObject([
        200,
        { minute, day: { remaining: 49 }, ban: { reset: end } },
      ]);
      expect(parseRateLimit(banned)).toEqual({ limit: 1, remaining: 0, reset: end });
      expect((await getUsage(other)).body).toMatchObject({ minute });
      expect((await getUsage(other)).body).not.toHaveProperty('ban');
    });
  });
});
