import { AccountsService, KeysService } from '../../src/auth';
import { generateSecret } from '../../src/auth/api-key-secret';
import { AuthFailureThrottle } from '../../src/auth/http/auth-failure-throttle';
import { eventually } from '../cluster/support/replica';
import { getCode, parseRateLimit, TestService } from '../support/service';

describe('Authentication', () => {
  let service: TestService;
  let key: string;

  beforeAll(async () => {
    service = await TestService.start({ AUTH_FAILURES_PER_MINUTE: '1000000' });
    key = await service.createKey();
  });
  afterAll(() => service.close());

  const sendAuthorization = (authorization: string | string[]) =>
    service.get('/v1/pets', { headers: { authorization } });
  const damage = (text: string) => (text.endsWith('A') ? `${text.slice(0, -1)}B` : `${text.slice(0, -1)}A`);

  it('finds the account of each key, although keys that arrive together are looked up together', async () => {
    const limits = Array.from({ length: 10 }, (_, index) => index + 1);
    const keys: string[] = [];
    for (const perMinute of limits) {
      keys.push(await service.createKey('enterprise', { perMinute, perDay: 99 }));
    }
    const responses = await Promise.all(keys.map((each) => service.get('/v1/pets', { key: each })));
    expect(responses.map(({ headers }) => Number(headers['x-ratelimit-limit']))).toEqual(limits);
  });

  describe('accepts', () => {
    it.each(['Bearer ', 'bearer ', 'BEARER ', 'bEaReR   '])('a valid key after "%s"', async (scheme) => {
      expect((await sendAuthorization(scheme + key)).status).toBe(200);
    });

    it('a key until the moment it expires, then returns 401 expired_api_key', async () => {
      const account = await service.app.get(AccountsService).create('Test', 'pro');
      const expiresAt = new Date(service.clock.now() + 10_500);
      const { secret } = await service.app.get(KeysService).create(account.id, expiresAt);
      service.clock.advance(10_400);
      expect((await service.get('/v1/pets', { key: secret })).status).toBe(200);
      service.clock.advance(100);
      const response = await service.get('/v1/pets', { key: secret });
      expect([response.status, getCode(response)]).toEqual([401, 'expired_api_key']);
      expect(response.headers['www-authenticate']).toBe('Bearer realm="petstore", error="invalid_token"');
    });

    it('a revoked key for no longer than a second, even if the clock is set back meanwhile', async () => {
      const account = await service.app.get(AccountsService).create('Test', 'pro');
      const issued = await service.app.get(KeysService).create(account.id);
      expect((await service.get('/v1/pets', { key: issued.secret })).status).toBe(200);
      await service.app.get(KeysService).revoke(issued.key.id);
      service.clock.set(service.clock.now() - 3_600_000);
      service.clock.advance(1_000);
      expect(getCode(await service.get('/v1/pets', { key: issued.secret }))).toBe('invalid_api_key');
    });
  });

  describe('401 missing_api_key, with a bare challenge', () => {
    it.each([
      ['no header', undefined],
      ['another scheme', 'Basic dXNlcjpwYXNz'],
      ['no token', 'Bearer'],
      ['an empty header', ''],
    ])('%s', async (_, authorization) => {
      const response = await service.get('/v1/pets', authorization === undefined ? {} : { headers: { authorization } });
      expect([response.status, getCode(response)]).toEqual([401, 'missing_api_key']);
      expect(response.headers['www-authenticate']).toBe('Bearer realm="petstore"');
    });

    it.each(['GET', 'POST'])(
      'a key as access_token in the query or the body of %s is not a credential',
      async (method) => {
        const response = await service.call(method, `/v1/pets?access_token=${key}`, {
          ...(method === 'POST' && {
            body: `access_token=${key}`,
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
          }),
        });
        expect([response.status, getCode(response)]).toEqual([401, 'missing_api_key']);
      },
    );
  });

  describe('401 invalid_api_key, with error="invalid_token"', () => {
    it.each<[string, (key: string) => string | string[]]>([
      ['an unknown text', () => 'Bearer x'],
      ['a key with a damaged checksum', (valid) => `Bearer ${damage(valid)}`],
      ['a key of production', () => `Bearer ${generateSecret('production')}`],
      ['a key in other case', (valid) => `Bearer ${valid.toUpperCase()}`],
      ['a key cut short', (valid) => `Bearer ${valid.slice(0, -1)}`],
      ['two tokens', (valid) => `Bearer ${valid} ${valid}`],
      ['a token that is not a b64token', (valid) => `Bearer "${valid}"`],
      ['a tab instead of a space', (valid) => `Bearer \t${valid}`],
      ['two Authorization headers', (valid) => [`Bearer ${valid}`, `Bearer ${valid}`]],
      ['a second header', (valid) => [`Bearer ${valid}`, 'Basic dXNlcjpwYXNz']],
      ['a key in the second header', (valid) => ['Basic dXNlcjpwYXNz', `Bearer ${valid}`]],
      ['a list', (valid) => `Bearer ${valid}, Bearer ${valid}`],
    ])('%s', async (_, authorization) => {
      const response = await sendAuthorization(authorization(key));
      expect([response.status, getCode(response)]).toEqual([401, 'invalid_api_key']);
      expect(response.headers['www-authenticate']).toBe('Bearer realm="petstore", error="invalid_token"');
    });

    it('a well-formed key that was never issued', async () => {
      const other = await TestService.start({ AUTH_FAILURES_PER_MINUTE: '1000000' });
      try {
        // The other service emptied the database when it started, so this well-formed key is unknown now.
        service.clock.advance(1_000);
        expect(getCode(await sendAuthorization(`Bearer ${key}`))).toBe('invalid_api_key');
        key = await service.createKey();
      } finally {
        await other.close();
      }
    });
  });

  describe('comes before everything else under /v1', () => {
    it.each([
      ['GET', '/v1/nowhere', undefined],
      ['GET', '/v1', undefined],
      ['GET', '/v1/', undefined],
      ['DELETE', '/v1/pets', undefined],
      ['PROPFIND', '/v1/pets', undefined],
      ['OPTIONS', '/v1/pets', undefined],
      ['GET', '/v1/pets?limit=0', undefined],
      ['GET', '/v1/pets/', undefined],
      ['GET', '/v1//pets', undefined],
      ['GET', '/v1/pets/%zz', undefined],
      ['GET', `/v1/pets?x=${'a'.repeat(9_000)}`, undefined],
      ['POST', '/v1/pets', '{"broken'],
      ['POST', '/v1/pets', 'a'.repeat(100_000)],
      ['POST', '/v1/nowhere', '{}'],
    ])('%s %.30s without a key is 401', async (method, path, body) => {
      const response = await service.call(method, path, { body });
      expect(response.status).toBe(401);
    });
  });
});

