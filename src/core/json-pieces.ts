import { decodeUtf8 } from './input-text.ts';

/** Length of a piece, which one call of `JSON.parse` parses. It is longer only if it is one text or number. */
const MAX_PIECE_BYTES = 1 << 16;
/** Bytes that are scanned in one step. */
const BLOCK_BYTES = 1 << 14;
/** Values that are opened in one step. */
const MAX_OPENED = 500;
/** Bytes around an error that its message may quote: `JSON.parse` quotes 10 characters on each side. */
const QUOTED_BYTES = 128;

const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;
const COMMA = 44;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** A list or an object that exists already, and whose members are parsed in pieces. */
interface OpenValue {
  value: unknown[] | Record<string, unknown>;
  /** A short text after which `JSON.parse` is inside this value, after its bracket. */
  opening: string;
}

/** A position from which a text can be parsed again after an error. */
interface Mark {
  /** Number of bytes before it. */
  at: number;
  /** Number of characters before it. */
  characters: number;
  /** A short text after which `JSON.parse` is in the same state as in this position. */
  opening: string;
}

/**
 * Parses a JSON text in steps of about 64 KiB, with a `yield` after each. Returns the value of `JSON.parse`, and throws
 * its SyntaxError. `inspect` receives the decoded text, in pieces that each contain whole keys and texts.
 */
export function* parseJsonInSteps(bytes: Buffer, inspect: (text: string) => void): Generator<void, unknown> {
  const content = bytes.subarray(bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0);
  if (content.length <= MAX_PIECE_BYTES) {
    const text = decodeUtf8(content);
    const value: unknown = JSON.parse(text);
    inspect(text);
    return value;
  }
  const pieces = new JsonPieces(content, inspect);
  try {
    while (pieces.cut() || pieces.scan()) yield;
    return pieces.end();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw yield* pieces.describeError();
  }
}

/**
 * Scans a JSON text for brackets, commas and quotes, and cuts it into pieces of whole members. The text itself counts as
 * the member of a list.
 */
class JsonPieces {
  readonly #bytes: Buffer;
  readonly #inspect: (text: string) => void;
  readonly #document: unknown[] = [];
  /** The document and the open values inside it that exist already, from the outside. */
  readonly #values: OpenValue[] = [{ value: this.#document, opening: '' }];
  /** Number of open brackets. */
  #level = 0;
  /** Positions of the open brackets, by their level. The outer ones are the brackets of `#values`. */
  readonly #brackets: number[] = [];
  /** Position of the last comma of the document and in each pair of open brackets, by level; -1 before the first one. */
  readonly #commas: number[] = [-1];
  #position = 0;
  #isQuoted = false;
  /** Beginning of the piece. */
  #start = 0;
  /** The part of the innermost of `#values` before the piece: its bracket, a comma, or a member. */
  #before: 'bracket' | 'comma' | 'member' = 'bracket';
  /** Number of characters before the piece. */
  #characters = 0;
  /** The last mark that is far enough before the piece that no error of it quotes what is before the mark, and later ones. */
  readonly #marks: Mark[] = [{ at: 0, characters: 0, opening: '' }];

  constructor(bytes: Buffer, inspect: (text: string) => void) {
    this.#bytes = bytes;
    this.#inspect = inspect;
  }

