const SLOTS = 16_384;

/** Returns the Redis Cluster hash slot of a hash tag: its CRC-16 (XMODEM) modulo 16384. */
export function computeHashSlot(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) {
      crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    }
    crc &= 0xffff;
  }
  return crc % SLOTS;
}
