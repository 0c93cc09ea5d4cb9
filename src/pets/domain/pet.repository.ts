import type { NewPet, Pet } from './pet';

/** What came of the wish to reserve an animal. */
export type Reservation = 'reserved' | 'not_available' | 'unknown';

/** The animals of the store. */
export abstract class PetRepository {
  /** Stores an animal and gives it its id. */
  abstract add(pet: NewPet): Promise<Pet>;
  abstract find(id: bigint): Promise<Pet | null>;
  /** Locks an animal until the end of the transaction under way, which there must be. */
  abstract findForChange(id: bigint): Promise<Pet | null>;
  /** Makes an available animal pending. Of several at the same time, the first gets it; the others wait until that is certain. */
  abstract reserve(id: bigint): Promise<Reservation>;
}
