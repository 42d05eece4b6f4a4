import { badInput } from '../../../core/errors.ts';
import { chunksOf } from './text-file.ts';

/** Maximum nesting of JSON. Deeper documents can exhaust the stack of recursive parsers. */
const MAX_DEPTH = 500;
const LF = 10;
const QUOTE = 34;
const BACKSLASH = 92;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);
/** Bytes that Windows-1252 does not define. */
const UNDEFINED = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/**
 * Reads a text to its end to find errors before it is used. Returns `windows-1252` as a guess for a text whose first
 * byte past ASCII is not UTF-8.
 *
 * Throws BAD_USER_INPUT naming the line that is invalid UTF-8, has a U+0000 or nests JSON too deeply.
 */
export function examineText(path: string, json: boolean): 'utf-8' | 'windows-1252' {
  const examiner = new Examiner(json);
  for (const chunk of chunksOf(path)) examiner.read(chunk);
  return examiner.end();
}

/** State of `examineText`. */
class Examiner {
  readonly #json: boolean;
  #line = 1;
  /** Missing bytes of the current character, and the permitted range of the next one. */
  #awaited = 0;
  #low = 0x80;
  #high = 0xbf;
  #multibyte = false;
  #legacy = false;
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(json: boolean) {
    this.#json = json;
  }

  read(chunk: Buffer): void {
    for (const byte of chunk) {
      if (byte >= 0x80 || this.#awaited > 0) this.#readHigh(byte);
      else if (byte === LF) this.#line += 1;
      else if (byte === 0) throw badInput(`Line ${this.#line} of the file has a character U+0000`);
      else if (this.#json) this.#nest(byte);
    }
  }

  end(): 'utf-8' | 'windows-1252' {
    if (this.#awaited > 0) this.#invalid();
    return this.#legacy ? 'windows-1252' : 'utf-8';
  }

  #readHigh(byte: number): void {
    if (this.#legacy) {
      if (UNDEFINED.has(byte))
        throw badInput(
          `Line ${this.#line} of the file is neither UTF-8 nor Windows-1252: set encoding, or save the file as UTF-8`,
        );
      return;
    }
    if (this.#awaited > 0) {
      if (byte < this.#low || byte > this.#high) return this.#invalid(byte);
      this.#awaited -= 1;
      this.#low = 0x80;
      this.#high = 0xbf;
      if (this.#awaited === 0) this.#multibyte = true;
      return;
    }
    this.#awaited =
      byte >= 0xc2 && byte <= 0xdf ? 1 : byte >= 0xe0 && byte <= 0xef ? 2 : byte >= 0xf0 && byte <= 0xf4 ? 3 : 0;
    if (this.#awaited === 0) return this.#invalid(byte);
    // Excludes overlong forms, surrogates, and code points past U+10FFFF.
    this.#low = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    this.#high = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
  }

  /** A text that began as UTF-8 is invalid; otherwise it may have an older encoding, unless it is JSON. */
  #invalid(byte?: number): void {
    if (this.#multibyte || this.#json) throw badInput(`Line ${this.#line} of the file is broken UTF-8`);
    this.#legacy = true;
    this.#awaited = 0;
    if (byte === LF) this.#line += 1;
    else if (byte !== undefined && byte >= 0x80) this.#readHigh(byte);
  }

  #nest(byte: number): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) this.#inString = false;
    } else if (byte === QUOTE) this.#inString = true;
    else if (OPENING.has(byte)) {
      this.#depth += 1;
      if (this.#depth > MAX_DEPTH)
        throw badInput(`Line ${this.#line} of the file nests JSON deeper than ${MAX_DEPTH} levels`);
    } else if (CLOSING.has(byte)) this.#depth -= 1;
  }
}
