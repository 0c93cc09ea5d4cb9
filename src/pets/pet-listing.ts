import type { PetStatus } from './domain/pet';

export interface PetListingQuery {
  readonly status: PetStatus | undefined;
  /** Only animals with a larger id. */
  readonly after: bigint;
  /** At most this many, and never more than `MAX_PAGE_LIMIT`. */
  readonly limit: number;
}

export interface PetListingPage {
  /** The animals as clients see them: a JSON array of Pet objects. */
  readonly json: string;
  /** The id after which the next page begins; undefined on the last page. */
  readonly next: bigint | undefined;
}

/** The animals as clients list them: a read model, whose pages are written where the animals are. */
export abstract class PetListing {
  /** Animals by ascending id. @throws ServiceUnavailableError */
  abstract page(query: PetListingQuery): Promise<PetListingPage>;
}
