import { createHash, type Hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { IncomingFile } from '../../core/files.ts';
import type { KeyedParts } from '../../core/idempotency.ts';

/** Texts are hashed together up to this length. */
const MAX_PIECE_CHARACTERS = 1 << 16;
/** Longest turn of the event loop. */
const MAX_TURN_MS = 2;

/** Returns the file of a body, which the parser of forms puts there. */
const fileOf = (body: unknown): IncomingFile | undefined => {
  const file = (body as { file?: unknown } | null | undefined)?.file;
  return typeof file === 'object' && file !== null && 'content' in file && 'minSize' in file
    ? (file as IncomingFile)
    : undefined;
};

/**
 * The fingerprint of a request: a digest of its method, path, query and body. The order of keys does not count. Of a form the
 * names, values, file name and digest of the file count, because each client chooses a boundary of its own. Such a
 * fingerprint is known when the file is read.
 */
export class Fingerprint {
  readonly #parts: KeyedParts;
  readonly #file: IncomingFile | undefined;
  readonly #fileHash: Hash | undefined;
  #fileDigest: string | undefined;
  #digest: string | undefined;

  constructor(parts: KeyedParts) {
    this.#parts = parts;
    this.#file = fileOf(parts.body);
    if (!this.#file) return;
    this.#fileHash = createHash('sha256');
    this.#file.content = this.#read(this.#file.content);
  }

  /** Whether the request has a file, which can be read once. */
  get hasFile(): boolean {
    return this.#file !== undefined;
  }

  /** Returns the digest. Reads the rest of a file that has not been read. */
  async digest(): Promise<string> {
    if (this.#digest !== undefined) return this.#digest;
    const { method, path, query, body } = this.#parts;
    const hash = createHash('sha256');
    if (this.#file && this.#fileDigest === undefined) await this.#readRest(this.#file);
    const file = this.#file && { filename: this.#file.filename, sha256: this.#fileDigest };
    await updateWith(hash, [method, path, query, file ? { ...(body as object), file } : body]);
    this.#digest = hash.digest('hex');
    return this.#digest;
  }

  async *#read(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const bytes of content) {
      this.#fileHash!.update(bytes);
      yield bytes;
    }
    this.#fileDigest = this.#fileHash!.digest('hex');
  }

  async #readRest({ content, wholeInput }: IncomingFile): Promise<void> {
    for await (const _bytes of content);
    await wholeInput?.();
  }
}

/** Updates a hash with a value of JSON, in turns of the event loop. */
async function updateWith(hash: Hash, value: unknown): Promise<void> {
  let text = '';
  let start = performance.now();
  for (const piece of piecesOf(value)) {
    text += piece;
    if (text.length < MAX_PIECE_CHARACTERS) continue;
    hash.update(text);
    text = '';
    if (performance.now() - start < MAX_TURN_MS) continue;
    await setImmediate();
    start = performance.now();
  }
  hash.update(text);
}

/** Yields the JSON of a value with sorted keys. */
function* piecesOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) {
    yield value === undefined ? '' : JSON.stringify(value);
    return;
  }
  const isList = Array.isArray(value);
  const entries = isList ? value.map((item) => ['', item] as const) : Object.entries(value);
  if (!isList) entries.sort(([one], [other]) => (one < other ? -1 : 1));
  yield isList ? '[' : '{';
  for (const [name, item] of entries) {
    if (!isList && item === undefined) continue;
    yield isList ? '' : `${JSON.stringify(name)}:`;
    yield* piecesOf(item);
    yield ',';
  }
  yield isList ? ']' : '}';
}
