import { HttpStatus } from '@nestjs/common';
import { createErrorEntries } from '../../shared/http/errors/error-catalog';
import { PET_ERROR_MESSAGES } from '../domain/pet-errors';

export const PET_ERROR_ENTRIES = createErrorEntries(PET_ERROR_MESSAGES, {
  pet_not_found: [
    HttpStatus.NOT_FOUND,
    'A `petId` such as `abc`, `01` or `0` is not found either. Use an `id` from the list of animals.',
  ],
});
