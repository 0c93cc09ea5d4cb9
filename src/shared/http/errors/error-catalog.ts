import { HttpStatus } from '@nestjs/common';
import { type ErrorCode, SHARED_ERROR_MESSAGES } from '../../domain/error-codes';
import type { PetStoreError } from '../../domain/pet-store-error';
import { ErrorDto } from './error.dto';

/** The message of an error code, or an example of it, and the HTTP status of its responses. */
interface ErrorEntry {
  readonly message: string;
  readonly status: number;
}

export type ErrorEntries = Readonly<Record<string, ErrorEntry>>;

/** Combines the message and the HTTP status of each error code of a module. */
export function createErrorEntries<Code extends string>(
  messages: Readonly<Record<Code, string>>,
  statuses: Readonly<Record<Code, number>>,
): Readonly<Record<Code, ErrorEntry>> {
  const entries = (Object.keys(messages) as Code[]).map((code) => [
    code,
    { message: messages[code], status: statuses[code] },
  ]);
  return Object.fromEntries(entries) as Record<Code, ErrorEntry>;
}

export const SHARED_ERROR_ENTRIES = createErrorEntries(SHARED_ERROR_MESSAGES, {
  invalid_parameter: HttpStatus.BAD_REQUEST,
  invalid_cursor: HttpStatus.BAD_REQUEST,
  malformed_url: HttpStatus.BAD_REQUEST,
  malformed_request: HttpStatus.BAD_REQUEST,
  invalid_json: HttpStatus.BAD_REQUEST,
  invalid_body: HttpStatus.BAD_REQUEST,
  bad_request: HttpStatus.BAD_REQUEST,
  unauthorized: HttpStatus.UNAUTHORIZED,
  forbidden: HttpStatus.FORBIDDEN,
  not_found: HttpStatus.NOT_FOUND,
  route_not_found: HttpStatus.NOT_FOUND,
  method_not_allowed: HttpStatus.METHOD_NOT_ALLOWED,
  not_acceptable: HttpStatus.NOT_ACCEPTABLE,
  request_timeout: HttpStatus.REQUEST_TIMEOUT,
  conflict: HttpStatus.CONFLICT,
  gone: HttpStatus.GONE,
  precondition_failed: HttpStatus.PRECONDITION_FAILED,
  body_too_large: HttpStatus.PAYLOAD_TOO_LARGE,
  uri_too_long: HttpStatus.URI_TOO_LONG,
  unsupported_media_type: HttpStatus.UNSUPPORTED_MEDIA_TYPE,
  unprocessable_content: HttpStatus.UNPROCESSABLE_ENTITY,
  too_many_requests: HttpStatus.TOO_MANY_REQUESTS,
  // RFC 6585 section 5; Nest has no constant for it.
  headers_too_large: 431,
  internal_error: HttpStatus.INTERNAL_SERVER_ERROR,
  not_implemented: HttpStatus.NOT_IMPLEMENTED,
  bad_gateway: HttpStatus.BAD_GATEWAY,
  service_unavailable: HttpStatus.SERVICE_UNAVAILABLE,
  gateway_timeout: HttpStatus.GATEWAY_TIMEOUT,
});

/** All error codes that a response can have, assembled from the modules. */
export class ErrorCatalog {
  constructor(private readonly entries: Readonly<Record<ErrorCode, ErrorEntry>>) {}

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
