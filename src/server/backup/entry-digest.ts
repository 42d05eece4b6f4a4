import { createHash } from 'node:crypto';
import { checkForm, END, readJson, unknownPart } from './entry-content.ts';
import { INCOMPLETE, type TarEntry } from './tar.ts';

/** Name of the last entry of an archive, with which a restore finds that parts are missing. */
export const END_NAME = 'end.json';

/** The statement of the last entry of an archive about the entries before it. */
export interface BackupEnd {
  /** Number of entries between the manifest and the last one. */
  entries: number;
  /** SHA-256 of their names, sizes and contents, in hex. */
  sha256: string;
}

/** Counts the entries of an archive and their bytes while they pass. */
export class EntryDigest {
  readonly #hash = createHash('sha256');
  #entries = 0;

  /** Returns an entry whose content is added while it is read. */
  add({ name, size, content }: TarEntry): TarEntry {
    this.#entries += 1;
    this.#hash.update(`${name}\n${size}\n`);
    return { name, size, content: this.#pass(content) };
  }

  async *#pass(content: TarEntry['content']): AsyncGenerator<Uint8Array> {
    for await (const part of content) {
      this.#hash.update(part);
      yield part;
    }
  }

  /** Returns the last entry's content. Nothing can be added afterwards. */
  end(): BackupEnd {
    return { entries: this.#entries, sha256: this.#hash.digest('hex') };
  }
}

/** Yields entries up to the last one. Throws if it is missing, or if it does not describe them. */
export async function* checkEnd(entries: AsyncIterable<TarEntry>): AsyncGenerator<TarEntry> {
  const digest = new EntryDigest();
  let hasEnd = false;
  for await (const entry of entries) {
    if (hasEnd) throw unknownPart(entry.name);
    hasEnd = entry.name === END_NAME;
    if (!hasEnd) yield digest.add(entry);
    else checkParts(checkForm(entry.name, await readJson(entry), END), digest.end());
  }
  if (!hasEnd) throw new Error(INCOMPLETE);
}

function checkParts(written: BackupEnd, read: BackupEnd): void {
  if (read.entries !== written.entries)
    throw new Error(`The backup has ${read.entries} parts instead of ${written.entries}`);
  if (read.sha256 !== written.sha256) throw new Error('The backup was changed after it was written');
}
