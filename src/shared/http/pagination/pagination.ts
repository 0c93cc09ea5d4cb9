import type { FastifyReply } from 'fastify';
import { joinLinks } from '../routing/links';
import { decodeCursor, encodeCursor } from './cursor';
import type { PageQueryDto } from './page-query.dto';

type FilterValue = string | number | bigint | boolean | Date;

/** Serializes the filters that are set, as in the URL of the list: one parameter for each element of an array. */
export function serializeFilters(
  filters: Readonly<Record<string, FilterValue | readonly FilterValue[] | undefined>>,
): string {
  return Object.entries(filters)
    .flatMap(([name, values = []]) => [values].flat().map((value) => `&${name}=${serializeFilter(value)}`))
    .join('');
}

function serializeFilter(value: FilterValue): string {
  return encodeURIComponent(value instanceof Date ? value.toISOString() : String(value));
}

/** The ID after which the page starts, 0 for the first page. @throws PetStoreError `invalid_cursor` */
export function decodePageCursor({ cursor }: PageQueryDto, filters: string): bigint {
  return cursor === undefined ? 0n : decodeCursor(cursor, filters);
}

/** Adds the next page of the list at `url`, if there is one, to the `Link` header (RFC 8288). */
export function setNextLink(
  reply: FastifyReply,
  url: string,
  { limit }: PageQueryDto,
  filters: string,
  next: bigint | undefined,
): void {
  if (next !== undefined) {
    const link = `<${url}?limit=${limit}${filters}&cursor=${encodeCursor(next, filters)}>; rel="next"`;
    reply.header('link', joinLinks(reply.getHeader('link'), link));
  }
}
