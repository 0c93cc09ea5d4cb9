import { Injectable } from '@nestjs/common';
import { Database } from '../../shared/persistence/database';
import { PetPages, type PetPage, type PetQuery } from '../domain/pet-pages';

/** PostgreSQL writes the JSON. */
const page = (name: string, condition: string) => ({
  name,
  text: `
    SELECT count(*), string_agg(row_to_json(pet)::text, ',') FROM (
      SELECT id, name, category_id AS "categoryId", status FROM pets WHERE ${condition} ORDER BY id LIMIT $2
    ) AS pet`,
});
const ALL = page('pets_page', 'id > $1');
const OF_STATUS = page('pets_page_of_status', 'status = $3 AND id > $1');
/** How each animal begins. Within a string of JSON it cannot occur, as quotation marks are escaped there. */
const BEGINNING = '{"id":';

@Injectable()
export class PostgresPetPages extends PetPages {
  constructor(private readonly database: Database) {
    super();
  }

  async page({ status, after, limit }: PetQuery): Promise<PetPage> {
    // One animal more, to know whether another page follows.
    const parameters = [after, limit + 1];
    const [row] =
      status === undefined
        ? await this.database.read(ALL, parameters)
        : await this.database.read(OF_STATUS, [...parameters, status]);
    const [count, animals] = row as [count: string, animals: string | null];
    if (animals === null) {
      return { json: '[]', next: undefined };
    }
    if (Number(count) <= limit) {
      return { json: `[${animals}]`, next: undefined };
    }
    const end = animals.lastIndexOf(BEGINNING) - 1;
    const lastId = animals.lastIndexOf(BEGINNING, end - 1) + BEGINNING.length;
    return {
      json: `[${animals.slice(0, end)}]`,
      next: BigInt(animals.slice(lastId, animals.indexOf(',', lastId))),
    };
  }
}
