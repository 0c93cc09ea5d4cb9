import { hash } from 'node:crypto';
import { Injectable, type PipeTransform, type RawBodyRequest } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requirePrincipal } from '../../shared/http/access/request-principal';
import { stringifyJson } from '../../shared/json/json';
import { parseIdempotencyKey } from '../domain/idempotency-key';
import { IdempotencyRecords, type IdempotentRequest } from '../domain/idempotency-records';

/** The body of the response to an earlier request: JSON text, or undefined if it had none. */
export type StoredBody = string | undefined;

/**
 * Executes the work of a request, or returns the response to an earlier request with the same `Idempotency-Key`. Without a key, it only
 * executes the work.
 * @throws IdempotencyKeyError
 */
export type Once = <Result>(work: () => Result | Promise<Result>) => Promise<Result | StoredBody>;

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
      return async (work) => work();
    }
    const idempotentRequest = createIdempotentRequest(request, String(key));
    return (work) => this.executeOnce(idempotentRequest, reply, work);
  }

  private async executeOnce(request: IdempotentRequest, reply: FastifyReply, work: () => unknown): Promise<StoredBody> {
    const { response, isReplay } = await this.records.executeOnce(request, async () => {
      const result = await work();
      const location = reply.getHeader('location');
      return {
        // A 204 has no body.
        body: result === undefined || result === null ? '' : stringifyJson(result),
        location: typeof location === 'string' ? location : null,
      };
    });
    if (isReplay) {
      reply.header('idempotent-replayed', 'true');
      if (response.location !== null) {
        reply.header('location', response.location);
      }
    }
    return restoreBody(response.body, reply);
  }
}

function createIdempotentRequest(request: Exchange['request'], key: string): IdempotentRequest {
  const [path] = request.url.split('?', 1);
  const content = `${request.method} ${path}\n${request.rawBody?.toString() ?? ''}`;
  return {
    accountId: requirePrincipal(request).accountId,
    key: parseIdempotencyKey(key),
    fingerprint: hash('sha256', content, 'buffer'),
  };
}

/** Returns the stored body as the handler returned it: a string as it is, anything else as JSON text. */
function restoreBody(body: string, reply: FastifyReply): StoredBody {
  if (body === '') {
    return undefined;
  }
  if (body.startsWith('"')) {
    return JSON.parse(body) as string;
  }
  reply.header('content-type', 'application/json; charset=utf-8');
  return body;
}
