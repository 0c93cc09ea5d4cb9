import type { Page } from '../../shared/domain/page';
import type { NewPet, Pet, PetStatus } from './pet';

/** The result of an attempt to reserve an animal. */
export type ReservationResult = 'reserved' | 'not_available' | 'unknown';

export interface PetQuery {
  readonly status: PetStatus | undefined;
  /** Only animals with a larger ID. */
  readonly after: bigint;
  /** The maximum number of animals; never more than `MAX_PAGE_LIMIT`. */
  readonly limit: number;
}

/** The animals of the store. */
export abstract class PetRepository {
  /** Stores an animal and assigns its ID. */
  abstract add(pet: NewPet): Promise<Pet>;
  abstract find(id: bigint): Promise<Pet | null>;
  /** Returns a page of animals by ascending ID. */
  abstract list(query: PetQuery): Promise<Page<Pet>>;
  /** Makes an available animal pending. Of several concurrent calls, the first reserves it; the others wait for that result. */
  abstract reserve(id: bigint): Promise<ReservationResult>;
}
