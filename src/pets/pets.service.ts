import { Injectable } from '@nestjs/common';
import type { NewPet, Pet } from './domain/pet';
import { PetNotFound } from './domain/pet-not-found';
import { type PetQuery, PetRepository } from './domain/pet.repository';

export interface PetPage {
  readonly pets: Pet[];
  /** The id after which the next page begins; undefined on the last page. */
  readonly next: bigint | undefined;
}

@Injectable()
export class PetsService {
  constructor(private readonly pets: PetRepository) {}

  /** One page of animals by ascending id; one animal more is read, to know whether another page follows. */
  async list(query: PetQuery): Promise<PetPage> {
    const found = await this.pets.list({ ...query, limit: query.limit + 1 });
    const pets = found.slice(0, query.limit);
    return { pets, next: found.length > query.limit ? pets.at(-1)?.id : undefined };
  }

  add(pet: NewPet): Promise<Pet> {
    return this.pets.add(pet);
  }

  /** @throws PetNotFound */
  async get(id: bigint): Promise<Pet> {
    const pet = await this.pets.find(id);
    if (pet === null) {
      throw new PetNotFound();
    }
    return pet;
  }
}
