import { crc32 } from 'node:zlib';
import { PetStoreError } from '../../domain/pet-store-error';

const CURSOR_PATTERN = /^[A-Za-z0-9_-]{16}$/;

/**
 * Encodes the start of the next page as 16 URL-safe characters: the last ID (8 bytes) and a CRC-32 (4 bytes) over the ID
 * and the filters, so that a damaged cursor, or one made for other filters, is detected.
 */
export function encodeCursor(after: bigint, filter: string): string {
  const bytes = Buffer.alloc(12);
  bytes.writeBigInt64BE(after);
  bytes.writeUInt32BE(computeChecksum(bytes, filter), 8);
  return bytes.toString('base64url');
}

/** @throws PetStoreError `invalid_cursor` */
export function decodeCursor(cursor: unknown, filter: string): bigint {
  if (typeof cursor === 'string' && CURSOR_PATTERN.test(cursor)) {
    const bytes = Buffer.from(cursor, 'base64url');
    const after = bytes.readBigInt64BE();
    if (after > 0n && bytes.readUInt32BE(8) === computeChecksum(bytes, filter)) {
      return after;
    }
  }
  throw new PetStoreError('invalid_cursor');
}

function computeChecksum(bytes: Buffer, filter: string): number {
  return crc32(bytes.subarray(0, 8), crc32(filter));
}
