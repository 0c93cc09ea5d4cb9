import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AuthModuleOptions } from '@nestjs/passport';
import { sign, type SignOptions } from 'jsonwebtoken';
import { KeysService } from '../../src/auth';
import { createOpenApiDocument } from '../../src/documentation';
import { getCode, parseRateLimit } from '../support/service';
import { DATABASE_URL } from '../support/worker-database';
import { JwtModule } from './jwt.module';
import { type Fork, startFork } from './start-fork';

const CHALLENGE = 'Bearer realm="petstore", error="invalid_token"';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 });

describe('Tokens of an identity provider, for the operations of a controller', () => {
  let provider: Server;
  let issuer: string;
  let fork: Fork;
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
    fork = await startFork(
      { DATABASE_URL, LOG_LEVEL: 'info', AUTH_FAILURES_PER_MINUTE: '1000' },
      { imports: [JwtModule], logTo: { write: (line) => lines.push(line) } },
    );
    ({ key } = fork);
  });
  afterAll(async () => {
    delete process.env.IDENTITY_PROVIDER_URL;
    await fork.app.close();
    provider.close();
  });

  const signToken = (claims: object, options: SignOptions = {}, signer: KeyObject | string = privateKey) =>
    sign({ account_id: `${fork.accountId}`, ...claims }, signer, {
      ...{ algorithm: 'RS256', keyid: 'one', issuer, audience: 'petstore' },
      ...options,
    });
  const createToken = (claims: object = {}, options: SignOptions = {}, signer?: KeyObject) =>
    signToken(claims, { expiresIn: 60, ...options }, signer);
  const call = async (token: string, url = '/v1/profile', method = 'GET') => {
    const response = await fork.call(method, url, { key: token });
    return {
      ...{ status: response.status, code: getCode(response), body: response.text },
      ...{ challenge: response.headers['www-authenticate'], remaining: parseRateLimit(response).remaining },
    };
  };

  it('are accepted beside API keys, for the account that they name', async () => {
    for (const credential of [createToken(), key]) {
      expect(await call(credential)).toMatchObject({ status: 200, body: `{"accountId":${fork.accountId}}` });
    }
  });

  it('share the limits of the account with its API keys', async () => {
    const { remaining } = await call(key);
    expect(await call(createToken())).toMatchObject({ remaining: remaining - 1 });
    expect(await call(key)).toMatchObject({ remaining: remaining - 2 });
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
    ['never expires', () => signToken({})],
    ['is followed by more', () => `${createToken()} x`],
    ['is for another audience', () => createToken({}, { audience: 'other' })],
    ['has another issuer', () => createToken({}, { issuer: 'https://other.example' })],
    ['is signed with another key', () => createToken({}, {}, other.privateKey)],
    ['is signed with a key that is not published', () => createToken({}, { keyid: 'two' }, other.privateKey)],
    ['is not signed', () => signToken({}, { algorithm: 'none' }, '')],
    ['names an unknown account', () => createToken({ account_id: '999999999' })],
    ['names no account', () => createToken({ account_id: { $ne: 1 } })],
  ])('are rejected with 401, counted once as a failure, if one %s', async (_, create) => {
    const { remaining } = await call('wrong');
    expect(await call(create())).toMatchObject({
      ...{ status: 401, code: 'invalid_api_key', challenge: CHALLENGE, remaining: remaining - 1 },
    });
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
    const { remaining } = await call('wrong');
    providerStatus = 500;
    const hourLater = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    const unavailable = await call(createToken());
    providerStatus = 200;
    const available = await call(createToken());
    hourLater.mockRestore();
    expect([unavailable, available]).toMatchObject([{ status: 503, code: 'service_unavailable' }, { status: 200 }]);
    expect(await call('wrong')).toMatchObject({ remaining: remaining - 1 });
  });

  it('are accepted by every operation if they are a default strategy, beside API keys, whose expiry they do not hide', async () => {
    const { app, clock, accountId, ...other } = await startFork(
      { DATABASE_URL },
      {
        imports: [JwtModule],
        override: (builder) =>
          builder.overrideProvider(AuthModuleOptions).useValue({ defaultStrategy: ['bearer', 'jwt'] }),
      },
    );
    const expiring = await app.get(KeysService).create(accountId, new Date(clock.now() + 1_000));
    clock.advance(1_000);
    const list = async (token: string) => {
      const response = await other.call('GET', '/v1/pets', { key: token });
      return [response.status, getCode(response), parseRateLimit(response).remaining];
    };
    expect(await list(other.key)).toEqual([200, undefined, 999]);
    expect(await list(createToken({ account_id: `${accountId}` }))).toEqual([200, undefined, 998]);
    expect(await list('wrong')).toEqual([401, 'invalid_api_key', 59]);
    expect(await list(expiring.secret)).toEqual([401, 'expired_api_key', 58]);
    await app.close();
  });

  it('are documented for these operations only', () => {
    const { paths, security, components } = createOpenApiDocument(fork.app, fork.settings);
    expect(components?.securitySchemes).toMatchObject({
      apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'API key' },
      jwt: { type: 'http', scheme: 'bearer' },
    });
    expect(paths['/profile']?.get?.security).toEqual([{ apiKey: [] }, { jwt: [] }]);
    expect(paths['/profile/sessions']?.get?.security).toEqual([{ jwt: [] }]);
    expect([paths['/pets']?.get?.security, security]).toEqual([undefined, [{ apiKey: [] }]]);
  });
});
