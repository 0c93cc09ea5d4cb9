import { PetStoreError } from '../../shared/domain/pet-store-error';

export const PET_ERROR_MESSAGES = { pet_not_found: 'No animal has this petId.' } as const;

declare module '../../shared/domain/error-codes' {
  interface ErrorCodes {
    readonly pets: keyof typeof PET_ERROR_MESSAGES;
  }
}

export class PetNotFoundError extends PetStoreError {
  constructor() {
    super('pet_not_found', PET_ERROR_MESSAGES.pet_not_found);
  }
}
