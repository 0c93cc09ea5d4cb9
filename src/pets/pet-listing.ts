import type { PetStatus } from './domain/pet';

export interface PetListingQuery {
  readonly status: PetStatus | undefined;
  /** Only animals with a larger ID. */
  readonly after: bigint;
  /** The maximum number of animals; never more than `MAX_PAGE_LIMIT`. */
  readonly limit: number;
}

export interface PetListingPage {
  /** The animals as clients see them: a JSON array of Pet objects. */
  readonly json: string;
  /** The ID after which the next page starts; undefined on the last page. */
  readonly next: bigint | undefined;
}

/** The read model of the list. Its adapter produces whole pages as JSON. */
export abstract class PetListing {
  /** Returns a page of animals by ascending ID. @throws ServiceUnavailableError */
  abstract list(query: PetListingQuery): Promise<PetListingPage>;
}
