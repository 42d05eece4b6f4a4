import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream';
import { createInflateRaw } from 'node:zlib';

const END = 0x06054b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const END_64 = 0x06064b50;
const LOCATOR_64_BYTES = 20;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
/** A value that does not fit, and is in the extra field of 64-bit sizes. */
const OVERFLOWN = 0xffffffff;
const EXTRA_64 = 1;
const ENCRYPTED = 1;
const [STORED, DEFLATED] = [0, 8];
/** Maximum bytes of a directory, about a million entries. */
const MAX_DIRECTORY_BYTES = 64 << 20;

interface Entry {
  flags: number;
  method: number;
  packed: number;
  start: number;
}

/**
 * An archive, read by its directory, as other readers do: bytes outside of the entries are ignored. Names are compared
 * without case, and a backslash is a slash, as some programs on Windows write it.
 */
export class ZipArchive {
  readonly #path: string;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(path: string, entries: ReadonlyMap<string, Entry>) {
    this.#path = path;
    this.#entries = entries;
  }

  /** Reads the directory of a file; undefined when it has none. */
  static open(path: string): ZipArchive | undefined {
    const file = openSync(path, 'r');
    try {
      const entries = readDirectory(file, fstatSync(file).size);
      return entries && new ZipArchive(path, entries);
    } finally {
      closeSync(file);
    }
  }

  has(name: string): boolean {
    return this.#entries.has(keyOf(name));
  }

  /** Yields the bytes of an entry. Throws for one that is absent, encrypted, or broken. */
  async *chunks(name: string): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(keyOf(name));
    if (!entry) throw new Error(`it has no ${name}`);
    if (entry.flags & ENCRYPTED) throw new Error(`${name} is encrypted`);
    if (entry.method !== STORED && entry.method !== DEFLATED)
      throw new Error(`${name} is compressed by a method other than Deflate`);
    if (entry.packed === 0) return;
    const start = entry.start + this.#localBytes(entry);
    const packed = createReadStream(this.#path, { start, end: start + entry.packed - 1 });
    // The callback only prevents an unhandled error: the reader of the output gets it, too.
    yield* entry.method === STORED ? packed : pipeline(packed, createInflateRaw(), () => undefined);
  }

  /** Returns the text of an entry; empty when it is absent. */
  async text(name: string): Promise<string> {
    if (!this.has(name)) return '';
    const chunks: Buffer[] = [];
    for await (const chunk of this.chunks(name)) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  }

  /** Returns the bytes of the header before an entry's content. */
  #localBytes({ start }: Entry): number {
    const file = openSync(this.#path, 'r');
    try {
      const header = readAt(file, start, LOCAL_BYTES);
      return LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
    } finally {
      closeSync(file);
    }
  }
}

const keyOf = (name: string): string => name.replaceAll('\\', '/').toLowerCase();

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  if (position < 0 || readSync(file, bytes, 0, length, position) < length) throw new Error('it is cut');
  return bytes;
}

function readDirectory(file: number, size: number): Map<string, Entry> | undefined {
  const tail = readAt(
    file,
    Math.max(0, size - END_BYTES - MAX_COMMENT_BYTES),
    Math.min(size, END_BYTES + MAX_COMMENT_BYTES),
  );
  let at = tail.length - END_BYTES;
  while (at >= 0 && tail.readUInt32LE(at) !== END) at--;
  if (at < 0) return undefined;
  const end = size - tail.length + at;
  let bytes = tail.readUInt32LE(at + 12);
  let position = tail.readUInt32LE(at + 16);
  let shift = end - bytes - position;
  if (position === OVERFLOWN || bytes === OVERFLOWN) {
    const record = readAt(file, Number(readAt(file, end - LOCATOR_64_BYTES, LOCATOR_64_BYTES).readBigUInt64LE(8)), 56);
    if (record.readUInt32LE(0) !== END_64) return undefined;
    bytes = Number(record.readBigUInt64LE(40));
    position = Number(record.readBigUInt64LE(48));
    shift = 0;
  }
  if (bytes > MAX_DIRECTORY_BYTES || shift < 0) return undefined;
  // Bytes before the archive shift all positions.
  return parseDirectory(readAt(file, position + shift, bytes), shift);
}

function parseDirectory(directory: Buffer, shift: number): Map<string, Entry> {
  const entries = new Map<string, Entry>();
  for (let at = 0; at + ENTRY_BYTES <= directory.length && directory.readUInt32LE(at) === ENTRY;) {
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    const name = directory.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    const extra = directory.subarray(at + ENTRY_BYTES + nameBytes, at + ENTRY_BYTES + nameBytes + extraBytes);
    const wide = wideValues(extra);
    // Sizes and position are in the extra field only where they do not fit, in this order.
    const [, packed, start] = [24, 20, 42].map((field) => {
      const value = directory.readUInt32LE(at + field);
      return value === OVERFLOWN ? (wide.shift() ?? value) : value;
    }) as [number, number, number];
    entries.set(keyOf(name), {
      flags: directory.readUInt16LE(at + 8),
      method: directory.readUInt16LE(at + 10),
      packed,
      start: start + shift,
    });
    at += ENTRY_BYTES + nameBytes + extraBytes + commentBytes;
  }
  return entries;
}

function wideValues(extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== EXTRA_64) continue;
    const length = Math.min(extra.readUInt16LE(at + 2), extra.length - at - 4);
    return Array.from({ length: Math.floor(length / 8) }, (_, i) => Number(extra.readBigUInt64LE(at + 4 + 8 * i)));
  }
  return [];
}
