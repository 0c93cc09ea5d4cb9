import type { PetStatus } from './pet';

export interface PetQuery {
  readonly status: PetStatus | undefined;
  /** Only animals with a larger id. */
  readonly after: bigint;
  /** At most this many. */
  readonly limit: number;
}

/** A page of animals as clients see it: a JSON array of Pet objects. */
export interface PetPage {
  readonly json: string;
  /** The id after which the next page begins; undefined on the last page. */
  readonly next: bigint | undefined;
}

/** The read model of the listing, beside the aggregate that is written. */
export abstract class PetPages {
  /** Animals by ascending id. */
  abstract page(query: PetQuery): Promise<PetPage>;
}
