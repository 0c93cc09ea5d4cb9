import { ApiPropertyOptional } from '../../shared/http/openapi-decorators';
import { PageRequest } from '../../shared/http/page.request';
import { IsIn, IsOptional } from '../../shared/http/validation';
import { PET_STATUSES, type PetStatus } from '../domain/pet';

export class ListPetsRequest extends PageRequest {
  @ApiPropertyOptional({
    description: 'Only animals with this status are listed.',
    enum: PET_STATUSES,
    enumName: 'PetStatus',
    example: 'available',
  })
  @IsOptional()
  @IsIn(PET_STATUSES, { message: `status must be one of ${PET_STATUSES.join(', ')}, given once` })
  readonly status: PetStatus | undefined;

  constructor(query: Readonly<Record<string, unknown>>) {
    super(query);
    this.status = query.status as PetStatus | undefined;
  }
}
