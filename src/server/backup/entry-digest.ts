import { createHash } from 'node:crypto';
import type { TarEntry } from './tar.ts';

/** Name of the last entry of an archive, with which a restore finds that parts are missing. */
export const END_NAME = 'end.json';

/** What the last entry of an archive says about those before it. */
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
