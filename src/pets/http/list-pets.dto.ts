import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { IsUndefinable } from '../../shared/http/validation/is-undefinable.decorator';
import { PageQueryDto } from '../../shared/http/pagination/page-query.dto';
import { PET_STATUSES, type PetStatus } from '../domain/pet';
import { PET_STATUS_SCHEMA } from './pet.dto';

export class ListPetsQueryDto extends PageQueryDto {
  @ApiPropertyOptional({
    description: 'Return only animals with this status.',
    ...PET_STATUS_SCHEMA,
    example: 'available',
  })
  @IsUndefinable()
  @IsIn(PET_STATUSES, { message: `status must be one of ${PET_STATUSES.join(', ')}, given once` })
  readonly status?: PetStatus;
}
