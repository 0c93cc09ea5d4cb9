export { PET_ERROR_ENTRIES } from './http/pet-error-entries';
export { PetsModule } from './pets.module';
export { PetsService } from './pets.service';
