import { createReadStream } from 'node:fs';
import { pipeline as pipe } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, pack, type Pack } from 'tar-stream';
import { unknownPart } from './entry-content.ts';

/** Error for a file of another format. */
export const NO_BACKUP = 'The file is not a backup of this service';

/** Error for a file that was cut off. */
export const INCOMPLETE = 'The backup ends early: it is incomplete';

/** Returns the error for the caller. */
type ToError = (error: unknown) => Promise<unknown>;

/** A file of an archive. */
export interface TarEntry {
  name: string;
  size: number;
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Yields the bytes of a tar archive, whose files have mode 600. Throws when a content is not as long as its size. */
export async function* writeTar(entries: AsyncIterable<TarEntry>): AsyncGenerator<Uint8Array> {
  const archive = pack();
  const writing = addEntries(archive, entries).catch((error: Error) => archive.destroy(error));
  try {
    yield* archive as AsyncIterable<Uint8Array>;
  } finally {
    archive.destroy();
    await writing;
  }
}

async function addEntries(archive: Pack, entries: AsyncIterable<TarEntry>): Promise<void> {
  for await (const { name, size, content } of entries) {
    const entry = archive.entry({ name, size, mode: 0o600, mtime: new Date(0) });
    await pipeline(content, entry as unknown as NodeJS.WritableStream);
  }
  archive.finalize();
}

/** Yields the decompressed bytes of an archive. Throws a sentence. */
export async function* decompress(file: string): AsyncGenerator<Uint8Array> {
  const archive = createGunzip();
  // Errors of the file are thrown where the archive is read.
  pipe(createReadStream(file), archive, () => undefined);
  try {
    yield* archive as AsyncIterable<Uint8Array>;
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (message === 'incorrect header check') throw new Error(NO_BACKUP, { cause: error });
    if (code === 'Z_BUF_ERROR') throw new Error(INCOMPLETE, { cause: error });
    throw new Error(`The backup ${code.startsWith('Z_') ? 'is damaged' : 'cannot be read'}: ${message}`, {
      cause: error,
    });
  }
}

/**
 * Yields the files of a tar archive. The content of each must be read to its end before the next. Throws when the
 * archive ends early, a header is damaged, or an entry is not a plain file.
 */
export async function* readTar(archive: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const parser = extract();
  let isRecognized = false;
  const failure: Promise<unknown> = pipeline(archive, parser as unknown as NodeJS.WritableStream).catch(
    (error: unknown) => error,
  );
  // The streams of the entries do not know why the parser was destroyed.
  const toError: ToError = async (error) =>
    toBackupError((error as Error).message === 'Stream was destroyed' ? await failure : error, isRecognized);
  try {
    for await (const entry of parser) {
      const { name, type, size } = entry.header;
      isRecognized = true;
      if (type !== 'file') throw unknownPart(name, String(type));
      yield { name, size, content: contentOf(entry as AsyncIterable<Uint8Array>, toError) };
    }
  } catch (error) {
    throw await toError(error);
  } finally {
    parser.destroy();
    await failure;
  }
}

async function* contentOf(entry: AsyncIterable<Uint8Array>, toError: ToError): AsyncGenerator<Uint8Array> {
  try {
    yield* entry;
  } catch (error) {
    throw await toError(error);
  }
}

/** Returns the sentence for an error of the parser. Other errors are returned as they are. */
function toBackupError(error: unknown, isRecognized: boolean): unknown {
  const { message } = error as Error;
  if (message === 'Unexpected end of data') return new Error(INCOMPLETE, { cause: error });
  if (!/^(Invalid (tar )?header|Header exceeds)/.test(message)) return error;
  return new Error(isRecognized ? 'The backup is damaged: a header is invalid' : NO_BACKUP, { cause: error });
}