describe('Too many failed authentications from one client IP address', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start({ TRUST_PROXY: '1' });
  });
  afterAll(() => service.close());

  const sendFrom = (address: string, key?: string) =>
    service.get('/v1/pets', { key, headers: { 'x-forwarded-for': address } });

  it('return 401 for the first 60 in a minute, with the number left, then 429 until the minute ends', async () => {
    const start = service.clock.now();
    for (let left = 59; left >= 0; left--) {
      const response = await sendFrom('192.0.2.1');
      expect([response.status, parseRateLimit(response)]).toEqual([
        401,
        { limit: 60, remaining: left, reset: start / 1_000 + 60 },
      ]);
    }
    const rejected = await sendFrom('192.0.2.1');
    expect([rejected.status, getCode(rejected)]).toEqual([429, 'too_many_auth_failures']);
    expect(rejected.headers['retry-after']).toBe('60');
    expect(parseRateLimit(rejected)).toEqual({ limit: 60, remaining: 0, reset: start / 1_000 + 60 });
    expect((await sendFrom('192.0.2.2')).status).toBe(401);
    service.clock.advance(60_000);
    expect((await sendFrom('192.0.2.1')).status).toBe(401);
  });

  it('never delay a valid key, not even a new one while the responses to others are delayed', async () => {
    const key = await service.createKey();
    let release: () => void = () => undefined;
    const delay = new Promise<void>((resolve) => (release = resolve));
    const wait = jest.spyOn(AuthFailureThrottle.prototype, 'wait').mockReturnValue(delay);
    const failures = Array.from({ length: 61 }, () => sendFrom('192.0.2.3'));
    try {
      await eventually(5_000, () => wait.mock.calls.length >= 56);
      let status: number | undefined;
      void sendFrom('192.0.2.3', key).then((response) => (status = response.status));
      await eventually(5_000, () => status !== undefined);
      expect(status).toBe(200);
    } finally {
      release();
      wait.mockRestore();
    }
    expect((await Promise.all(failures)).filter(({ status }) => status === 429)).toHaveLength(1);
  });

  it('count by the IP address that the gateway saw, not by one that the client sent', async () => {
    const first = await sendFrom('198.51.100.1, 192.0.2.4');
    const second = await sendFrom('198.51.100.2, 192.0.2.4');
    expect(parseRateLimit(second).remaining).toBe(parseRateLimit(first).remaining - 1);
  });

  it.each([
    ...['192.0.2.009', '0xc0000209', '192.0.2', '192.0.2.1:80:80', 'unknown', '_hidden', 'a'],
    ...['[', '[]:80', ':80'],
  ])('count by the peer if X-Forwarded-For is %s, which is not an IP address', async (junk) => {
    const before = parseRateLimit(await sendFrom('none'));
    expect(parseRateLimit(await sendFrom(junk)).remaining).toBe(before.remaining - 1);
  });

  it.each([
    [
      '192.0.2.20',
      ['192.0.2.20:51001', '192.0.2.20:51002', '"192.0.2.20:443"', ' 192.0.2.20 ,, ', '::ffff:192.0.2.20'],
    ],
    ['2001:db8:20::1', ['[2001:db8:20::1]', '[2001:db8:20::1]:443', '"[2001:DB8:20:0::1]:80"', '2001:db8:20::1%eth0']],
  ])('count by %s, however the gateway writes it: with a port, in brackets, in quotes', async (address, notations) => {
    const { remaining } = parseRateLimit(await sendFrom(address));
    for (const [index, notation] of notations.entries()) {
      expect([notation, parseRateLimit(await sendFrom(notation)).remaining]).toEqual([notation, remaining - 1 - index]);
    }
  });

  it('count by the last entry, even if it is in a second header, or behind thousands of others', async () => {
    const { remaining } = parseRateLimit(await sendFrom('192.0.2.30'));
    const send = async (header: string | string[]) =>
      parseRateLimit(await service.get('/v1/pets', { headers: { 'x-forwarded-for': header } })).remaining;
    expect(await send(['198.51.100.1', '192.0.2.30:80'])).toBe(remaining - 1);
    expect(await send(`${'1.2.3.4,'.repeat(1_500)}192.0.2.30`)).toBe(remaining - 2);
  });

  it('count by /64 network for IPv6, and together for IPv4 and its IPv4-mapped form', async () => {
    expect(parseRateLimit(await sendFrom('2001:db8::1')).remaining).toBe(59);
    expect(parseRateLimit(await sendFrom('2001:db8::ffff:1')).remaining).toBe(58);
    expect(parseRateLimit(await sendFrom('2001:db8:0:1::1')).remaining).toBe(59);
    expect(parseRateLimit(await sendFrom('192.0.2.5')).remaining).toBe(59);
    expect(parseRateLimit(await sendFrom('::ffff:192.0.2.5')).remaining).toBe(58);
  });
});

