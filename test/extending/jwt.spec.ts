import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { sign, type SignOptions } from 'jsonwebtoken';
import type { Settings } from '../../src/config/settings';
import { createOpenApiDocument } from '../../src/documentation';
import { DATABASE_URL } from '../support/worker-database';
import { JwtModule } from './jwt.module';
import { startFork } from './start-fork';

const CHALLENGE = 'Bearer realm="petstore", error="invalid_token"';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 });

describe('Tokens of an identity provider, for the operations of a controller', () => {
  let provider: Server;
  let issuer: string;
  let settings: Settings;
  let app: NestFastifyApplication;
  let accountId: bigint;
  let key: string;
  const lines: string[] = [];
  let reads = 0;
  let providerStatus = 200;

  beforeAll(async () => {
    const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' }] };
    provider = createServer((_, response) => {
      reads++;
      response.statusCode = providerStatus;
      response.end(JSON.stringify(jwks));
    }).listen(0, '127.0.0.1');
    await once(provider, 'listening');
    issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    process.env.IDENTITY_PROVIDER_URL = issuer;
    ({ app, settings, accountId, key } = await startFork(
      { DATABASE_URL, LOG_LEVEL: 'info', AUTH_FAILURES_PER_MINUTE: '1000' },
      { plan: 'free', imports: [JwtModule], logTo: { write: (line) => lines.push(line) } },
    ));
  });
  afterAll(async () => {
    delete process.env.IDENTITY_PROVIDER_URL;
    await app.close();
    provider.close();
  });

  const createToken = (claims: object = {}, options: SignOptions = {}, signer = privateKey) =>
    sign({ account_id: `${accountId}`, ...claims }, signer, {
      ...{ algorithm: 'RS256', keyid: 'one', issuer, audience: 'petstore', expiresIn: 60 },
      ...options,
    });
  const call = async (token: string, url = '/v1/profile', method: 'GET' | 'POST' = 'GET') => {
    const { statusCode, headers, body } = await app.inject({
      ...{ method, url },
      headers: { authorization: `Bearer ${token}` },
    });
    const { code } = JSON.parse(body) as { code?: string };
    return { status: statusCode, code, body, challenge: headers['www-authenticate'], headers };
  };
  const countRemaining = async (token: string) => Number((await call(token)).headers['x-ratelimit-remaining']);

  it('are accepted beside API keys, for the account that they name', async () => {
    for (const credential of [createToken(), key]) {
      expect(await call(credential)).toMatchObject({ status: 200, body: `{"accountId":${accountId}}` });
    }
  });

  it('share the limits of the account with its API keys', async () => {
    const remaining = await countRemaining(key);
    expect(await countRemaining(createToken())).toBe(remaining - 1);
    expect(await countRemaining(key)).toBe(remaining - 2);
  });

  it('have the scope that the strategy gives them', async () => {
    expect(await call(createToken(), '/v1/profile', 'POST')).toMatchObject({
      status: 403,
      code: 'insufficient_scope',
      challenge: 'Bearer realm="petstore", error="insufficient_scope"',
    });
    expect(await call(key, '/v1/profile', 'POST')).toMatchObject({ status: 201 });
  });

  it('are rejected by every other operation, which needs an API key', async () => {
    for (const url of ['/v1/pets', '/v1/rate-limit', '/v1/unknown']) {
      expect(await call(createToken(), url)).toMatchObject({ status: 401, code: 'invalid_api_key' });
    }
  });

  it('are the only credential of an operation that names no other, also while an API key is cached', async () => {
    await call(key);
    expect(await call(createToken(), '/v1/profile/sessions')).toMatchObject({ status: 200, body: '[]' });
    expect(await call(key, '/v1/profile/sessions')).toMatchObject({ status: 401, challenge: CHALLENGE });
  });

  it.each<[string, () => string]>([
    ['has expired', () => createToken({}, { expiresIn: -1 })],
    [
      'never expires',
      () =>
        sign({ account_id: `${accountId}` }, privateKey, {
          algorithm: 'RS256',
          keyid: 'one',
          issuer,
          audience: 'petstore',
        }),
    ],
    ['is followed by more', () => `${createToken()} x`],
    ['is for another audience', () => createToken({}, { audience: 'other' })],
    ['has another issuer', () => createToken({}, { issuer: 'https://other.example' })],
    ['is signed with another key', () => createToken({}, {}, other.privateKey)],
    ['is signed with a key that is not published', () => createToken({}, { keyid: 'two' }, other.privateKey)],
    [
      'is not signed',
      () => sign({ account_id: `${accountId}` }, '', { algorithm: 'none', issuer, audience: 'petstore' }),
    ],
    ['names an unknown account', () => createToken({ account_id: '999999999' })],
    ['names no account', () => createToken({ account_id: { $ne: 1 } })],
  ])('are rejected with 401, counted once as a failure, if one %s', async (_, create) => {
    const before = Number((await call('wrong')).headers['x-ratelimit-remaining']);
    const { status, code, challenge, headers } = await call(create());
    expect([status, code, challenge]).toEqual([401, 'invalid_api_key', CHALLENGE]);
    expect(Number(headers['x-ratelimit-remaining'])).toBe(before - 1);
  });

  it('are accepted while a client invents IDs of keys, for which the keys are not read again each time', async () => {
    for (let index = 0; index < 12; index++) {
      const { status } = await call(createToken({}, { keyid: `x${index}` }, other.privateKey));
      expect(status).toBe(401);
    }
    expect((await call(createToken())).status).toBe(200);
    expect(reads).toBeLessThanOrEqual(2);
  });

  it.each<[string, () => string]>([
    ['jwt expired', () => createToken({}, { expiresIn: -1 })],
    ['jwt audience invalid', () => createToken({}, { audience: 'other' })],
  ])('are rejected with a reason in the log line of the request, such as %s', async (reason, create) => {
    await call(create());
    expect(lines.at(-1)).toContain(`rejectedCredential=${reason}`);
  });

  it('get a 503 while the identity provider cannot be reached, which counts as no failure', async () => {
    const before = Number((await call('wrong')).headers['x-ratelimit-remaining']);
    providerStatus = 500;
    const hourLater = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    const unavailable = await call(createToken());
    providerStatus = 200;
    const available = await call(createToken());
    hourLater.mockRestore();
    expect([unavailable, available]).toMatchObject([{ status: 503, code: 'service_unavailable' }, { status: 200 }]);
    expect(Number((await call('wrong')).headers['x-ratelimit-remaining'])).toBe(before - 1);
  });

  it('are documented for these operations only', () => {
    const { paths, security, components } = createOpenApiDocument(app, settings);
    expect(components?.securitySchemes).toMatchObject({
      apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'API key' },
      jwt: { type: 'http', scheme: 'bearer' },
    });
    expect(paths['/profile']?.get?.security).toEqual([{ apiKey: [] }, { jwt: [] }]);
    expect(paths['/profile/sessions']?.get?.security).toEqual([{ jwt: [] }]);
    expect([paths['/pets']?.get?.security, security]).toEqual([undefined, [{ apiKey: [] }]]);
  });
});
