import { randomBytes } from 'node:crypto';

/** A new UUID of version 7: 48 bits of time in milliseconds, the rest random, so that ids sort by their birth. */
export function newId(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isUuid = (text: string): boolean => UUID.test(text);

/** The time in a UUID of version 7, in milliseconds. */
export const creationTimeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
