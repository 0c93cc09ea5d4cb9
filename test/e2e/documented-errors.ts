import { HttpException } from '@nestjs/common';
import { AccountsService, KeysService } from '../../src/auth';
import { PLAN_ALLOWANCES } from '../../src/auth/domain/account';
import { ERROR_CATALOG } from '../../src/error-catalog';
import { PetRepository } from '../../src/pets/domain/pet.repository';
import { WINDOWS } from '../../src/shared/domain/allowance';
import type { ErrorCode } from '../../src/shared/domain/error-codes';
import { ServiceUnavailableError } from '../../src/shared/domain/pet-store-error';
import { toErrorDto } from '../../src/shared/http/errors/error.filter';
import { createProtocolError } from '../../src/shared/http/server/protocol-errors';
import type { ErrorCases } from '../support/documented-errors';
import { type TestResponse, getCode } from '../support/service';

/** Codes of Nest's exceptions, which no operation throws yet. */
const NEST_CODES = [
  ...(['bad_request', 'unauthorized', 'forbidden', 'not_found', 'not_acceptable', 'conflict', 'gone'] as const),
  ...(['precondition_failed', 'unprocessable_content', 'too_many_requests'] as const),
  ...(['not_implemented', 'bad_gateway', 'gateway_timeout'] as const),
];
const REX = { name: 'Rex', categoryId: 3 };

export const createErrorCases: ErrorCases = (service, key) => {
  const get = (path: string) => service.get(path, { key });
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    service.post('/v1/pets', { key, body, headers });
  const sendRaw = async (bytes: string) => (await service.sendRaw(bytes)).split('\r\n\r\n')[1] ?? '';
  /** Repeats a request until its response has this code. */
  const sendUntil = async (code: ErrorCode, send: () => Promise<TestResponse>): Promise<TestResponse> => {
    const response = await send();
    return getCode(response) === code ? response : sendUntil(code, send);
  };
  /** Exhausts a window by its limit in the plan, because accounts have none for the windows that a fork adds. */
  const exhaust = async (code: ErrorCode, limit: string) => {
    const plan = jest.replaceProperty(PLAN_ALLOWANCES, 'enterprise', { ...PLAN_ALLOWANCES.enterprise, [limit]: 1 });
    const response = await sendUntil(
      code,
      listWith(await service.createKey('enterprise', { perMinute: 10, perDay: 10 })),
    );
    plan.restore();
    return response;
  };
  const listWith = (allowed: string) => () => service.get('/v1/pets', { key: allowed });
  const throwByNest = (code: ErrorCode) => {
    const { message, status } = ERROR_CATALOG.get(code);
    return Promise.resolve(JSON.stringify(toErrorDto(new HttpException(message, status), '', ERROR_CATALOG)));
  };

  return {
    invalid_parameter: () => get('/v1/pets?limit=101'),
    invalid_cursor: () => get('/v1/pets?cursor=AAAAAAAAAAKLLL5G'),
    malformed_url: () => get('/v1/pets/%zz'),
    malformed_request: () => sendRaw('GET /v1/pets HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n'),
    invalid_json: () => post('{"name":'),
    invalid_body: () => post({ categoryId: '5' }),
    invalid_idempotency_key: () => post(REX, { 'idempotency-key': 'with space' }),
    idempotency_key_reused: async () => {
      await post(REX, { 'idempotency-key': 'a' });
      return post({ ...REX, name: 'Mia' }, { 'idempotency-key': 'a' });
    },
    missing_api_key: () => service.get('/v1/pets'),
    invalid_api_key: () => service.get('/v1/pets', { key: 'unknown' }),
    expired_api_key: async () => {
      const { id } = await service.app.get(AccountsService).create('Test', 'pro');
      const expired = await service.app.get(KeysService).create(id, new Date(service.clock.now() + 1));
      service.clock.advance(1);
      return listWith(expired.secret)();
    },
    insufficient_scope: async () => {
      const { id } = await service.app.get(AccountsService).create('Test', 'pro');
      const { secret } = await service.app.get(KeysService).create(id, null, 'read');
      return service.post('/v1/pets', { key: secret, body: REX });
    },
    account_suspended: async () => {
      const { id } = await service.app.get(AccountsService).create('Test', 'pro');
      const { secret } = await service.app.get(KeysService).create(id);
      await service.app.get(AccountsService).suspend(id);
      return listWith(secret)();
    },
    pet_not_found: () => get('/v1/pets/01'),
    route_not_found: () => get('/v1/pets/'),
    method_not_allowed: () => service.call('DELETE', '/v1/pets', { key }),
    // Node.js itself times out a request only after minutes.
    request_timeout: () => {
      const error = createProtocolError(Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }));
      return Promise.resolve(JSON.stringify(ERROR_CATALOG.toDto(error)));
    },
    body_too_large: () => post('a'.repeat(65_537)),
    uri_too_long: () => get(`/v1/pets?x=${'a'.repeat(8_000)}`),
    unsupported_media_type: () => post('name=Rex', { 'content-type': 'application/x-www-form-urlencoded' }),
    ...Object.fromEntries(WINDOWS.map(({ error, limit }) => [error, () => exhaust(error, limit)])),
    key_temporarily_banned: async () => {
      const list = listWith(await service.createKey('enterprise', { perMinute: 1, perDay: 10 }));
      return sendUntil('key_temporarily_banned', () => {
        service.clock.advance(2_000);
        return list();
      });
    },
    too_many_auth_failures: () =>
      sendUntil('too_many_auth_failures', () =>
        service.get('/v1/pets', { headers: { 'x-forwarded-for': '192.0.2.1' } }),
      ),
    headers_too_large: () => sendRaw(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`),
    internal_error: () => service.withConstraint('pets', `name <> 'Rex'`, () => post(REX)),
    ...Object.fromEntries(NEST_CODES.map((code) => [code, () => throwByNest(code)])),
    service_unavailable: () => {
      jest.spyOn(service.app.get(PetRepository), 'list').mockRejectedValueOnce(new ServiceUnavailableError());
      return get('/v1/pets');
    },
  };
};
