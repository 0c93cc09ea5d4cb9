import { Injectable } from '@nestjs/common';
import { MoreThan, type Repository } from 'typeorm';
import { insertedId } from '../../shared/persistence/bigint-column';
import { Database } from '../../shared/persistence/database';
import { orUnavailable } from '../../shared/persistence/unavailable';
import { type NewPet, Pet } from '../domain/pet';
import { type PetQuery, PetRepository } from '../domain/pet.repository';

@Injectable()
export class TypeOrmPetRepository extends PetRepository {
  constructor(private readonly database: Database) {
    super();
  }

  add(pet: NewPet): Promise<Pet> {
    return orUnavailable(async () => {
      const id = insertedId(await this.pets.insert(pet));
      return new Pet(id, pet.name, pet.categoryId, pet.status);
    });
  }

  find(id: bigint): Promise<Pet | null> {
    return orUnavailable(() => this.pets.findOneBy({ id }));
  }

  list({ status, after, limit }: PetQuery): Promise<Pet[]> {
    return orUnavailable(() =>
      this.pets.find({
        where: { id: MoreThan(after), ...(status && { status }) },
        order: { id: 'ASC' },
        take: limit,
      }),
    );
  }

  private get pets(): Repository<Pet> {
    return this.database.manager.getRepository(Pet);
  }
}
