import { Injectable } from '@nestjs/common';
import { Batches } from '../../shared/persistence/batches';
import { Database } from '../../shared/persistence/database';
import { type NewPet, Pet, type PetStatus } from '../domain/pet';
import { PetRepository, type Reservation } from '../domain/pet.repository';

const INSERT = {
  name: 'pets_insert',
  text: `
    INSERT INTO pets (name, category_id, status)
    SELECT name, category_id, status
    FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS pet (name, category_id, status, turn)
    ORDER BY turn RETURNING id`,
};
const SELECT = {
  name: 'pets_select',
  table: 'pets',
  text: 'SELECT name, category_id, status FROM pets WHERE id = $1',
};
const RESERVE = {
  name: 'pets_reserve',
  text: `
    WITH reserved AS (UPDATE pets SET status = 'pending' WHERE id = $1 AND status = 'available' RETURNING id)
    SELECT CASE WHEN EXISTS (SELECT FROM reserved) THEN 'reserved' ELSE 'not_available' END FROM pets WHERE id = $1`,
};

@Injectable()
export class PostgresPetRepository extends PetRepository {
  private readonly batches: Batches<NewPet, bigint>;

  constructor(private readonly database: Database) {
    super();
    this.batches = new Batches((pets) => this.insert(pets), database.writers);
  }

  async add(pet: NewPet): Promise<Pet> {
    // Animals that come together are inserted together, unless the request has a transaction of its own.
    const id = this.database.isInTransaction ? (await this.insert([pet]))[0] : await this.batches.add(pet);
    return new Pet(id ?? 0n, pet.name, pet.categoryId, pet.status);
  }

  async find(id: bigint): Promise<Pet | null> {
    const [row] = (await this.database.read(SELECT, [id])) as [string, string, PetStatus][];
    return row === undefined ? null : new Pet(id, row[0], BigInt(row[1]), row[2]);
  }

  async reserve(id: bigint): Promise<Reservation> {
    const [row] = (await this.database.write(RESERVE, [id])) as [Reservation][];
    return row?.[0] ?? 'unknown';
  }

  private async insert(pets: readonly NewPet[]): Promise<bigint[]> {
    const rows = (await this.database.write(INSERT, [
      pets.map(({ name }) => name),
      pets.map(({ categoryId }) => categoryId),
      pets.map(({ status }) => status),
    ])) as [string][];
    // Ids are given in ascending order of the turns; the order of what is returned is not promised.
    return rows.map(([id]) => BigInt(id)).sort((a, b) => (a < b ? -1 : 1));
  }
}
