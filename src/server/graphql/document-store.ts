import { hash } from 'node:crypto';
import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { isLong } from './document-thread.ts';

/** Bytes of the stored documents. */
const MAX_BYTES = 30 << 20;
/** A parsed document takes about this many bytes for each character. Apollo's own store prints it as JSON to know. */
const BYTES_PER_CHARACTER = 25;
const MAX_SEEN = 10_000;

/**
 * The parsed documents of Apollo, by the SHA-256 of their texts. A long document is stored when it is requested again:
 * to keep what no one requests again would cost all requests long pauses of the garbage collector.
 */
export class DocumentStore {
  readonly #documents = new LRUCache<string, DocumentNode>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ loc }) => (loc?.end ?? 0) * BYTES_PER_CHARACTER + 1,
  });
  /** Hashes of long documents that were requested once. */
  readonly #seen = new LRUCache<string, true>({ max: MAX_SEEN });

  /** Returns whether the document of a text is stored. */
  has(text: string): boolean {
    return this.#documents.has(hash('sha256', text));
  }

  /** `key` ends with the hash in hexadecimal; Apollo puts the hash of the schema before it. */
  async get(key: string): Promise<DocumentNode | undefined> {
    return this.#documents.get(hashIn(key));
  }

  async set(key: string, document: DocumentNode): Promise<void> {
    const hashed = hashIn(key);
    if (document.loc && isLong(document.loc.source.body) && !this.#seen.has(hashed)) this.#seen.set(hashed, true);
    else this.#documents.set(hashed, document);
  }

  async delete(key: string): Promise<boolean> {
    return this.#documents.delete(hashIn(key));
  }
}

/** Maximum length of the texts of all persisted queries. */
const MAX_PERSISTED_CHARACTERS = 30_000_000;

/** Apollo puts it before the hash of a persisted query. */
const PERSISTED_PREFIX = 'apq:';

/** The texts of the persisted queries of Apollo. */
export class PersistedQueries {
  readonly #texts = new LRUCache<string, string>({
    maxSize: MAX_PERSISTED_CHARACTERS,
    sizeCalculation: ({ length }) => length + 1,
  });

  /** Returns the text of a SHA-256 in hexadecimal. */
  find(hashed: string): string | undefined {
    return this.#texts.get(PERSISTED_PREFIX + hashed);
  }

  async get(key: string): Promise<string | undefined> {
    return this.#texts.get(key);
  }

  async set(key: string, text: string): Promise<void> {
    this.#texts.set(key, text);
  }

  async delete(key: string): Promise<boolean> {
    return this.#texts.delete(key);
  }
}

const SHA256_DIGITS = 64;
const hashIn = (key: string): string => key.slice(-SHA256_DIGITS);
