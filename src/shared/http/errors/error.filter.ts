import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, HttpStatus, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { ErrorCodes } from '../../domain/error-codes';
import { PetStoreError, ServiceUnavailableError } from '../../domain/pet-store-error';
import { ErrorCatalog } from './error-catalog';
import { ErrorDto } from './error.dto';
import { ErrorHelp } from './error-help';
import { ServiceUnavailableLogger } from './service-unavailable-logger';
import { getUrlError } from '../server/url-check';

/** The challenge of every 401 (RFC 6750 section 3). */
export const BEARER_CHALLENGE = 'Bearer realm="petstore"';

const UNKNOWN_URL_MESSAGE = 'No operation has this URL. All operations are under /v1.';

/** The `Retry-After` of a 503, in seconds. */
const UNAVAILABLE_RETRY_SECONDS = 1;

/** The client-facing form of errors that the HTTP layer itself raises. */
const HTTP_LAYER_ERRORS: Readonly<Record<number, [ErrorCodes['shared'], string]>> = {
  400: ['malformed_request', 'The request is not well-formed HTTP.'],
  413: ['body_too_large', 'The body is too large.'],
  414: ['uri_too_long', 'The URL is too long.'],
  415: ['unsupported_media_type', 'The body must be application/json in UTF-8.'],
  503: ['service_unavailable', 'The service is shutting down. Retry after the number of seconds in Retry-After.'],
};

/** The codes of Nest's exceptions by status. Any other status is kept, with the code `bad_request` or `internal_error`. */
const GENERIC_CODES: Readonly<Record<number, ErrorCodes['shared']>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  408: 'request_timeout',
  409: 'conflict',
  410: 'gone',
  412: 'precondition_failed',
  413: 'body_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  422: 'unprocessable_content',
  429: 'too_many_requests',
  431: 'headers_too_large',
  501: 'not_implemented',
  502: 'bad_gateway',
  503: 'service_unavailable',
  504: 'gateway_timeout',
};

const logger = new Logger('ErrorFilter');
const serviceUnavailableLogger = new ServiceUnavailableLogger();

/**
 * Turns every exception into an Error body: domain errors by their code, Nest's exceptions by their status, all others as
 * 500.
 */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly catalog: ErrorCatalog,
    private readonly help: ErrorHelp,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const { id, is404, raw } = reply.request;
    // If no route matches, Nest's router throws an exception with its own message.
    const error = is404 ? (getUrlError(raw) ?? new PetStoreError('route_not_found', UNKNOWN_URL_MESSAGE)) : thrown;
    const body = toErrorDto(error, id, this.catalog);
    if (body.code === 'service_unavailable') {
      reply.header('retry-after', UNAVAILABLE_RETRY_SECONDS);
    }
    if (body.status === 401 && !reply.hasHeader('www-authenticate')) {
      reply.header('www-authenticate', BEARER_CHALLENGE);
    }
    void reply
      // The resource was not created if a later step failed.
      .removeHeader('location')
      .status(body.status)
      .headers(this.help.createHeaders(body.code, reply.getHeader('link') as string | undefined))
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify(body));
  }
}

/** Turns an exception into the Error body, and logs what the client must not see. */
export function toErrorDto(thrown: unknown, requestId: string, catalog: ErrorCatalog): ErrorDto {
  if (thrown instanceof ServiceUnavailableError) {
    serviceUnavailableLogger.record(thrown.cause, requestId);
  }
  if (thrown instanceof PetStoreError) {
    return catalog.toDto(thrown);
  }
  if (thrown instanceof HttpException && thrown.getStatus() !== HttpStatus.INTERNAL_SERVER_ERROR.valueOf()) {
    return convertHttpException(thrown, catalog);
  }
  const { statusCode = 500 } = (thrown ?? {}) as { readonly statusCode?: number };
  const known = HTTP_LAYER_ERRORS[statusCode];
  if (known !== undefined) {
    return catalog.toDto(new PetStoreError(...known));
  }
  // The stack only: an error object may hold a query with its parameters.
  const stack = thrown instanceof Error ? thrown.stack : String(thrown);
  logger.error({ event: 'request_failed', id: requestId, stack }, 'A request failed.');
  return catalog.toDto(new PetStoreError('internal_error'));
}

/** Keeps the status, and the message unless it is a 5xx. */
function convertHttpException(exception: HttpException, catalog: ErrorCatalog): ErrorDto {
  const status = exception.getStatus();
  const code = GENERIC_CODES[status] ?? (status < 500 ? 'bad_request' : 'internal_error');
  return new ErrorDto(code, status < 500 ? getMessage(exception) : catalog.get(code).message, status);
}

/** Nest's ValidationPipe throws a list of messages. */
function getMessage(exception: HttpException): string {
  const response = exception.getResponse();
  const { message } = (typeof response === 'object' ? response : {}) as { readonly message?: unknown };
  return Array.isArray(message) ? `${message.join('; ')}.` : exception.message;
}
