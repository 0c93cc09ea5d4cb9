import { hash } from 'node:crypto';
import { Injectable, type PipeTransform, type RawBodyRequest } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requirePrincipal } from '../../shared/http/access/request-principal';
import { parseJson, stringifyJson } from '../../shared/json/json';
import { parseIdempotencyKey } from '../domain/idempotency-key';
import { IdempotencyRecords, type IdempotentRequest, type ResponseHeaders } from '../domain/idempotency-records';

const MAX_HEADERS_LENGTH = 16_384;

/**
 * Executes the work of a request or, if an earlier request had the same `Idempotency-Key`, returns what its work had returned, as JSON has
 * it. Without a key, it only executes the work.
 * @throws IdempotencyKeyError
 */
export type Once = (work: () => unknown) => Promise<unknown>;

export interface Exchange {
  readonly request: RawBodyRequest<FastifyRequest>;
  readonly reply: FastifyReply;
}

@Injectable()
export class IdempotencyPipe implements PipeTransform<Exchange, Once> {
  constructor(private readonly records: IdempotencyRecords) {}

  /** @throws IdempotencyKeyError `invalid_idempotency_key` */
  transform({ request, reply }: Exchange): Once {
    const key = request.headers['idempotency-key'];
    if (key === undefined) {
      return async (work) => await work();
    }
    const idempotentRequest = createIdempotentRequest(request, String(key));
    return (work) => this.executeOnce(idempotentRequest, reply, work);
  }

  private async executeOnce(request: IdempotentRequest, reply: FastifyReply, work: () => unknown): Promise<unknown> {
    let result: unknown;
    const before = reply.getHeaders();
    const { response, isReplay } = await this.records.executeOnce(request, async () => {
      result = await work();
      return {
        // A 204 has no body.
        body: result === undefined ? '' : stringifyJson(result),
        status: reply.statusCode,
        headers: findNewHeaders(before, reply.getHeaders()),
      };
    });
    if (!isReplay) {
      return result;
    }
    reply.headers(response.headers).header('idempotent-replayed', 'true');
    if (response.status !== null) {
      reply.status(response.status);
    }
    return response.body === '' ? undefined : parseJson(response.body);
  }
}

/**
 * Finds the headers that the work has set or changed.
 * @throws Error if they are larger than HTTP clients accept
 */
function findNewHeaders(before: ResponseHeaders, after: ResponseHeaders): ResponseHeaders {
  const headers = Object.fromEntries(Object.entries(after).filter(([name, value]) => value !== before[name]));
  if (JSON.stringify(headers).length > MAX_HEADERS_LENGTH) {
    throw new Error(`The headers of an operation with @Idempotent() are larger than ${MAX_HEADERS_LENGTH} bytes.`);
  }
  return headers;
}

function createIdempotentRequest(request: Exchange['request'], key: string): IdempotentRequest {
  if (request.body !== undefined && request.rawBody === undefined) {
    throw new Error('The body of an operation with @Idempotent() must be JSON.');
  }
  const [path] = request.url.split('?', 1);
  const content = `${request.method} ${path}\n${request.rawBody?.toString() ?? ''}`;
  return {
    accountId: requirePrincipal(request).accountId,
    key: parseIdempotencyKey(key),
    fingerprint: hash('sha256', content, 'buffer'),
  };
}
