import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { ErrorCode } from '../../domain/error-codes';

const MAX_MESSAGE_LENGTH = 2_048;

/** The body of every error, from every layer. */
@ApiSchema({ name: 'Error', description: 'The body of every error.' })
export class ErrorDto {
  @ApiProperty({
    description: 'Machine-readable error code. Codes may be added.',
    type: 'string',
    maxLength: 64,
    pattern: '^[a-z][a-z_]*$',
  })
  readonly code: ErrorCode;

  @ApiProperty({
    description: 'Human-readable description; may be reworded.',
    minLength: 1,
    maxLength: MAX_MESSAGE_LENGTH,
    pattern: '\\S',
    example: 'No animal has this petId.',
  })
  readonly message: string;

  @ApiProperty({
    description: 'HTTP status code of the response.',
    type: 'integer',
    format: 'int32',
    minimum: 400,
    maximum: 599,
    example: 404,
  })
  readonly status: number;

  constructor(code: ErrorCode, message: string, status: number) {
    this.code = code;
    this.message = message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH - 1)}…` : message;
    this.status = status;
  }
}
