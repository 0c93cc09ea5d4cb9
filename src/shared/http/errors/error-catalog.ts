import { HttpStatus } from '@nestjs/common';
import { type ErrorCode, type ErrorCodes, SHARED_ERROR_MESSAGES } from '../../domain/error-codes';
import type { PetStoreError } from '../../domain/pet-store-error';
import { ErrorDto } from './error.dto';

interface ErrorEntry {
  /** The message, or an example of it if it depends on the request. */
  readonly message: string;
  readonly status: number;
  /** What docs/errors.md adds to the message: when the error occurs, and what the client should do. */
  readonly help?: string | undefined;
}

export type ErrorEntries = Readonly<Record<string, ErrorEntry>>;

/** Combines the message of each error code of a module with its HTTP status and, if the message does not say it all, a help text. */
export function createErrorEntries<Code extends string>(
  messages: Readonly<Record<Code, string>>,
  responses: Readonly<Record<Code, number | readonly [status: number, help: string]>>,
): Readonly<Record<Code, ErrorEntry>> {
  const entries = (Object.keys(messages) as Code[]).map((code) => {
    const response: number | readonly [number, string] = responses[code];
    const [status, help] = typeof response === 'number' ? [response] : response;
    return [code, { message: messages[code], status, help }];
  });
  return Object.fromEntries(entries) as Record<Code, ErrorEntry>;
}

export const SHARED_ERROR_ENTRIES = createErrorEntries(SHARED_ERROR_MESSAGES, {
  invalid_parameter: [
    HttpStatus.BAD_REQUEST,
    'The message names each invalid parameter. Values are never adjusted: 101 does not become 100.',
  ],
  invalid_cursor: HttpStatus.BAD_REQUEST,
  malformed_url: [HttpStatus.BAD_REQUEST, 'Percent-encode the URL as UTF-8 (RFC 3986).'],
  malformed_request: [
    HttpStatus.BAD_REQUEST,
    'Send one valid `Host` header, and check whether a proxy damages requests.',
  ],
  invalid_json: [HttpStatus.BAD_REQUEST, 'Send one JSON object in UTF-8, nested at most 64 levels deep.'],
  invalid_body: [
    HttpStatus.BAD_REQUEST,
    'The message names each missing or invalid field. Numbers in quotes and `null` are rejected.',
  ],
  bad_request: HttpStatus.BAD_REQUEST,
  unauthorized: [HttpStatus.UNAUTHORIZED, 'Send the credential that the message asks for.'],
  forbidden: HttpStatus.FORBIDDEN,
  route_not_found: [HttpStatus.NOT_FOUND, 'All operations are under `/v1`.'],
  not_found: HttpStatus.NOT_FOUND,
  method_not_allowed: HttpStatus.METHOD_NOT_ALLOWED,
  not_acceptable: HttpStatus.NOT_ACCEPTABLE,
  request_timeout: [HttpStatus.REQUEST_TIMEOUT, 'The connection is closed. Retry on a new one.'],
  conflict: [HttpStatus.CONFLICT, 'Read the current state before you retry.'],
  gone: HttpStatus.GONE,
  precondition_failed: [HttpStatus.PRECONDITION_FAILED, 'Read the current state, and retry with its `ETag`.'],
  body_too_large: HttpStatus.PAYLOAD_TOO_LARGE,
  uri_too_long: HttpStatus.URI_TOO_LONG,
  unsupported_media_type: [
    HttpStatus.UNSUPPORTED_MEDIA_TYPE,
    'Send `Content-Type: application/json`, and no `Content-Encoding`.',
  ],
  unprocessable_content: HttpStatus.UNPROCESSABLE_ENTITY,
  too_many_requests: HttpStatus.TOO_MANY_REQUESTS,
  // RFC 6585 section 5; Nest has no constant for it.
  headers_too_large: [431, 'The request line and headers must be at most 16 KiB together.'],
  internal_error: [
    HttpStatus.INTERNAL_SERVER_ERROR,
    'Retry a create request only with the `Idempotency-Key` of the first attempt, which may have been executed.',
  ],
  not_implemented: [HttpStatus.NOT_IMPLEMENTED, 'Do not retry. The only transfer coding is `chunked`.'],
  bad_gateway: HttpStatus.BAD_GATEWAY,
  service_unavailable: [
    HttpStatus.SERVICE_UNAVAILABLE,
    'Wait longer each time. Retry a create request only with the `Idempotency-Key` of the first attempt, which may have been executed.',
  ],
  gateway_timeout: [
    HttpStatus.GATEWAY_TIMEOUT,
    'Retry a create request only with the `Idempotency-Key` of the first attempt.',
  ],
});

/** The last shared code of each status. */
const GENERIC_CODES = new Map(
  (Object.keys(SHARED_ERROR_ENTRIES) as ErrorCodes['shared'][]).map((code) => [
    SHARED_ERROR_ENTRIES[code].status,
    code,
  ]),
);

/** The code of an error of which only the status is known. */
export function getGenericCode(status: number): ErrorCode {
  return GENERIC_CODES.get(status) ?? (status < 500 ? 'bad_request' : 'internal_error');
}

/** All error codes that a response can have, assembled from the modules. */
export class ErrorCatalog {
  /** @param convert turns an error of a package into that of the service, if there is one for it */
  constructor(
    private readonly entries: Readonly<Record<ErrorCode, ErrorEntry>>,
    readonly convert: (error: unknown) => unknown,
  ) {}

  get codes(): readonly ErrorCode[] {
    return Object.keys(this.entries) as ErrorCode[];
  }

  get(code: ErrorCode): ErrorEntry {
    return this.entries[code];
  }

  toDto({ code, message }: PetStoreError): ErrorDto {
    return new ErrorDto(code, message, this.entries[code].status);
  }
}
