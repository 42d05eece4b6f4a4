import { closeSync, fstatSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { chunksOf, unlinkedFile } from './text-file.ts';

const MAGIC = 'PAR1';
/** Bytes at the end of a Parquet file: the length of its metadata, and `MAGIC`. */
const TAIL = 8;
/** The type of times in nanoseconds and UTC in the metadata, and the position of its byte for UTC. */
const NANOSECONDS_IN_UTC = Buffer.from([0x8c, 0x11, 0x1c, 0x3c, 0, 0, 0]);
const UTC_AT = 1;
const NOT_UTC = Buffer.from([0x12]);

/**
 * Returns a path at which the times of a Parquet file can be read with all digits. DuckDB reads nanoseconds only where
 * the type is not stated to be in UTC. An unlinked copy therefore states that; without such times it is the file
 * itself.
 */
export function nanosecondsPath(path: string): string {
  const found = nanosecondsInUtc(path);
  if (found.length === 0) return path;
  const copy = unlinkedFile();
  for (const chunk of chunksOf(path)) writeFileSync(copy.file, chunk);
  for (const at of found) writeSync(copy.file, NOT_UTC, 0, NOT_UTC.length, at + UTC_AT);
  return copy.path;
}

/** Returns the positions of `NANOSECONDS_IN_UTC` in the metadata of a file; none for a broken file. */
function nanosecondsInUtc(path: string): number[] {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const tail = Buffer.alloc(TAIL);
    readSync(file, tail, 0, TAIL, Math.max(size - TAIL, 0));
    const length = tail.readUInt32LE();
    const start = size - TAIL - length;
    if (tail.toString('latin1', TAIL - MAGIC.length) !== MAGIC || start < 0) return [];
    const metadata = Buffer.alloc(length);
    readSync(file, metadata, 0, length, start);
    const found: number[] = [];
    let at = metadata.indexOf(NANOSECONDS_IN_UTC);
    for (; at >= 0; at = metadata.indexOf(NANOSECONDS_IN_UTC, at + 1)) found.push(start + at);
    return found;
  } finally {
    closeSync(file);
  }
}
