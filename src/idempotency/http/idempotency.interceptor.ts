import { hash } from 'node:crypto';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { JsonText, stringifyJson } from '../../shared/json/json';
import type { RequestBody } from '../../shared/http/server/request-body';
import { requirePrincipal } from '../../shared/http/access/request-principal';
import { parseIdempotencyKey } from '../domain/idempotency-key';
import { IdempotencyRecords } from '../domain/idempotency-records';

type RequestWithBody = FastifyRequest<{ Body: RequestBody }>;

/** Executes a request with an `Idempotency-Key` once, and responds to retries from the record. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly records: IdempotencyRecords) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<RequestWithBody>();
    const sent = request.headers['idempotency-key'];
    return sent === undefined
      ? next.handle()
      : from(this.once(String(sent), request, http.getResponse<FastifyReply>(), next));
  }

  private async once(sent: string, request: RequestWithBody, reply: FastifyReply, next: CallHandler): Promise<unknown> {
    const key = parseIdempotencyKey(sent);
    const { accountId } = requirePrincipal(request);
    // Read before the transaction begins, which must not wait for a slow client.
    const body = await request.body.text();
    const [path] = request.url.split('?', 1);
    const fingerprint = hash('sha256', `${request.method} ${path}\n${body}`, 'buffer');
    const { response, isReplay } = await this.records.executeOnce({ accountId, key, fingerprint }, async () => {
      const created: unknown = await lastValueFrom(next.handle());
      const location = reply.getHeader('location');
      // A 204 has no body.
      const text = created === undefined ? '' : stringifyJson(created);
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
