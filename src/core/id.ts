import { randomFillSync } from 'node:crypto';

/** Random bytes for the next ids: one call for many is cheaper. */
const random = Buffer.alloc(4096);
let used = random.length;

function randomBytes(count: number): Buffer {
  if (used + count > random.length) {
    randomFillSync(random);
    used = 0;
  }
  return random.subarray(used, (used += count));
}

let lastTime = 0;
let counter = 0;

/**
 * Returns a new UUID of version 7: 48 bits of time in milliseconds, a counter of 12 bits, then random bits. Ids of one
 * process sort by creation time, even within a millisecond.
 */
export function newId(): string {
  const bytes = randomBytes(16);
  const time = Date.now();
  counter = time === lastTime ? counter + 1 : bytes.readUInt16BE(6) & 0x7ff;
  lastTime = time;
  bytes.writeUIntBE(time, 0, 6);
  bytes.writeUInt16BE(0x7000 | (counter & 0xfff), 6);
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isUuid = (text: string): boolean => UUID.test(text);

/** Returns the creation time in a UUID of version 7, in milliseconds since 1970. */
export const creationTimeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
