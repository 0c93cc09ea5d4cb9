import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { createInt64Schema } from '../../shared/openapi/int64-schema';
import { createTextSchema } from '../../shared/openapi/text-schema';
import { type Pet, PET_NAME_MAX_LENGTH, PET_STATUSES, type PetStatus } from '../domain/pet';

/** The status of an animal, as a named schema in the OpenAPI document. */
export const PET_STATUS_SCHEMA = {
  enum: PET_STATUSES,
  enumName: 'PetStatus',
  enumSchema: {
    description: '`available`: the animal is for sale. `pending`: it is reserved. `sold`: it has been sold.',
  },
};

/** The animal as clients see it: a domain field stays private until it is added here. */
@ApiSchema({ name: 'Pet', description: 'An animal of the store.' })
export class PetDto {
  @ApiProperty({
    description: 'Unique identifier, assigned by the service on creation.',
    ...createInt64Schema(1n),
    example: 1,
  })
  readonly id: bigint;

  @ApiProperty({
    description: "The animal's name.",
    ...createTextSchema({ maxLength: PET_NAME_MAX_LENGTH }),
    example: 'Rex',
  })
  readonly name: string;

  @ApiProperty({
    description: 'Identifier of the category the animal belongs to.',
    ...createInt64Schema(),
    example: 3,
  })
  readonly categoryId: bigint;

  @ApiProperty({
    description: 'Availability of the animal.',
    ...PET_STATUS_SCHEMA,
    example: 'available',
  })
  readonly status: PetStatus;

  constructor(pet: Pet) {
    this.id = pet.id;
    this.name = pet.name;
    this.categoryId = pet.categoryId;
    this.status = pet.status;
  }
}
