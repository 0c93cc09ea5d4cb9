import { hash } from 'node:crypto';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type RawBodyRequest,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { requirePrincipal } from '../../shared/http/access/request-principal';
import { stringifyJson } from '../../shared/json/json';
import { parseIdempotencyKey } from '../domain/idempotency-key';
import { IdempotencyRecords, type IdempotentRequest } from '../domain/idempotency-records';

/** Makes the operations with `@Idempotent()` respond to retries with the response of their first execution. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly records: IdempotencyRecords) {}

  /** @throws IdempotencyKeyError */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<RawBodyRequest<FastifyRequest>>();
    const key = request.headers['idempotency-key'];
    return key === undefined
      ? next.handle()
      : from(this.executeOnce(createIdempotentRequest(request, String(key)), http.getResponse(), next));
  }

  private async executeOnce(request: IdempotentRequest, reply: FastifyReply, next: CallHandler): Promise<unknown> {
    const { response, isReplay } = await this.records.executeOnce(request, async () => {
      const result: unknown = await lastValueFrom(next.handle(), { defaultValue: undefined });
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

function createIdempotentRequest(request: RawBodyRequest<FastifyRequest>, key: string): IdempotentRequest {
  const [path] = request.url.split('?', 1);
  const content = `${request.method} ${path}\n${request.rawBody?.toString() ?? ''}`;
  return {
    accountId: requirePrincipal(request).accountId,
    key: parseIdempotencyKey(key),
    fingerprint: hash('sha256', content, 'buffer'),
  };
}

/** Returns the stored body as the handler returned it: a string as it is, anything else as JSON text. */
function restoreBody(body: string, reply: FastifyReply): string | undefined {
  if (body === '') {
    return undefined;
  }
  if (body.startsWith('"')) {
    return JSON.parse(body) as string;
  }
  reply.header('content-type', 'application/json; charset=utf-8');
  return body;
}
