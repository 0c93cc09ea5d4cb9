import { PetStoreError } from '../../shared/domain/pet-store-error';

export class PetNotFound extends PetStoreError {
  constructor() {
    super('pet_not_found');
  }
}
