import { Injectable } from '@nestjs/common';
import type { Repository } from 'typeorm';
import type { Page } from '../../shared/domain/page';
import { type Table, Tables } from '../../shared/persistence/table';
import { TypeOrmUnitOfWork } from '../../shared/persistence/typeorm-unit-of-work';
import { hasKnownStatus } from '../../shared/unknown-values';
import { type NewPet, Pet, PET_STATUSES } from '../domain/pet';
import { type PetQuery, PetRepository, type ReservationResult } from '../domain/pet.repository';
import { PetSchema } from './pet.schema';

@Injectable()
export class TypeOrmPetRepository extends PetRepository {
  private readonly table: Table<Pet>;

  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    tables: Tables,
  ) {
    super();
    this.table = tables.get(PetSchema, {
      isKnown: (pet) => hasKnownStatus(PET_STATUSES, 'animal', pet),
      listsFromStandby: true,
    });
  }

  async add(pet: NewPet): Promise<Pet> {
    return new Pet(await this.table.insert(pet), pet.name, pet.categoryId, pet.status);
  }

  find(id: bigint): Promise<Pet | null> {
    return this.table.find(id);
  }

  list({ status, ...page }: PetQuery): Promise<Page<Pet>> {
    return this.table.page({ filters: { status }, ...page });
  }

  async reserve(id: bigint): Promise<ReservationResult> {
    const { affected } = await this.pets.update({ id, status: 'available' }, { status: 'pending' });
    if (affected === 1) {
      return 'reserved';
    }
    return (await this.pets.existsBy({ id })) ? 'not_available' : 'unknown';
  }

  private get pets(): Repository<Pet> {
    return this.unitOfWork.manager.getRepository(Pet);
  }
}
