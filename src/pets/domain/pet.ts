export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

export type PetStatus = (typeof PET_STATUSES)[number];

export const PET_NAME_MAX_LENGTH = 255;

/** An animal of the store. */
export class Pet {
  constructor(
    readonly id: bigint,
    readonly name: string,
    /** Any int64: there is no category resource to check it against. */
    readonly categoryId: bigint,
    readonly status: PetStatus,
  ) {}
}

/** An animal that has no ID yet. */
export type NewPet = Omit<Pet, 'id'>;