  /** Scans the next block. Returns false at the end of the text. */
  scan(): boolean {
    const bytes = this.#bytes;
    const brackets = this.#brackets;
    const commas = this.#commas;
    const start = this.#position;
    const end = Math.min(start + BLOCK_BYTES, bytes.length);
    let openLevel = this.#values.length - 1;
    let level = this.#level;
    let isQuoted = this.#isQuoted;
    let at = start;
    for (; at < end; at += 1) {
      const byte = bytes[at]!;
      if (isQuoted) {
        if (byte === BACKSLASH) at += 1;
        else if (byte === QUOTE) isQuoted = false;
      } else if (byte === QUOTE) isQuoted = true;
      else if (byte === COMMA) {
        commas[level] = at;
        if (level === openLevel) this.#passComma(at);
      } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        brackets[level] = at;
        level += 1;
        commas[level] = -1;
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        if (level === openLevel) {
          this.#close(at, byte);
          openLevel -= 1;
        }
        level -= 1;
      }
    }
    this.#position = at;
    this.#level = level;
    this.#isQuoted = isQuoted;
    return at > start;
  }

  /** Parses the last piece. Returns the value of the text. */
  end(): unknown {
    this.#position = this.#bytes.length;
    if (this.#level > 0 || this.#isQuoted) throw new SyntaxError('The text is incomplete');
    this.#addMembers(this.#bytes.length);
    if (this.#document.length !== 1) throw new SyntaxError('The text is not one value');
    return this.#document[0];
  }

  /** Parses a comma between members of the innermost of `#values`. */
  #passComma(at: number): void {
    this.#position = at;
    if (this.#values.length === 1) throw new SyntaxError('The text is not one value');
    if (this.#before !== 'member') return;
    this.#addMembers(at);
    this.#begin(at + 1, 'comma');
  }

  /** Parses the end of the innermost of `#values`. */
  #close(at: number, byte: number): void {
    this.#position = at;
    // The document has no bracket.
    const opening = this.#bytes[this.#brackets[this.#values.length - 2] ?? -1];
    if (opening !== (byte === CLOSE_LIST ? OPEN_LIST : OPEN_OBJECT)) throw new SyntaxError('Another bracket is open');
    this.#addMembers(at);
    this.#values.pop();
    this.#begin(at + 1, 'member');
  }

  /** Parses the complete members of a long piece, or opens values inside it. Returns false if the piece must grow. */
  cut(): boolean {
    for (let opened = 0; opened < MAX_OPENED && this.#isLong(); opened += 1) {
      const level = this.#values.length - 1;
      const comma = this.#commas[level]!;
      if (comma >= this.#start) {
        this.#addMembers(comma);
        this.#begin(comma + 1, 'comma');
        return true;
      }
      // One long text or number.
      if (this.#level === level) return false;
      this.#openValue(this.#brackets[level]!);
    }
    return this.#isLong();
  }

  #isLong(): boolean {
    return this.#position - this.#start > MAX_PIECE_BYTES;
  }

  /** Creates the value whose bracket is in this position, and adds it to the one around it. */
  #openValue(bracket: number): void {
    const { value: outer } = this.#values.at(-1)!;
    const value = this.#bytes[bracket] === OPEN_LIST ? [] : {};
    // In a list, blanks at most.
    const key = bracket > this.#start ? this.#decode(this.#start, bracket) : '';
    const opening = this.#openingOfPiece() + key + String.fromCharCode(this.#bytes[bracket]!);
    if (this.#before === 'member') throw new SyntaxError('A comma is missing');
    if (Array.isArray(outer)) {
      if (!isBlank(key)) throw new SyntaxError('A comma is missing');
      outer.push(value);
    } else {
      const keys = Object.keys(JSON.parse(`{${key}[]}`) as object);
      setMember(outer, keys[0]!, value);
    }
    this.#values.push({ value, opening });
    this.#begin(bracket + 1, 'bracket');
  }

  /** Parses the members from the beginning of the piece to a comma or to the end of the innermost of `#values`. */
  #addMembers(end: number): void {
    const { value } = this.#values.at(-1)!;
    const text = this.#decode(this.#start, end);
    if (this.#before === 'member') {
      if (!isBlank(text)) throw new SyntaxError('A comma is missing');
      return;
    }
    if (isBlank(text)) {
      if (this.#before === 'comma' || this.#bytes[end] === COMMA) throw new SyntaxError('A member is missing');
    } else if (Array.isArray(value)) for (const member of JSON.parse(`[${text}]`) as unknown[]) value.push(member);
    else {
      const members = JSON.parse(`{${text}}`) as Record<string, unknown>;
      for (const key of Object.keys(members)) setMember(value, key, members[key]);
    }
  }

  /** Begins a piece after a bracket or a comma. */
  #begin(start: number, before: 'bracket' | 'comma' | 'member'): void {
    this.#start = start;
    this.#before = before;
    this.#characters += 1;
    this.#marks.push({ at: start, characters: this.#characters, opening: this.#openingOfPiece() });
    while (this.#marks.length > 1 && this.#marks[1]!.at <= start - QUOTED_BYTES) this.#marks.shift();
  }

  /** Returns a short text after which `JSON.parse` is in the same state as at the beginning of the piece. */
  #openingOfPiece(): string {
    const { value, opening } = this.#values.at(-1)!;
    if (this.#before === 'bracket') return opening;
    return `${opening}${Array.isArray(value) ? '' : '"":'}[]${this.#before === 'comma' ? ',' : ''}`;
  }

  #decode(start: number, end: number): string {
    const text = decodeUtf8(this.#bytes.subarray(start, end));
    this.#characters += text.length;
    this.#inspect(text);
    return text;
  }

  /** Returns the error of `JSON.parse` for the whole text. The text before the piece is valid. */
  *describeError(): Generator<void, SyntaxError> {
    const { at, characters, opening } = this.#marks[0]!;
    const rest = decodeUtf8(this.#bytes.subarray(at, this.#position + QUOTED_BYTES));
    const error = errorOf(opening + rest);
    const [, problem, position] = /^(.* at position )(\d+) \(line \d+ column \d+\)$/.exec(error.message) ?? [];
    if (problem === undefined) return error;
    const before = rest.slice(0, Number(position) - opening.length);
    const { breaks, last } = yield* this.#findLineBreaks(at);
    const lines = before.split(/\r\n?|\n/);
    const sinceBreak = last < 0 ? characters : decodeUtf8(this.#bytes.subarray(last + 1, at)).length;
    const column = 1 + lines.at(-1)!.length + (lines.length > 1 ? 0 : sinceBreak);
    return new SyntaxError(`${problem}${characters + before.length} (line ${breaks + lines.length} column ${column})`);
  }

  /** Counts the line breaks before a position. Returns the position of the last one, too. */
  *#findLineBreaks(end: number): Generator<void, { breaks: number; last: number }> {
    let breaks = 0;
    let last = -1;
    for (let at = 0; at < end; at += 1) {
      if (at % BLOCK_BYTES === 0) yield;
      const byte = this.#bytes[at];
      if (byte !== NEWLINE && byte !== RETURN) continue;
      if (byte === RETURN || this.#bytes[at - 1] !== RETURN) breaks += 1;
      last = at;
    }
    return { breaks, last };
  }
}

/** Returns the error with which a text is parsed. */
function errorOf(text: string): SyntaxError {
  try {
    JSON.parse(text);
  } catch (error) {
    return error as SyntaxError;
  }
  throw new Error('The JSON text is valid');
}

const isBlank = (text: string): boolean => !/[^ \t\n\r]/.test(text);

/** Sets a member as `JSON.parse` does: `__proto__` is a key like others. */
function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}
