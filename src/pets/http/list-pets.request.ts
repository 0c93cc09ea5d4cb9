import { ApiPropertyOptional } from '../../shared/http/openapi-decorators';
import { PET_STATUSES, type PetStatus } from '../domain/pet';
import { IsPageLimit } from '../../shared/http/is-page-limit';
import { IsIn, IsOptional } from '../../shared/http/validation';

export class ListPetsRequest {
  @ApiPropertyOptional({
    description: 'Maximum number of animals returned.',
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: 100,
    default: 20,
    example: 20,
  })
  @IsPageLimit()
  readonly limit: string = '20';

  @ApiPropertyOptional({
    description: 'Only animals with this status are listed.',
    enum: PET_STATUSES,
    enumName: 'PetStatus',
    example: 'available',
  })
  @IsOptional()
  @IsIn(PET_STATUSES, { message: `status must be one of ${PET_STATUSES.join(', ')}, given once` })
  readonly status: PetStatus | undefined;

  @ApiPropertyOptional({
    description: 'Where the page begins: taken unchanged from the `Link` header of the page before.',
    type: 'string',
    minLength: 16,
    maxLength: 16,
    pattern: '^[A-Za-z0-9_-]{16}$',
  })
  readonly cursor: unknown;

  constructor(query: Readonly<Record<string, unknown>>) {
    this.limit = (query.limit ?? this.limit) as string;
    this.status = query.status as PetStatus | undefined;
    this.cursor = query.cursor;
  }
}
