import { Buffer } from 'node:buffer';
import { pack, type Header } from 'tar-stream';
import { describe, expect, test } from 'vitest';
import { readTar, writeTar, type TarEntry } from '../../src/server/backup/tar.ts';

const MIB = 2 ** 20;
const CHUNK = new Uint8Array(MIB);

async function* listed(...entries: TarEntry[]): AsyncGenerator<TarEntry> {
  yield* entries;
}

const textEntry = (name: string, text: string): TarEntry => {
  const bytes = Buffer.from(text);
  return { name, size: bytes.length, content: [bytes] };
};

async function bytesOf(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(part);
  return Buffer.concat(all);
}

/** Yields an archive in parts of `size` bytes. */
async function* inParts(archive: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < archive.length; start += size) yield archive.subarray(start, start + size);
}

/** Reads all texts of an archive by their names. */
async function textsOf(archive: AsyncIterable<Uint8Array>): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for await (const { name, content } of readTar(archive))
    texts[name] = (await bytesOf(content as AsyncIterable<Uint8Array>)).toString();
  return texts;
}

const FILES = { 'backup.json': '{}', 'tables/empty': '', 'tables/full': 'ä'.repeat(256), 'files/x': 'x'.repeat(1000) };
const archiveOf = (files: Record<string, string>): Promise<Buffer> =>
  bytesOf(writeTar(listed(...Object.entries(files).map(([name, text]) => textEntry(name, text)))));

/** Returns the archive of another program: an entry with these settings after the first file. */
async function foreignArchive(header: Partial<Header> & { name: string }): Promise<AsyncIterable<Uint8Array>> {
  const archive = pack();
  archive.entry({ name: 'backup.json' }, '{}');
  archive.entry(header);
  archive.finalize();
  return inParts(await bytesOf(archive as AsyncIterable<Uint8Array>), 700);
}

describe('an archive', () => {
  test.each([1, 511, 512, 513, 10_000])('is read in parts of %i bytes', async (size) => {
    expect(await textsOf(inParts(await archiveOf(FILES), size))).toEqual(FILES);
  });

  test('has files of mode 600, and the same bytes each time', async () => {
    const archive = await archiveOf(FILES);
    expect(archive.subarray(100, 107).toString()).toMatch(/^0*600/);
    expect(archive.equals(await archiveOf(FILES))).toBe(true);
  });

  test('has files of more than 8 GiB, written and read in constant memory', async () => {
    const size = 9 * 1024 * MIB;
    async function* content() {
      for (let written = 0; written < size; written += MIB) yield CHUNK;
    }
    const entries = listed({ name: 'large', size, content: content() }, textEntry('last', 'end'));
    let read = 0;
    let last = '';
    const before = process.memoryUsage().rss;
    let peak = before;
    for await (const entry of readTar(writeTar(entries))) {
      if (entry.name === 'last') last = (await bytesOf(entry.content as AsyncIterable<Uint8Array>)).toString();
      else
        for await (const part of entry.content) {
          read += part.byteLength;
          if (read % (512 * MIB) === 0) peak = Math.max(peak, process.memoryUsage().rss);
        }
    }
    expect(read).toBe(size);
    expect(last).toBe('end');
    expect(peak - before).toBeLessThan(200 * MIB);
  });

  test.each([999, 1001])('is refused by its writer when 1000 bytes are promised and %i come', async (bytes) => {
    const entry = { name: 'files/x', size: 1000, content: [new Uint8Array(bytes)] };
    await expect(bytesOf(writeTar(listed(entry)))).rejects.toThrow('Size mismatch');
  });

  test('whose source fails ends with that error', async () => {
    async function* failing(): AsyncGenerator<TarEntry> {
      yield textEntry('first', 'x');
      throw new Error('The connection was lost');
    }
    await expect(bytesOf(writeTar(failing()))).rejects.toThrow('The connection was lost');
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield (await archiveOf(FILES)).subarray(0, 3000);
      throw new Error('The disk was removed');
    }
    await expect(textsOf(broken())).rejects.toThrow('The disk was removed');
  });

  test('that a reader leaves early ends its sources', async () => {
    const ended: string[] = [];
    async function* content() {
      try {
        for (;;) yield CHUNK;
      } finally {
        ended.push('content');
      }
    }
    async function* entries() {
      try {
        yield { name: 'large', size: 2 ** 40, content: content() };
      } finally {
        ended.push('entries');
      }
    }
    const stop = new Error('The reader stops');
    const reading = async () => {
      for await (const entry of readTar(writeTar(entries())))
        for await (const part of entry.content) if (part.byteLength > 0) throw stop;
    };
    await expect(reading()).rejects.toBe(stop);
    expect(ended).toEqual(['content', 'entries']);
  });
});

describe('a damaged or hostile archive', () => {
  test('that was cut off is incomplete', async () => {
    const archive = await archiveOf(FILES);
    for (const end of [100, 512 + 1, archive.length - 1024 - 600])
      await expect(textsOf(inParts(archive.subarray(0, end), 10_000)), String(end)).rejects.toThrow(
        'The backup ends early: it is incomplete',
      );
  });

  test('of another format is not a backup; a damaged header later is one', async () => {
    await expect(textsOf(inParts(Buffer.alloc(2048, 'text'), 512))).rejects.toThrow(
      'The file is not a backup of this service',
    );
    const archive = await archiveOf(FILES);
    archive[1024]! ^= 1;
    await expect(textsOf(inParts(archive, 512))).rejects.toThrow('The backup is damaged: a header is invalid');
  });

  test.each([
    ['symlink', { linkname: '/etc/passwd' }],
    ['link', { linkname: '/etc/passwd' }],
    ['character-device', { devmajor: 1, devminor: 3 }],
    ['block-device', { devmajor: 8 }],
    ['fifo', {}],
    ['directory', {}],
  ] as const)('with a %s is refused', async (type, header) => {
    await expect(textsOf(await foreignArchive({ name: 'files/x', type, ...header }))).rejects.toThrow(
      `The backup has an unknown part: "files/x" (${type})`,
    );
  });
});
