import { hash } from 'node:crypto';
import { Stream } from 'node:stream';
import {
  ClassSerializerInterceptor,
  type ExecutionContext,
  Injectable,
  type PipeTransform,
  type RawBodyRequest,
  StreamableFile,
  UseInterceptors,
} from '@nestjs/common';
import { ApplicationConfig, Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { lastValueFrom, Observable, of } from 'rxjs';
import { requirePrincipal } from '../../shared/http/access/request-principal';
import { findMetadataKey } from '../../shared/http/routing/api-versions';
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

const INTERCEPTORS_METADATA = findMetadataKey(UseInterceptors(ClassSerializerInterceptor));

@Injectable()
export class IdempotencyPipe implements PipeTransform<ExecutionContext, Once> {
  constructor(
    private readonly records: IdempotencyRecords,
    private readonly config: ApplicationConfig,
    private readonly reflector: Reflector,
  ) {}

  /** @throws IdempotencyKeyError `invalid_idempotency_key` */
  transform(context: ExecutionContext): Once {
    const request = context.switchToHttp().getRequest<RawBodyRequest<FastifyRequest>>();
    const key = request.headers['idempotency-key'];
    const idempotentRequest = key === undefined ? undefined : createIdempotentRequest(request, String(key));
    let isCalled = false;
    return async (work) => {
      if (isCalled) {
        // With a key, it would return the first result.
        throw new Error(
          'The Once of an operation with @Idempotent() can be called only once: pass it all of its work.',
        );
      }
      isCalled = true;
      return idempotentRequest === undefined ? await work() : this.executeOnce(idempotentRequest, context, work);
    };
  }

  private async executeOnce(
    request: IdempotentRequest,
    context: ExecutionContext,
    work: () => unknown,
  ): Promise<unknown> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    let result: unknown;
    const before = reply.getHeaders();
    const { response, isReplay } = await this.records.executeOnce(request, async () => {
      result = await work();
      requireJson(result, reply);
      return {
        // A 204 has no body.
        body: result === undefined ? '' : stringifyJson(await this.serialize(result, context)),
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

  /** Does what a ClassSerializerInterceptor will do, if the operation has one: what it hides must neither be stored nor be in a replay. */
  private async serialize(result: unknown, context: ExecutionContext): Promise<unknown> {
    const declared = [context.getHandler(), context.getClass()].map(
      (target) => Reflect.getMetadata(INTERCEPTORS_METADATA, target) as unknown,
    );
    const serializer = [...this.config.getGlobalInterceptors(), ...declared.flat()]
      .map((each) => (each === ClassSerializerInterceptor ? new ClassSerializerInterceptor(this.reflector) : each))
      .find((each): each is ClassSerializerInterceptor => each instanceof ClassSerializerInterceptor);
    return serializer === undefined
      ? result
      : lastValueFrom<unknown>(await serializer.intercept(context, { handle: () => of(result) }));
  }
}

/** @throws Error for a response of which a replay would not be the same */
function requireJson(result: unknown, reply: FastifyReply): void {
  const isOther = [StreamableFile, Stream, Uint8Array, Observable].some((type) => result instanceof type);
  if (isOther || reply.sent) {
    throw new Error(
      'The result of an operation with @Idempotent() must be JSON, and its work must not send the response.',
    );
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

function createIdempotentRequest(request: RawBodyRequest<FastifyRequest>, key: string): IdempotentRequest {
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
