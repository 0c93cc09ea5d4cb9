import { PET_ERROR_ENTRIES } from './http/pet-error-entries';
import { CreatePets1795219200001 } from './persistence/create-pets.migration';
import { FixPetNameCheck1795320900000 } from './persistence/fix-pet-name-check.migration';
import { PetSchema } from './persistence/pet.schema';
import { PetsModule } from './pets.module';

export { PetNotFoundError } from './domain/pet-errors';
export { PetsModule } from './pets.module';
export { PetsService } from './pets.service';

export const PETS = {
  module: PetsModule,
  schemas: [PetSchema],
  migrations: [CreatePets1795219200001, FixPetNameCheck1795320900000],
  errors: PET_ERROR_ENTRIES,
};
