import { Injectable } from '@nestjs/common';
import { MAX_PAGE_LIMIT } from '../../shared/domain/page-limit';
import { ReadEndpoint } from '../../shared/persistence/read-endpoint';
import { getSqlNames } from '../../shared/persistence/sql';
import { PetListing, type PetListingPage, type PetListingQuery } from '../pet-listing';
import { PetSchema } from './pet.schema';

const { table, columns } = getSqlNames(PetSchema);

/**
 * PostgreSQL writes the JSON: decoding and serializing rows in this process would cost it two to three times as much for a page of 20.
 * `concat` takes 13% less time than `row_to_json`; only a name can contain characters that need escaping. `$2` is the page size plus
 * one, which shows whether there is a next page. The extra animal is removed in this process, because PostgreSQL would take 10 to
 * 20% longer. The constant limit shows the planner how short a page is, so that each connection plans the statement once; with `$2` alone
 * it would plan every page anew, which takes longer than reading it.
 */
const createPageStatement = (name: string, condition: string, order: string) => ({
  name,
  pipeline: table,
  text: `
    SELECT
      string_agg(concat(
        '{"id":', ${columns.id}, ',"name":', to_json(${columns.name}),
        ',"categoryId":', ${columns.categoryId}, ',"status":"', ${columns.status}, '"}'
      ), ','),
      CASE WHEN count(*) = $2 THEN (array_agg(${columns.id}))[$2 - 1] END
    FROM (
      SELECT * FROM (
        SELECT ${columns.id}, ${columns.name}, ${columns.categoryId}, ${columns.status} FROM ${table}
        WHERE ${condition} ORDER BY ${order} LIMIT ${MAX_PAGE_LIMIT + 1}
      ) AS longest LIMIT $2
    ) AS page`,
});
export const SELECT_PAGE = createPageStatement('pets_page', `${columns.id} > $1`, columns.id);
/**
 * Written so that only the index on status and ID can serve it: with `status = $3`, PostgreSQL may scan the IDs instead, past a million sold
 * animals before the first available one.
 */
export const SELECT_PAGE_BY_STATUS = createPageStatement(
  'pets_page_of_status',
  `(${columns.status}, ${columns.id}) > ($3, $1) AND ${columns.status} <= $3`,
  `${columns.status}, ${columns.id}`,
);
/** The start of every animal but the first. It cannot occur inside a JSON string, where quotation marks are escaped. */
const PET_START = ',{"id":';

@Injectable()
export class PostgresPetListing extends PetListing {
  constructor(private readonly endpoint: ReadEndpoint) {
    super();
  }

  async list({ status, after, limit }: PetListingQuery): Promise<PetListingPage> {
    const parameters = [after, Math.min(limit, MAX_PAGE_LIMIT) + 1];
    const [row] =
      status === undefined
        ? await this.endpoint.read(SELECT_PAGE, parameters)
        : await this.endpoint.read(SELECT_PAGE_BY_STATUS, [...parameters, status]);
    const [animals, next] = row as [animals: string | null, next: null] | [animals: string, next: string];
    return next === null
      ? { json: `[${animals ?? ''}]`, next: undefined }
      : { json: `[${animals.slice(0, animals.lastIndexOf(PET_START))}]`, next: BigInt(next) };
  }
}
