import type { NewPet, Pet } from './pet';

/** The animals of the store. */
export abstract class PetRepository {
  /** Stores an animal and gives it its id. */
  abstract add(pet: NewPet): Promise<Pet>;
  abstract find(id: bigint): Promise<Pet | null>;
}
