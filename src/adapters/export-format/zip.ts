import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';

/** Sheets are repetitive: higher levels need twice the time for a tenth less size. */
const OPTIONS = { compress: true, compressionLevel: 4, mtime: new Date(1980, 0, 1) };

/** A file of an archive. Its text is smaller than 4 GiB. */
export interface ZipEntry {
  path: string;
  texts: AsyncIterable<string> | Iterable<string>;
}

/**
 * Yields a ZIP archive piece by piece. An entry is requested after the previous one was written, so that it can depend
 * on the end of that one.
 */
export async function* zipArchive(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Uint8Array> {
  const { ZipFile } = await import('yazl');
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const fail = (error: unknown) => void output.destroy(error as Error);
  zip.on('error', fail);
  const stop = new AbortController();
  const adding = (async () => {
    for await (const { path, texts } of entries) {
      const content = Readable.from(texts, { signal: stop.signal });
      zip.addReadStream(content, path, OPTIONS);
      await finished(content);
    }
    zip.end();
  })().catch(fail);
  try {
    yield* output as AsyncIterable<Uint8Array>;
  } finally {
    output.destroy();
    // Also ends an entry that is added from now on, because nothing would read it.
    stop.abort();
    await adding;
  }
}
