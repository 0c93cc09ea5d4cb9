import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { ErrorCode } from '../domain/error-codes';
import { PetStoreError } from '../domain/pet-store-error';
import { ErrorResponse } from './error.response';

/** How long a client waits before it tries again while the database is away. */
const UNAVAILABLE_RETRY_SECONDS = 1;

/** What the framework's own refusals mean to a client. */
const FRAMEWORK_ERRORS: Readonly<Record<number, [ErrorCode, string]>> = {
  400: ['malformed_request', 'The request is not well-formed HTTP.'],
  404: ['route_not_found', 'Nothing is served at this URL. All operations are below /v1.'],
  413: ['body_too_large', 'The body is too large.'],
  414: ['uri_too_long', 'The URL is too long.'],
  415: ['unsupported_media_type', 'The body must be application/json.'],
  503: ['service_unavailable', 'The service is shutting down. Retry after the time in Retry-After.'],
};

const logger = new Logger('ErrorFilter');

/** Turns whatever was thrown into the Error body: domain errors by their code, the framework's by status, the rest as 500. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = toPetStoreError(thrown, reply.request.id);
    if (error.code === 'service_unavailable') {
      reply.header('retry-after', UNAVAILABLE_RETRY_SECONDS);
    }
    void reply
      // What the handler created is gone when what came after it failed.
      .removeHeader('location')
      .status(error.status)
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify(new ErrorResponse(error)));
  }
}

/** What a client is told about something thrown; what it is not told about is logged. */
export function toPetStoreError(thrown: unknown, requestId: string): PetStoreError {
  if (thrown instanceof PetStoreError) {
    return thrown;
  }
  if (isCode(thrown, 'FST_ERR_BAD_URL')) {
    return new PetStoreError('malformed_url');
  }
  const framework = FRAMEWORK_ERRORS[statusOf(thrown)];
  if (framework !== undefined) {
    return new PetStoreError(...framework);
  }
  // The stack alone: an error object may hold a query with its parameters.
  const stack = thrown instanceof Error ? thrown.stack : String(thrown);
  logger.error({ event: 'request_failed', id: requestId, stack }, 'A request failed.');
  return new PetStoreError('internal_error');
}

function statusOf(thrown: unknown): number {
  if (thrown instanceof HttpException) {
    return thrown.getStatus();
  }
  return (thrown as { statusCode?: number } | undefined)?.statusCode ?? 500;
}

function isCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && (thrown as NodeJS.ErrnoException).code === code;
}
