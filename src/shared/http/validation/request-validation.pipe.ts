import { type ArgumentMetadata, BadRequestException, Injectable, ValidationPipe } from '@nestjs/common';
import { joinMessages } from '../../domain/error-message';
import { PetStoreError } from '../../domain/pet-store-error';
import { MULTIPART_BODY } from '../server/request-body';

/** Transforms the body, query and parameters of every handler into its DTOs and validates them. */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  constructor() {
    super({ transform: true, whitelist: true, stopAtFirstError: true });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    // ParseInt64Pipe parses a bigint; it has no fields to validate.
    if ((metadata.metatype as unknown) === BigInt) {
      return value;
    }
    if (value === MULTIPART_BODY) {
      throw new PetStoreError('unsupported_media_type', 'The body must not be a multipart form.');
    }
    if (metadata.type === 'body' && metadata.data === undefined && this.toValidate(metadata) && !isJsonObject(value)) {
      throw new PetStoreError(
        'invalid_json',
        value === undefined ? 'The body is empty. Send a JSON object.' : 'The body must be a JSON object.',
      );
    }
    try {
      return (await super.transform(value, metadata)) as unknown;
    } catch (error) {
      throw convertValidationError(error, metadata);
    }
  }
}

function isJsonObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Gives the error of ValidationPipe, which has a list of messages, a code that names the invalid part of the request. */
function convertValidationError(error: unknown, { type }: ArgumentMetadata): unknown {
  if (error instanceof TypeError && error.message.includes('BigInt')) {
    // A transformer such as `@Type(() => Date)` has got an integer beyond 2^53.
    return new PetStoreError(type === 'body' ? 'invalid_body' : 'invalid_parameter', 'A number is too large.');
  }
  if (!(error instanceof BadRequestException)) {
    return error;
  }
  const { message } = error.getResponse() as { readonly message?: unknown };
  return Array.isArray(message)
    ? new PetStoreError(type === 'body' ? 'invalid_body' : 'invalid_parameter', joinMessages(message))
    : error;
}
