import { PetStoreError } from '../../shared/domain/pet-store-error';

export const ORDER_ERROR_MESSAGES = {
  order_not_found: 'The account has no order with this orderId.',
  unknown_pet: 'No animal has the petId in the order.',
  pet_not_available: 'The animal is no longer available.',
} as const;

declare module '../../shared/domain/error-codes' {
  interface ErrorCodes {
    readonly orders: keyof typeof ORDER_ERROR_MESSAGES;
  }
}

/** The account has no order with the ID. Orders of other accounts are not found either. */
export class OrderNotFoundError extends PetStoreError {
  constructor() {
    super('order_not_found', ORDER_ERROR_MESSAGES.order_not_found);
  }
}

export class UnknownPetError extends PetStoreError {
  constructor() {
    super('unknown_pet', ORDER_ERROR_MESSAGES.unknown_pet);
  }
}

export class PetNotAvailableError extends PetStoreError {
  constructor() {
    super('pet_not_available', ORDER_ERROR_MESSAGES.pet_not_available);
  }
}
