import { Injectable } from '@nestjs/common';
import type { Page } from '../shared/domain/page';
import type { NewPet, Pet } from './domain/pet';
import { PetNotFoundError } from './domain/pet-errors';
import { type PetQuery, PetRepository, type ReservationResult } from './domain/pet.repository';

@Injectable()
export class PetsService {
  constructor(private readonly pets: PetRepository) {}

  /** Returns a page of animals by ascending ID. */
  list(query: PetQuery): Promise<Page<Pet>> {
    return this.pets.list(query);
  }

  add(pet: NewPet): Promise<Pet> {
    return this.pets.add(pet);
  }

  /** @throws PetNotFoundError */
  async get(id: bigint): Promise<Pet> {
    const pet = await this.pets.find(id);
    if (pet === null) {
      throw new PetNotFoundError();
    }
    return pet;
  }

  /** Makes an available animal pending, in the current transaction; of several concurrent calls, exactly one succeeds. */
  reserve(id: bigint): Promise<ReservationResult> {
    return this.pets.reserve(id);
  }
}
