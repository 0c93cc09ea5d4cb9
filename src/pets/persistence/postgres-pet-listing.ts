import { Injectable } from '@nestjs/common';
import { MAX_PAGE_LIMIT } from '../../shared/domain/page-limit';
import { Batcher } from '../../shared/persistence/batcher';
import { ReadEndpoint } from '../../shared/persistence/read-endpoint';
import { createInCondition, formatRecords, getSqlNames } from '../../shared/persistence/sql';
import type { Statement } from '../../shared/persistence/statements';
import { TypeOrmUnitOfWork } from '../../shared/persistence/typeorm-unit-of-work';
import { reportUnknownStatus } from '../../shared/unknown-values';
import { PET_STATUSES } from '../domain/pet';
import { PetListing, type PetListingPage, type PetListingQuery } from '../pet-listing';
import { PetSchema } from './pet.schema';

const { table, columns } = getSqlNames(PetSchema);
const HAS_KNOWN_STATUS = createInCondition(columns.status, PET_STATUSES);

/**
 * Reads the pages of the requests that arrive together. PostgreSQL writes the JSON: decoding and serializing rows in this process would cost
 * it more. Only a name can contain characters that need escaping. `size` is the page size plus one, which shows whether there is a next
 * page. `unknown_status` is a status on the page that only a newer version knows. The constant limit shows the planner how short a page is,
 * and its estimate for a JSON parameter does not depend on the value, so that each connection plans the statement once.
 */
const createPagesStatement = (name: string, condition: string, order: string) => ({
  name,
  columns: ['number', 'json', 'next', 'unknown_status'],
  text: `
    SELECT number, json, next, unknown_status
    FROM json_to_recordset($1) AS request (number int, after bigint, size int, filter text)
    CROSS JOIN LATERAL (
      SELECT
        string_agg(concat(
          '{"id":', ${columns.id}, ',"name":', to_json(${columns.name}),
          ',"categoryId":', ${columns.categoryId}, ',"status":"', ${columns.status}, '"}'
        ), ',') AS json,
        CASE WHEN count(*) = size THEN (array_agg(${columns.id}))[size - 1] END AS next,
        min(${columns.status}) FILTER (WHERE NOT ${HAS_KNOWN_STATUS}) AS unknown_status
      FROM (
        SELECT * FROM (
          SELECT ${columns.id}, ${columns.name}, ${columns.categoryId}, ${columns.status} FROM ${table}
          WHERE ${condition} ORDER BY ${order} LIMIT ${MAX_PAGE_LIMIT + 1}
        ) AS longest LIMIT size
      ) AS records
    ) AS page`,
});
export const SELECT_PAGES = createPagesStatement('pets_pages', `${columns.id} > after`, columns.id);
/** Separate, because hardly any page needs this condition. */
const SELECT_KNOWN_PAGES = createPagesStatement(
  'pets_known_pages',
  `${columns.id} > after AND ${HAS_KNOWN_STATUS}`,
  columns.id,
);
/**
 * Written so that only the index on status and ID can serve it: with `status = filter`, PostgreSQL may scan the IDs instead, past a million
 * sold animals before the first available one.
 */
export const SELECT_PAGES_BY_STATUS = createPagesStatement(
  'pets_pages_by_status',
  `(${columns.status}, ${columns.id}) > (filter, after) AND ${columns.status} <= filter`,
  `${columns.status}, ${columns.id}`,
);
/** The start of every animal but the first. It cannot occur inside a JSON string, where quotation marks are escaped. */
const PET_START = ',{"id":';
/** Another batch runs while this process handles the rows of the first. */
const MAX_CONCURRENT_BATCHES = 2;

type PageRow = [number: number, json: string | null, next: string | null, unknownStatus: string | null];

@Injectable()
export class PostgresPetListing extends PetListing {
  private readonly pages = this.createBatcher(SELECT_PAGES);
  private readonly pagesByStatus = this.createBatcher(SELECT_PAGES_BY_STATUS);

  constructor(
    private readonly endpoint: ReadEndpoint,
    private readonly unitOfWork: TypeOrmUnitOfWork,
  ) {
    super();
  }

  async list(query: PetListingQuery): Promise<PetListingPage> {
    let row = await this.readPage(query);
    if (typeof row?.[3] === 'string') {
      reportUnknownStatus(row[3], 'an animal');
      [row] = await this.select(SELECT_KNOWN_PAGES, [query]);
    }
    const [, json, next] = row ?? [0, null, null];
    return json === null || next === null
      ? { json: `[${json ?? ''}]`, next: undefined }
      : { json: `[${json.slice(0, json.lastIndexOf(PET_START))}]`, next: BigInt(next) };
  }

  private async readPage(query: PetListingQuery): Promise<PageRow | undefined> {
    const isInTransaction = this.unitOfWork.transaction !== undefined;
    const [statement, batcher] =
      query.status === undefined ? [SELECT_PAGES, this.pages] : [SELECT_PAGES_BY_STATUS, this.pagesByStatus];
    return isInTransaction ? (await this.select(statement, [query]))[0] : batcher.add(query);
  }

  private createBatcher(statement: Statement): Batcher<PetListingQuery, PageRow | undefined> {
    return new Batcher((queries) => this.select(statement, queries), MAX_CONCURRENT_BATCHES);
  }

  private async select(statement: Statement, queries: readonly PetListingQuery[]): Promise<(PageRow | undefined)[]> {
    const requests = queries.map(({ after, limit, status }, number) => {
      return { number, after, size: Math.min(limit, MAX_PAGE_LIMIT) + 1, filter: status };
    });
    const rows = (await this.endpoint.read(statement, [formatRecords(requests)])) as PageRow[];
    const pages = new Array<PageRow | undefined>(queries.length);
    rows.forEach((row) => (pages[row[0]] = row));
    return pages;
  }
}
