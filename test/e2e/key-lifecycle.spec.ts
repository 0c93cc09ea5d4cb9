import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { AccountsService, AuditTrail, KeysService } from '../../src/auth';
import { eventually } from '../cluster/support/replica';
import { getCode, parseRateLimit, TestService } from '../support/service';

describe('A change of an account or a key', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.close());

  it('gives an account the limits of its new plan within a second and keeps its usage, even if the clock is set back', async () => {
    const account = await service.app.get(AccountsService).create('Test', 'free');
    const { secret: key } = await service.app.get(KeysService).create(account.id);
    expect(parseRateLimit(await service.get('/v1/pets', { key }))).toMatchObject({ limit: 60, remaining: 59 });
    await service.app.get(AccountsService).setPlan(account.id, 'enterprise', { perMinute: 5, perDay: 1_000 });
    service.clock.advance(1_000);
    expect(parseRateLimit(await service.get('/v1/pets', { key }))).toMatchObject({ limit: 5, remaining: 3 });
    await service.app.get(AccountsService).setPlan(account.id, 'pro');
    service.clock.advance(1_000);
    expect(parseRateLimit(await service.get('/v1/pets', { key }))).toMatchObject({ limit: 300, remaining: 297 });
    await service.app.get(AccountsService).setPlan(account.id, 'free');
    service.clock.set(service.clock.now() - 3_600_000);
    service.clock.advance(1_000);
    expect(parseRateLimit(await service.get('/v1/pets', { key }))).toMatchObject({ limit: 60 });
    service.clock.set(service.clock.now() + 3_600_000);
  });

  it.each([
    ['revoked', 401, (_: bigint, keyId: bigint) => service.app.get(KeysService).revoke(keyId)],
    ['suspended', 403, (accountId: bigint) => service.app.get(AccountsService).suspend(accountId)],
    ['limited to reading', 403, (_: bigint, keyId: bigint) => service.app.get(KeysService).setScope(keyId, 'read')],
  ])('applies to a request whose body is still arriving when its key or account is %s', async (_, status, change) => {
    const { id } = await service.app.get(AccountsService).create('Test', 'pro');
    const { secret, key } = await service.app.get(KeysService).create(id);
    await service.get('/v1/pets', { key: secret });
    const body = '{"name":"Late","categoryId":1}';
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const startedAt = performance.now();
    const request = httpRequest({
      ...{ host: '127.0.0.1', port: service.port, method: 'POST', path: '/v1/pets' },
      headers: { ...headers, 'content-length': body.length },
    });
    const responded = once(request, 'response') as Promise<[IncomingMessage]>;
    request.write(body.slice(0, 5));
    await eventually(1_000, () => performance.now() - startedAt > 100);
    await change(id, key.id);
    service.clock.advance(1_000);
    await eventually(1_000, () => performance.now() - startedAt > 250);
    request.end(body.slice(5));
    const [response] = await responded;
    expect(response.resume().statusCode).toBe(status);
  });

  describe('by a suspension', () => {
    it('rejects all its keys within a second, also those in use, counts none of their requests, and ends within a second', async () => {
      const accounts = service.app.get(AccountsService);
      const { id } = await accounts.create('Test', 'pro');
      const { secret: used } = await service.app.get(KeysService).create(id);
      const { secret: unused } = await service.app.get(KeysService).create(id, null, 'read');
      const other = await service.createKey();
      const read = async (key: string, path = '/v1/pets') => {
        const response = await service.get(path, { key });
        return [response.status, getCode(response), parseRateLimit(response).remaining];
      };
      expect(await read(used)).toEqual([200, undefined, 299]);

      await accounts.suspend(id);
      service.clock.advance(1_000);
      for (const key of [used, unused, used]) {
        for (const path of ['/v1/pets', '/v1/pets/1', '/v1/unknown', '/v1/rate-limit']) {
          expect(await read(key, path)).toEqual([403, 'account_suspended', 299]);
        }
      }
      expect((await read(other))[0]).toBe(200);

      await accounts.resume(id);
      service.clock.advance(1_000);
      expect(await read(unused)).toEqual([200, undefined, 298]);
      expect(await read(used)).toEqual([200, undefined, 297]);
    });

    it('does not hide that a key is revoked or unknown', async () => {
      const accounts = service.app.get(AccountsService);
      const { id } = await accounts.create('Test', 'pro');
      const { secret, key } = await service.app.get(KeysService).create(id);
      await service.app.get(KeysService).revoke(key.id);
      await accounts.suspend(id);
      expect(getCode(await service.get('/v1/pets', { key: secret }))).toBe('invalid_api_key');
    });

    it('is recorded once in the audit trail, and its end too', async () => {
      const accounts = service.app.get(AccountsService);
      const { id } = await accounts.create('Test', 'pro');
      const suspended = await accounts.suspend(id);
      expect(await accounts.suspend(id)).toEqual(suspended);
      await accounts.resume(id);
      expect(await accounts.resume(id)).toMatchObject({ suspendedAt: null });
      const latest = await service.app.get(AuditTrail).listLatest(3);
      expect(latest.map(({ accountId, action }) => [accountId, action])).toEqual([
        [id, 'account_created'],
        [id, 'account_suspended'],
        [id, 'account_resumed'],
      ]);
    });
  });

  it('by the deletion of its account, within a second', async () => {
    const accounts = service.app.get(AccountsService);
    const { id } = await accounts.create('Test', 'pro');
    const { secret: key } = await service.app.get(KeysService).create(id);
    expect((await service.get('/v1/pets', { key })).status).toBe(200);
    await accounts.suspend(id);
    await accounts.delete(id);
    service.clock.advance(1_000);
    expect(getCode(await service.get('/v1/pets', { key }))).toBe('invalid_api_key');
  });

  describe('by rotation', () => {
    const createKey = async (expiresInMs?: number) => {
      const { id } = await service.app.get(AccountsService).create('Test', 'pro');
      const expiresAt = expiresInMs === undefined ? null : new Date(service.clock.now() + expiresInMs);
      return service.app.get(KeysService).create(id, expiresAt);
    };
    const rotate = (keyId: bigint, graceMs: number) => service.app.get(KeysService).rotate(keyId, graceMs);
    const sendRequest = async (key: string) => {
      const { status, body } = await service.get('/v1/pets', { key });
      return [status, (body as { code?: string }).code];
    };
    const [OK, EXPIRED] = [
      [200, undefined],
      [401, 'expired_api_key'],
    ];

    it('keeps both keys valid until the end of the grace period, then only the new one', async () => {
      const old = await createKey();
      const { secret } = await rotate(old.key.id, 10_500);
      service.clock.advance(10_499);
      expect([await sendRequest(old.secret), await sendRequest(secret)]).toEqual([OK, OK]);
      service.clock.advance(1);
      expect([await sendRequest(old.secret), await sendRequest(secret)]).toEqual([EXPIRED, OK]);
    });

    it('never extends a key beyond its own expiry', async () => {
      const old = await createKey(1_500);
      await rotate(old.key.id, 10_000);
      service.clock.advance(1_499);
      expect(await sendRequest(old.secret)).toEqual(OK);
      service.clock.advance(1);
      expect(await sendRequest(old.secret)).toEqual(EXPIRED);
    });

    it('ends the old key within a second without a grace period', async () => {
      const old = await createKey();
      expect(await sendRequest(old.secret)).toEqual(OK);
      const { secret } = await rotate(old.key.id, 0);
      service.clock.advance(1_000);
      expect([await sendRequest(old.secret), await sendRequest(secret)]).toEqual([EXPIRED, OK]);
    });

    it('happens once when it is requested twice at the same time', async () => {
      const old = await createKey();
      const results = await Promise.allSettled([rotate(old.key.id, 10_000), rotate(old.key.id, 10_000)]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(await service.app.get(KeysService).list(old.key.accountId)).toHaveLength(2);
    });
  });
});
