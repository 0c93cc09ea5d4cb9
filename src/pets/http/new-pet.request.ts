import { ApiProperty, ApiPropertyOptional, ApiSchema } from '../../shared/http/openapi-decorators';
import { int64Schema } from '../../shared/http/int64-schema';
import { IsInt64Body, toInt64 } from '../../shared/http/is-int64';
import { Satisfies } from '../../shared/http/satisfies';
import { IsIn } from '../../shared/http/validation';
import { type NewPet, PET_NAME_MAX_LENGTH, PET_STATUSES, petNameProblem, type PetStatus } from '../domain/pet';

@ApiSchema({ name: 'NewPet', description: 'An animal to add.' })
export class NewPetRequest implements NewPet {
  @ApiProperty({
    description: "The animal's name; not only white space. It is kept as sent.",
    minLength: 1,
    maxLength: PET_NAME_MAX_LENGTH,
    pattern: '\\S',
    example: 'Rex',
  })
  @Satisfies(petNameProblem)
  readonly name: string;

  @ApiProperty({
    description: 'Identifier of the category the animal belongs to.',
    ...int64Schema(),
    example: 3,
  })
  @IsInt64Body()
  readonly categoryId: bigint;

  @ApiPropertyOptional({
    description: 'Availability of the animal.',
    enum: PET_STATUSES,
    enumName: 'PetStatus',
    default: 'available',
    example: 'available',
  })
  @IsIn(PET_STATUSES, { message: `status must be one of ${PET_STATUSES.join(', ')}` })
  readonly status: PetStatus = 'available';

  constructor(body: Readonly<Record<string, unknown>>) {
    this.name = body.name as string;
    this.categoryId = toInt64(body.categoryId);
    this.status = (body.status === undefined ? this.status : body.status) as PetStatus;
  }
}
