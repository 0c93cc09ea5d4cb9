import { hash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { JsonText, stringifyJson } from '../../shared/json/json';
import type { RequestBody } from '../../shared/http/server/request-body';
import { requirePrincipal } from '../../shared/http/access/request-principal';
import { parseIdempotencyKey } from '../domain/idempotency-key';
import { IdempotencyRecords } from '../domain/idempotency-records';

/** A request with an `Idempotency-Key`, and its reply. */
interface KeyedExchange {
  readonly request: FastifyRequest<{ Body: RequestBody }>;
  readonly reply: FastifyReply;
}

/** Executes a handler, or returns the response of its earlier execution. */
export type ExecuteOnce = (handle: () => unknown) => Promise<unknown>;

/** Injects an `ExecuteOnce` with the `IdempotencyPipe`; undefined for a request without an `Idempotency-Key`. */
export const InjectExecuteOnce = createParamDecorator(
  (_: unknown, context: ExecutionContext): KeyedExchange | undefined => {
    const http = context.switchToHttp();
    const request = http.getRequest<KeyedExchange['request']>();
    return request.headers['idempotency-key'] === undefined ? undefined : { request, reply: http.getResponse() };
  },
);

/** Makes a handler respond to retries with the response of its first execution. */
@Injectable()
export class IdempotencyPipe implements PipeTransform<KeyedExchange | undefined, ExecuteOnce | undefined> {
  constructor(private readonly records: IdempotencyRecords) {}

  /** @throws IdempotencyKeyError `invalid_idempotency_key` */
  transform(exchange: KeyedExchange | undefined): ExecuteOnce | undefined {
    if (exchange === undefined) {
      return undefined;
    }
    const key = parseIdempotencyKey(String(exchange.request.headers['idempotency-key']));
    return (handle) => this.execute(key, exchange, handle);
  }

  private async execute(key: string, { request, reply }: KeyedExchange, handle: () => unknown): Promise<unknown> {
    const { accountId } = requirePrincipal(request);
    // Read before the transaction begins, which must not wait for a slow client.
    const body = await request.body.text();
    const [path] = request.url.split('?', 1);
    const fingerprint = hash('sha256', `${request.method} ${path}\n${body}`, 'buffer');
    const { response, isReplay } = await this.records.executeOnce({ accountId, key, fingerprint }, async () => {
      const result = await handle();
      const location = reply.getHeader('location');
      // A 204 has no body.
      const text = result === undefined ? '' : stringifyJson(result);
      return { body: text, location: typeof location === 'string' ? location : null };
    });
    if (isReplay) {
      reply.header('idempotent-replayed', 'true');
      if (response.location !== null) {
        reply.header('location', response.location);
      }
    }
    return response.body === '' ? undefined : new JsonText(response.body);
  }
}
