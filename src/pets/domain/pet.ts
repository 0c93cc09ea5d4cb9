export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

export type PetStatus = (typeof PET_STATUSES)[number];

export const PET_NAME_MAX_LENGTH = 255;

/** An animal of the store. */
export class Pet {
  constructor(
    readonly id: bigint,
    readonly name: string,
    /** Any int64: no category resource exists to check it against. */
    readonly categoryId: bigint,
    readonly status: PetStatus,
  ) {}
}

/** An animal before the store has given it an id. */
export type NewPet = Omit<Pet, 'id'>;

/** What keeps a value from being an animal's name, in words that follow "name"; undefined for a good one. */
export function validatePetName(value: unknown): string | undefined {
  if (typeof value !== 'string') {
    return 'must be a string';
  }
  if (value.length === 0 || (value.length > PET_NAME_MAX_LENGTH && Array.from(value).length > PET_NAME_MAX_LENGTH)) {
    return `must be 1 to ${PET_NAME_MAX_LENGTH} characters long`;
  }
  if (!/\S/.test(value)) {
    return 'must not be only white space';
  }
  if (value.includes('\0') || /\p{Surrogate}/u.test(value)) {
    return 'must not contain NUL or a lone surrogate';
  }
  return undefined;
}
