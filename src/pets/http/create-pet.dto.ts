import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { IsInt64 } from '../../shared/http/validation/is-int64.decorator';
import { IsText } from '../../shared/http/validation/is-text.decorator';
import { type NewPet, PET_NAME_MAX_LENGTH, PET_STATUSES, type PetStatus } from '../domain/pet';
import { PET_STATUS_SCHEMA } from './pet.dto';

@ApiSchema({ name: 'NewPet', description: 'An animal to add.' })
export class CreatePetDto implements NewPet {
  @ApiProperty({
    description: "The animal's name; not only whitespace. It is stored as sent.",
    example: 'Rex',
  })
  @IsText({ maxLength: PET_NAME_MAX_LENGTH })
  readonly name!: string;

  @ApiProperty({ description: 'Identifier of the category the animal belongs to.', example: 3 })
  @IsInt64()
  readonly categoryId!: bigint;

  @ApiPropertyOptional({
    description: 'Availability of the animal.',
    ...PET_STATUS_SCHEMA,
    default: 'available',
    example: 'available',
  })
  @IsIn(PET_STATUSES, { message: `status must be one of ${PET_STATUSES.join(', ')}` })
  readonly status: PetStatus = 'available';
}
