const BLOCK_BYTES = 512;
/** Sizes from 8 GiB on do not fit into the octal digits of a header; they are binary, as in GNU tar. */
const MAX_OCTAL_SIZE = 8 ** 11;

/** Error for a file of another format. */
export const NO_BACKUP = 'The file is not a backup of this service';

/** Error for a file that was cut off. */
export const INCOMPLETE = 'The backup ends early: it is incomplete';

/** A file of an archive. */
export interface TarEntry {
  name: string;
  size: number;
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Yields the bytes of a tar archive. Names have at most 100 bytes. Throws when a content is not as long as its size. */
export async function* writeTar(entries: AsyncIterable<TarEntry>): AsyncGenerator<Uint8Array> {
  for await (const { name, size, content } of entries) {
    yield headerOf(name, size);
    let written = 0;
    for await (const chunk of content) {
      written += chunk.byteLength;
      yield chunk;
    }
    if (written !== size) throw new Error(`${name} has ${written} bytes in place of ${size}`);
    yield new Uint8Array(paddingOf(size));
  }
  yield new Uint8Array(2 * BLOCK_BYTES);
}

function headerOf(name: string, size: number): Uint8Array {
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0, 100);
  header.write('0000600\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  if (size < MAX_OCTAL_SIZE) header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  else {
    header[124] = 0x80;
    header.writeBigUInt64BE(BigInt(size), 128);
  }
  header.write('00000000000\0', 136);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** Returns the sum of a header's bytes, in which those of the checksum itself are spaces. */
const checksumOf = (header: Buffer): number =>
  header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte), 0);

const paddingOf = (size: number): number => (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;

/**
 * Yields the files of a tar archive. The content of each must be read to its end before the next. Throws when the
 * archive ends early or a header is damaged.
 */
export async function* readTar(archive: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const reader = new ByteReader(archive);
  try {
    for (;;) {
      const header = await reader.exactly(BLOCK_BYTES);
      // Only its end has the checksum of the compressed archive.
      if (header.every((byte) => byte === 0)) return reader.drain();
      const name = header.subarray(0, 100).toString().replace(/\0.*$/s, '');
      if (header.subarray(257, 262).toString() !== 'ustar') throw new Error(NO_BACKUP);
      if (parseInt(header.subarray(148, 156).toString(), 8) !== checksumOf(header))
        throw new Error(`The backup is damaged at ${name}`);
      const size =
        header[124] === 0x80 ? Number(header.readBigUInt64BE(128)) : parseInt(header.subarray(124, 135).toString(), 8);
      yield { name, size, content: reader.take(size) };
      await reader.exactly(paddingOf(size));
    }
  } finally {
    await reader.close();
  }
}

/** Reads a stream in parts of chosen lengths. */
class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Yields the next bytes. Throws when the stream ends before. */
  async *take(bytes: number): AsyncGenerator<Buffer> {
    for (let missing = bytes; missing > 0;) {
      if (this.#rest.length === 0) {
        const { done, value } = await this.#source.next();
        if (done) throw new Error(INCOMPLETE);
        this.#rest = Buffer.from(value);
      }
      const part = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(part.length);
      missing -= part.length;
      yield part;
    }
  }

  /** Closes the stream. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }

  /** Reads the stream to its end. */
  async drain(): Promise<void> {
    while (!(await this.#source.next()).done);
  }

  async exactly(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.take(bytes)) parts.push(part);
    return Buffer.concat(parts);
  }
}
