import { createInflateRaw } from 'node:zlib';

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const FILE_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const FILE_BYTES = 30;
const MAX_COMMENT_BYTES = 65_535;
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED_FLAG = 1;

/** Bounds of the contents of a docx. */
const MAX_ENTRIES = 1000;
const MAX_UNPACKED_BYTES = 100_000_000;

interface Entry {
  name: string;
  method: number;
  packed: Uint8Array;
  unpackedBytes: number;
}

/**
 * Returns why a file must not be unpacked as docx; undefined if it may. Entries are unpacked in pieces that are not kept, because
 * the sizes in the directory can be wrong.
 */
export async function archiveViolation(content: Uint8Array, signal: AbortSignal): Promise<string | undefined> {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  let entries: Entry[];
  try {
    entries = readDirectory(bytes);
  } catch (error) {
    // An offset outside of the file.
    return error instanceof BrokenArchive ? error.message : 'The file is damaged';
  }
  const total = entries.reduce((sum, { unpackedBytes }) => sum + unpackedBytes, 0);
  if (total > MAX_UNPACKED_BYTES) return `The file unpacks to more than ${MAX_UNPACKED_BYTES / 1e6} MB`;
  for (const entry of entries) {
    signal.throwIfAborted();
    const unpacked = entry.method === STORED ? entry.packed.length : await countUnpacked(entry);
    if (unpacked !== entry.unpackedBytes) return 'The file is damaged';
  }
  return undefined;
}

class BrokenArchive extends Error {}

/** Returns the entries by the directory at the end of the file. */
function readDirectory(bytes: Buffer): Entry[] {
  const end = findEnd(bytes);
  // Libraries read another directory if a field has the mark of zip64.
  const isZip64 =
    [4, 6, 8, 10].some((at) => bytes.readUInt16LE(end + at) === 0xffff) ||
    [12, 16].some((at) => bytes.readUInt32LE(end + at) === 0xffffffff);
  if (isZip64) throw new BrokenArchive('The file is damaged');
  const count = bytes.readUInt16LE(end + 10);
  if (count > MAX_ENTRIES) throw new BrokenArchive(`The file contains more than ${MAX_ENTRIES} files`);
  const entries: Entry[] = [];
  for (let at = bytes.readUInt32LE(end + 16); entries.length < count;) {
    if (bytes.readUInt32LE(at) !== ENTRY_SIGNATURE) throw new BrokenArchive('The file is damaged');
    if (bytes.readUInt16LE(at + 8) & ENCRYPTED_FLAG) throw new BrokenArchive('The file is encrypted');
    const nameBytes = bytes.readUInt16LE(at + 28);
    entries.push({
      name: bytes.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes),
      method: checkMethod(bytes.readUInt16LE(at + 10)),
      packed: readPacked(bytes, bytes.readUInt32LE(at + 42), bytes.readUInt32LE(at + 20)),
      unpackedBytes: bytes.readUInt32LE(at + 24),
    });
    at += ENTRY_BYTES + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  if (new Set(entries.map(({ name }) => name)).size < entries.length) throw new BrokenArchive('The file is damaged');
  return entries;
}

function findEnd(bytes: Buffer): number {
  const lowest = Math.max(0, bytes.length - END_BYTES - MAX_COMMENT_BYTES);
  for (let at = bytes.length - END_BYTES; at >= lowest; at--) if (bytes.readUInt32LE(at) === END_SIGNATURE) return at;
  throw new BrokenArchive('The file is not a docx file');
}

function checkMethod(method: number): number {
  if (method !== STORED && method !== DEFLATED) throw new BrokenArchive('The file is damaged');
  return method;
}

function readPacked(bytes: Buffer, at: number, length: number): Uint8Array {
  if (bytes.readUInt32LE(at) !== FILE_SIGNATURE) throw new BrokenArchive('The file is damaged');
  const start = at + FILE_BYTES + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28);
  if (start + length > bytes.length) throw new BrokenArchive('The file is damaged');
  return bytes.subarray(start, start + length);
}

/** Returns the number of bytes that an entry unpacks to, as far as it does not exceed the declared one; -1 if it is damaged. */
function countUnpacked({ packed, unpackedBytes }: Entry): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const inflate = createInflateRaw();
  let count = 0;
  inflate.on('data', (chunk: Buffer) => {
    count += chunk.length;
    if (count <= unpackedBytes) return;
    resolve(count);
    inflate.destroy();
  });
  inflate.once('end', () => resolve(count));
  inflate.once('error', () => resolve(-1));
  inflate.end(packed);
  return promise;
}
