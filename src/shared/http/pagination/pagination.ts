import type { FastifyReply } from 'fastify';
import { decodeCursor, encodeCursor } from './cursor';
import type { PageQueryDto } from './page-query.dto';

/** The filters of a list that are set, in the form its URL has them. Text values must need no encoding. */
export function serializeFilters(filters: Readonly<Record<string, string | bigint | Date | undefined>>): string {
  return Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `&${name}=${value instanceof Date ? value.toISOString() : value}`)
    .join('');
}

/** The id after which the page starts, 0 for the first page. @throws PetStoreError `invalid_cursor` */
export function decodePageCursor({ cursor }: PageQueryDto, filters: string): bigint {
  return cursor === undefined ? 0n : decodeCursor(cursor, filters);
}

/** Sets the `Link` header (RFC 8288) to the next page of the list at `address`, which starts after the id `next`. */
export function setNextLink(
  reply: FastifyReply,
  address: string,
  { limit }: PageQueryDto,
  filters: string,
  next: bigint,
): void {
  reply.header('link', `<${address}?limit=${limit}${filters}&cursor=${encodeCursor(next, filters)}>; rel="next"`);
}
