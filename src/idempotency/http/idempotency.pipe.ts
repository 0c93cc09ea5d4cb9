import { hash } from 'node:crypto';
import { Injectable, type PipeTransform, type RawBodyRequest } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requirePrincipal } from '../../shared/http/access/request-principal';
import { parseJson, stringifyJson } from '../../shared/json/json';
import { parseIdempotencyKey } from '../domain/idempotency-key';
import { IdempotencyRecords, type IdempotentRequest } from '../domain/idempotency-records';

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
    const { response, isReplay } = await this.records.executeOnce(request, async () => {
      result = await work();
      const location = reply.getHeader('location');
      return {
        // A 204 has no body.
        body: result === undefined ? '' : stringifyJson(result),
        location: typeof location === 'string' ? location : null,
      };
    });
    if (!isReplay) {
      return result;
    }
    reply.header('idempotent-replayed', 'true');
    if (response.location !== null) {
      reply.header('location', response.location);
    }
    return response.body === '' ? undefined : parseJson(response.body);
  }
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