describe('The client IP address behind several gateways', () => {
  let service: TestService;
  const remainingOf = async (forwardedFor: string) =>
    parseRateLimit(await service.get('/v1/pets', { headers: { 'x-forwarded-for': forwardedFor } })).remaining;

  afterEach(() => service.close());

  it.each(['2', '127.0.0.0/8,10.0.0.0/8,2001:db8:a::/48'])(
    'is the entry to the right of one that is no IP address (TRUST_PROXY=%s)',
    async (trustProxy) => {
      service = await TestService.start({ TRUST_PROXY: trustProxy });
      expect(await remainingOf('192.0.2.1:4711, 10.0.0.1:80')).toBe(59);
      expect(await remainingOf('192.0.2.2:4711, [2001:db8:a::1]:443')).toBe(59);
      expect(await remainingOf('192.0.2.1, 10.0.0.2')).toBe(58);
      // Clients behind different gateways do not share one window.
      expect(await remainingOf('192.0.2.1, unknown, 10.0.0.1')).toBe(59);
      expect(await remainingOf('unknown, 10.0.0.2')).toBe(59);
      expect(await remainingOf('_hidden, 10.0.0.1:80')).toBe(58);
    },
  );

  it('is that of the connection without TRUST_PROXY, whatever X-Forwarded-For contains', async () => {
    service = await TestService.start();
    expect(await remainingOf('192.0.2.1')).toBe(59);
    expect(await remainingOf('192.0.2.2:80')).toBe(58);
  });
});
