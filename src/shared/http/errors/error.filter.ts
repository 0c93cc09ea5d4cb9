import { ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { type Observable, throwError } from 'rxjs';
import { BRAND } from '../../../config/brand';
import { getErrorCode, joinMessages } from '../../domain/error-message';
import { PetStoreError, ServiceUnavailableError } from '../../domain/pet-store-error';
import { ErrorCatalog, getGenericCode } from './error-catalog';
import { ErrorDto } from './error.dto';
import { ErrorHelp } from './error-help';
import { ServiceUnavailableLogger } from './service-unavailable-logger';
import { getDefaultHeaders } from '../access/security-headers';
import { getUrlError } from '../access/url-check';
import { RouteTable } from '../routing/route-table';
import { logEvent } from '../../log-events';

/** The challenge of every 401 (RFC 6750 section 3). */
export const BEARER_CHALLENGE = `Bearer realm="${BRAND.name}"`;

/** The headers of a response that is not sent because a later step failed. */
const DISCARDED_HEADERS = ['location', 'content-disposition', 'content-encoding', 'content-length', 'etag'];

const logger = new Logger('ErrorFilter');
const serviceUnavailableLogger = new ServiceUnavailableLogger();

/**
 * Turns every exception into an Error body: domain errors by their code, Nest's exceptions by their status, those of an unavailable database
 * as 503, all others as 500.
 */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly catalog: ErrorCatalog,
    private readonly help: ErrorHelp,
    private readonly routes: RouteTable,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): Observable<never> | undefined {
    if (host.getType() === 'rpc') {
      return throwError(() => toErrorDto(thrown, '', this.catalog));
    }
    if (host.getType() !== 'http') {
      throw thrown;
    }
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply | ServerResponse>();
    if (reply instanceof ServerResponse) {
      // An error in middleware, which has no reply: Fastify passes it to `respond`, with the headers of every response.
      http.getNext<(error: unknown) => void>()(thrown ?? new Error('Middleware threw nothing.'));
    } else {
      this.respond(thrown, reply);
    }
    return undefined;
  }

  respond(thrown: unknown, reply: FastifyReply): void {
    const { id, is404, raw, server } = reply.request;
    // If no route matches, Nest's router throws an exception with its own message.
    const error = is404
      ? (getUrlError(raw) ?? this.routes.rejectMethod(reply) ?? createUnknownUrlError(server.apiVersions))
      : thrown;
    const body = toErrorDto(error, id, this.catalog);
    if (body.status === 401 && !reply.hasHeader('www-authenticate')) {
      reply.header('www-authenticate', BEARER_CHALLENGE);
    }
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (DISCARDED_HEADERS.includes(name) || !canSend(name, value)) {
        void reply.removeHeader(name);
      }
    }
    void reply
      .status(body.status)
      .header('cache-control', getDefaultHeaders(reply.request)['cache-control'])
      .headers(this.help.createHeaders(body.code, reply.getHeaders()))
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify(body));
  }
}

/** Whether Node accepts a header. Otherwise, this response would fail too. */
function canSend(name: string, value: unknown): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, String(value));
    return true;
  } catch {
    return false;
  }
}

function createUnknownUrlError(apiVersions: ReadonlySet<string>): PetStoreError {
  const roots = [...apiVersions].map((version) => `/v${version}`).join(' or ');
  return new PetStoreError('route_not_found', `No operation has this URL. All operations are under ${roots}.`);
}

/** Turns an exception into the Error body, and logs what the client must not see. */
export function toErrorDto(error: unknown, requestId: string, catalog: ErrorCatalog): ErrorDto {
  const exception = isClientError(error) ? new HttpException(error.message, error.statusCode) : error;
  if (exception instanceof HttpException && isStatusToKeep(exception.getStatus())) {
    if (exception.getStatus() > 500) {
      serviceUnavailableLogger.record(exception.cause ?? exception, requestId, exception.getStatus());
    }
    return convertHttpException(exception, catalog);
  }
  const thrown = catalog.convert(error);
  if (thrown instanceof ServiceUnavailableError) {
    serviceUnavailableLogger.record(thrown.cause, requestId);
  } else if (thrown !== error) {
    // Without the message, which may contain the value.
    const fields = { id: requestId, code: getErrorCode(error) };
    logEvent(logger, 'value_rejected', 'PostgreSQL rejected a value that no rule had checked.', fields);
  }
  if (thrown instanceof PetStoreError) {
    return catalog.toDto(thrown);
  }
  // The stack only: an error object may hold a query with its parameters.
  const stack = thrown instanceof Error ? thrown.stack : String(thrown);
  logEvent(logger, 'request_failed', 'A request failed.', { id: requestId, stack });
  return catalog.toDto(new PetStoreError('internal_error'));
}

/** Whether it has the properties of a 4xx by which Fastify and its plugins report what is wrong with a request. */
function isClientError(thrown: unknown): thrown is { readonly statusCode: number; readonly message: string } {
  const { statusCode, message, expose } = (thrown ?? {}) as Readonly<Record<string, unknown>>;
  const isClientStatus = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return isClientStatus && typeof message === 'string' && expose !== false;
}

/** Whether it is the status of an error whose cause need not be logged. */
function isStatusToKeep(status: number): boolean {
  return Number.isInteger(status) && status >= 400 && status < 600 && status !== 500;
}

/** Keeps the status, and the message unless it is a 5xx. */
function convertHttpException(exception: HttpException, catalog: ErrorCatalog): ErrorDto {
  const status = exception.getStatus();
  const code = getGenericCode(status);
  const message = status < 500 ? getMessage(exception) : '';
  return new ErrorDto(code, message || catalog.get(code).message, status);
}

/**
 * Nest's ValidationPipe throws a list of messages; an exception with a body of its own may have its text in `error`. Objects, such as the
 * errors of class-validator, would show the names of classes.
 */
function getMessage(exception: HttpException): string {
  const response = exception.getResponse();
  const { message, error } = (typeof response === 'object' ? response : {}) as Readonly<Record<string, unknown>>;
  const texts = Array.isArray(message) ? message.filter((each) => typeof each === 'string') : [];
  if (texts.length > 0) {
    return joinMessages(texts);
  }
  return message === undefined && typeof error === 'string' ? error : exception.message;
}
