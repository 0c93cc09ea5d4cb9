import type { NewPet, Pet } from './pet';

/** The result of an attempt to reserve an animal. */
export type ReservationResult = 'reserved' | 'not_available' | 'unknown';

/** The animals of the store. */
export abstract class PetRepository {
  /** Stores an animal and assigns its ID. */
  abstract add(pet: NewPet): Promise<Pet>;
  abstract find(id: bigint): Promise<Pet | null>;
  /** Locks an animal until the end of the current transaction; requires one. */
  abstract findForUpdate(id: bigint): Promise<Pet | null>;
  /** Makes an available animal pending. Of several concurrent calls, the first reserves it; the others wait for that result. */
  abstract reserve(id: bigint): Promise<ReservationResult>;
}
