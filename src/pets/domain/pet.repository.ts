import type { NewPet, Pet, PetStatus } from './pet';

export interface PetQuery {
  readonly status: PetStatus | undefined;
  /** Only animals with a greater id. */
  readonly after: bigint;
  /** How many animals at most, at least 1. */
  readonly limit: number;
}

/** The animals of the store. */
export abstract class PetRepository {
  /** Stores an animal and gives it its id. */
  abstract add(pet: NewPet): Promise<Pet>;
  abstract find(id: bigint): Promise<Pet | null>;
  /** Animals by ascending id. */
  abstract list(query: PetQuery): Promise<Pet[]>;
}
