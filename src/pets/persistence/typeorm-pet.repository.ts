import { Injectable } from '@nestjs/common';
import type { Repository } from 'typeorm';
import { Batcher } from '../../shared/persistence/statements/batcher';
import { PreparedStatements } from '../../shared/persistence/statements/prepared-statements';
import { getSqlNames } from '../../shared/persistence/sql';
import { TypeOrmUnitOfWork } from '../../shared/persistence/typeorm-unit-of-work';
import { convertUnavailableError } from '../../shared/persistence/unavailable-error';
import { type NewPet, Pet, type PetStatus } from '../domain/pet';
import { PetRepository, type ReservationResult } from '../domain/pet.repository';
import { PetSchema } from './pet.schema';

const { table, columns } = getSqlNames(PetSchema);

/** Prepared, because these two statements run most often. */
const INSERT = {
  name: 'pets_insert',
  text: `
    INSERT INTO ${table} (${columns.name}, ${columns.categoryId}, ${columns.status})
    SELECT name, category_id, status
    FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS pet (name, category_id, status, ordinality)
    ORDER BY ordinality RETURNING ${columns.id}`,
};
const SELECT = {
  name: 'pets_select',
  pipeline: table,
  text: `SELECT ${columns.name}, ${columns.categoryId}, ${columns.status} FROM ${table} WHERE ${columns.id} = $1`,
};

@Injectable()
export class TypeOrmPetRepository extends PetRepository {
  private readonly batcher: Batcher<NewPet, bigint>;

  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly statements: PreparedStatements,
  ) {
    super();
    unitOfWork.requireSchema(Pet);
    this.batcher = new Batcher((pets) => this.insert(pets), unitOfWork.writeSemaphore);
  }

  async add(pet: NewPet): Promise<Pet> {
    // Animals that arrive together are inserted together, unless the request has its own transaction.
    const isInTransaction = this.unitOfWork.transaction !== undefined;
    const id = isInTransaction ? (await this.insert([pet]))[0] : await this.batcher.add(pet);
    return new Pet(id ?? 0n, pet.name, pet.categoryId, pet.status);
  }

  async find(id: bigint): Promise<Pet | null> {
    const [row] = (await this.statements.read(SELECT, [id])) as [string, string, PetStatus][];
    return row === undefined ? null : new Pet(id, row[0], BigInt(row[1]), row[2]);
  }

  findForUpdate(id: bigint): Promise<Pet | null> {
    // Unlike FOR UPDATE, this does not block inserts of rows that refer to the animal.
    return convertUnavailableError(() => this.pets.findOne({ where: { id }, lock: { mode: 'for_no_key_update' } }));
  }

  reserve(id: bigint): Promise<ReservationResult> {
    return convertUnavailableError(async () => {
      const { affected } = await this.pets.update({ id, status: 'available' }, { status: 'pending' });
      if (affected === 1) {
        return 'reserved';
      }
      return (await this.pets.existsBy({ id })) ? 'not_available' : 'unknown';
    });
  }

  private async insert(pets: readonly NewPet[]): Promise<bigint[]> {
    const rows = (await this.statements.write(INSERT, [
      pets.map(({ name }) => name),
      pets.map(({ categoryId }) => categoryId),
      pets.map(({ status }) => status),
    ])) as [string][];
    // IDs are assigned in input order, but the order of the returned rows is not guaranteed.
    return rows.map(([id]) => BigInt(id)).sort((a, b) => (a < b ? -1 : 1));
  }

  private get pets(): Repository<Pet> {
    return this.unitOfWork.manager.getRepository(Pet);
  }
}
