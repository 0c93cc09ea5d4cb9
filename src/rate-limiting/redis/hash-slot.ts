const SLOTS = 16_384;

/** The slot of Redis Cluster that keys with this hash tag belong to: their CRC-16 (XMODEM). */
export function hashSlot(tag: string): number {
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
