import { badInput } from '../../../core/errors.ts';
import { chunksOf } from './text-file.ts';

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const MAX_SHOWN = 100;
/** First letters of `NaN`, `Infinity` and `inf`, which no word of JSON has. DuckDB reads them. */
const OTHER_WORDS = new Set(Buffer.from('NIi'));

/**
 * Throws BAD_USER_INPUT for a JSON text with an object that has a key twice, even inside a record: only one of the
 * values would be read. Also throws it for numbers that JSON does not have.
 */
export function checkKeys(path: string, format: 'json' | 'ndjson'): void {
  const check = new KeyCheck(format === 'json' ? 1 : 0);
  for (const chunk of chunksOf(path)) check.read(chunk);
}

/** State of `checkKeys`. */
class KeyCheck {
  /** Number of containers around a record. */
  readonly #outside: number;
  #record = 0;
  /** The keys of each open object so far, undefined for an array. */
  readonly #open: (Set<string> | undefined)[] = [];
  #awaitsKey = false;
  #inString = false;
  #escaped = false;
  /** The bytes of the current key before this chunk. */
  #key = '';

  constructor(outside: number) {
    this.#outside = outside;
  }

  read(chunk: Buffer): void {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (!this.#inString) {
        this.#readToken(byte);
        start = at + 1;
      } else if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) {
        this.#inString = false;
        if (this.#awaitsKey) this.#endKey(this.#key + chunk.toString('latin1', start, at));
      }
    }
    if (this.#inString && this.#awaitsKey) this.#key += chunk.toString('latin1', start);
  }

  #readToken(byte: number): void {
    if (byte === QUOTE) this.#inString = true;
    else if (OTHER_WORDS.has(byte))
      throw badInput(
        `Record ${this.#record} of the file has a word that JSON does not have, such as NaN or Infinity. ` +
          'Replace it by null, or by a text',
      );
    else if (byte === COMMA) this.#awaitsKey = this.#open.at(-1) !== undefined;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (this.#open.length === this.#outside) this.#record += 1;
      this.#awaitsKey = byte === OPEN_OBJECT;
      this.#open.push(this.#awaitsKey ? new Set() : undefined);
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) this.#open.pop();
  }

  #endKey(bytes: string): void {
    const key = bytes.includes('\\') ? withoutEscapes(bytes) : bytes;
    const keys = this.#open.at(-1);
    if (keys?.has(key)) {
      const shown = JSON.stringify(Buffer.from(key, 'latin1').toString('utf8').slice(0, MAX_SHOWN));
      throw badInput(`Record ${this.#record} of the file has the key ${shown} twice`);
    }
    keys?.add(key);
    this.#key = '';
    this.#awaitsKey = false;
  }
}

/** Returns the bytes of a key without escapes. */
function withoutEscapes(bytes: string): string {
  try {
    const key = String(JSON.parse(`"${Buffer.from(bytes, 'latin1').toString('utf8')}"`));
    return Buffer.from(key, 'utf8').toString('latin1');
  } catch {
    return bytes;
  }
}
