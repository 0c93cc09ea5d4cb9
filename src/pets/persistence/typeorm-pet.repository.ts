import { Injectable } from '@nestjs/common';
import type { Repository } from 'typeorm';
import { UnknownValueError } from '../../shared/domain/pet-store-error';
import { Batcher } from '../../shared/persistence/batcher';
import { formatRecords, getSqlNames } from '../../shared/persistence/sql';
import { Statements } from '../../shared/persistence/statements';
import { TypeOrmUnitOfWork } from '../../shared/persistence/typeorm-unit-of-work';
import { convertUnavailableError } from '../../shared/persistence/unavailable-error';
import { hasKnownStatus } from '../../shared/unknown-values';
import { type NewPet, Pet, PET_STATUSES, type PetStatus } from '../domain/pet';
import { PetRepository, type ReservationResult } from '../domain/pet.repository';
import { PetSchema } from './pet.schema';

const { table, columns } = getSqlNames(PetSchema);

/** Prepared, because these two statements run most often. */
const INSERT = {
  name: 'pets_insert',
  text: `
    INSERT INTO ${table} (${columns.name}, ${columns.categoryId}, ${columns.status})
    SELECT name, "categoryId", status
    FROM json_to_recordset($1) AS pet (number int, name text, "categoryId" bigint, status text)
    ORDER BY number RETURNING ${columns.id}`,
  columns: [columns.id],
};
const SELECT_COLUMNS = [columns.id, columns.name, columns.categoryId, columns.status];
const SELECT = {
  name: 'pets_select',
  text: `
    SELECT pet.* FROM json_to_recordset($1) AS request (id bigint)
    CROSS JOIN LATERAL (SELECT ${SELECT_COLUMNS.join(', ')} FROM ${table} WHERE ${columns.id} = request.id LIMIT 1) AS pet`,
  columns: SELECT_COLUMNS,
};
type PetRow = [id: string, name: string, categoryId: string, status: PetStatus];
/** Another batch runs while this process handles the rows of the first. */
const MAX_CONCURRENT_BATCHES = 2;

@Injectable()
export class TypeOrmPetRepository extends PetRepository {
  private readonly inserts: Batcher<NewPet, bigint>;
  private readonly lookups: Batcher<bigint, PetRow | undefined>;

  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly statements: Statements,
  ) {
    super();
    unitOfWork.requireSchema(Pet);
    this.inserts = new Batcher((pets) => this.insert(pets), MAX_CONCURRENT_BATCHES, unitOfWork.writeSemaphore);
    this.lookups = new Batcher((ids) => this.select(ids), MAX_CONCURRENT_BATCHES);
  }

  async add(pet: NewPet): Promise<Pet> {
    // Animals that arrive together are inserted together, unless the request has its own transaction.
    const isInTransaction = this.unitOfWork.transaction !== undefined;
    const id = isInTransaction ? (await this.insert([pet]))[0] : await this.inserts.add(pet);
    return new Pet(id ?? 0n, pet.name, pet.categoryId, pet.status);
  }

  async find(id: bigint): Promise<Pet | null> {
    const isInTransaction = this.unitOfWork.transaction !== undefined;
    const row = isInTransaction ? (await this.select([id]))[0] : await this.lookups.add(id);
    return row === undefined ? null : requireKnownStatus(new Pet(id, row[1], BigInt(row[2]), row[3]));
  }

  findForUpdate(id: bigint): Promise<Pet | null> {
    // Unlike FOR UPDATE, this does not block inserts of rows that refer to the animal.
    return convertUnavailableError(async () => {
      const pet = await this.pets.findOne({ where: { id }, lock: { mode: 'for_no_key_update' } });
      return pet && requireKnownStatus(pet);
    });
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
    const records = pets.map(({ name, categoryId, status }, number) => ({ number, name, categoryId, status }));
    const rows = (await this.statements.write(INSERT, [formatRecords(records)])) as [string][];
    // IDs are assigned in input order, but the order of the returned rows is not guaranteed.
    return rows.map(([id]) => BigInt(id)).sort((a, b) => (a < b ? -1 : 1));
  }

  private async select(ids: readonly bigint[]): Promise<(PetRow | undefined)[]> {
    const rows = (await this.statements.read(SELECT, [formatRecords(ids.map((id) => ({ id })))])) as PetRow[];
    const rowsById = new Map(rows.map((row) => [row[0], row]));
    return ids.map((id) => rowsById.get(`${id}`));
  }

  private get pets(): Repository<Pet> {
    return this.unitOfWork.manager.getRepository(Pet);
  }
}

/** @throws UnknownValueError */
function requireKnownStatus(pet: Pet): Pet {
  if (!hasKnownStatus(PET_STATUSES, 'animal', pet)) {
    throw new UnknownValueError();
  }
  return pet;
}
