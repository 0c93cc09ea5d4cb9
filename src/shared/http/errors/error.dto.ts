import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { ErrorCode } from '../../domain/error-codes';

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
    maxLength: 2_048,
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
    this.message = message;
    this.status = status;
  }
}
