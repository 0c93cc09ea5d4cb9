import { PetStoreError } from '../../shared/domain/pet-store-error';

/** No order of the account has the id; one of another account is no different. */
export class OrderNotFound extends PetStoreError {
  constructor() {
    super('order_not_found');
  }
}

export class UnknownPet extends PetStoreError {
  constructor() {
    super('unknown_pet');
  }
}

export class PetNotAvailable extends PetStoreError {
  constructor() {
    super('pet_not_available');
  }
}
