import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const HEAD_BYTES = 1 << 20;

/** Returns the beginning of a file, and whether that is the whole file. */
export function headBytes(path: string, length = HEAD_BYTES): { bytes: Buffer; whole: boolean; size: number } {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(length);
    const read = readSync(file, buffer, 0, length, 0);
    const { size } = fstatSync(file);
    return { bytes: buffer.subarray(0, read), whole: read === size, size };
  } finally {
    closeSync(file);
  }
}

/** Returns the end of a file as Latin-1. */
export function tailOf(path: string, length = HEAD_BYTES): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(length, size));
    readSync(file, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('latin1');
  } finally {
    closeSync(file);
  }
}

/** Returns the beginning of a UTF-8 text, without a byte order mark. */
export function headOf(path: string): { text: string; whole: boolean } {
  const { bytes, whole } = headBytes(path);
  // A character that is cut at the end is dropped with its record.
  return { text: new TextDecoder('utf-8').decode(bytes), whole };
}
