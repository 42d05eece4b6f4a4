import { locate } from './mistakes.ts';

const SEPARATORS = [',', ';', '\t'];
/** Text that V8 adds to the message of invalid JSON. */
const JSON_PLACE = / (?:in JSON )?at position (\d+)(?: \(line \d+ column \d+\))?$/;

/** Parses a DATA file by its extension: JSON, CSV as a list of objects, and others as text. Throws mistakes with their line. */
export function parseDataFile(path: string, text: string): unknown {
  const content = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (/\.json$/i.test(path)) return parseJson(path, content);
  return /\.(csv|tsv)$/i.test(path) ? parseCsv(path, content) : content;
}

/** Returns an object with a property for each DATA file, which is read and parsed when it is first used. */
export function dataObject(names: readonly string[], read: (name: string) => string): object {
  const data = {};
  const parsed = new Map<string, unknown>();
  for (const name of names)
    Object.defineProperty(data, name, {
      enumerable: true,
      get: () => {
        if (!parsed.has(name)) parsed.set(name, parseDataFile(name, read(name)));
        return parsed.get(name);
      },
    });
  return data;
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    const offset = Number(JSON_PLACE.exec(message)?.[1] ?? offsetOfError(text));
    const before = text.slice(0, offset);
    const lineStart = before.lastIndexOf('\n') + 1;
    const line = before.split('\n').length;
    throw locate(new Error(message.replace(JSON_PLACE, '')), { path, line, column: offset - lineStart + 1 });
  }
}

/** Returns the offset of the first character that is wrong in invalid JSON: V8 does not name it in every message. */
function offsetOfError(text: string): number {
  if (!isBroken(text)) return text.length;
  let [valid, broken] = [0, text.length];
  while (broken - valid > 1) {
    const middle = (valid + broken) >> 1;
    if (isBroken(text.slice(0, middle))) broken = middle;
    else valid = middle;
  }
  return valid;
}

/** Returns whether a text is invalid JSON, whatever follows it. */
function isBroken(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    const { message } = error as Error;
    const place = JSON_PLACE.exec(message);
    return place ? Number(place[1]) < text.length : !/end of JSON input|Unterminated/.test(message);
  }
}

/** Parses CSV with a header. Fields may be quoted; a line that lacks fields has null for them; empty lines are left out. */
function parseCsv(path: string, text: string): Record<string, string | null>[] {
  const reader = new CsvReader(path, text);
  const header = reader.next();
  if (!header) return [];
  const names = header.map((name) => name.trim());
  const used = new Set<string>();
  for (const [at, name] of names.entries()) {
    if (name === '') reader.fail(`Column ${at + 1} has no name`, 1);
    if (used.has(name)) reader.fail(`Two columns have the name "${name}"`, 1);
    used.add(name);
  }
  const rows: Record<string, string | null>[] = [];
  for (let line = reader.line, fields = reader.next(); fields; line = reader.line, fields = reader.next()) {
    if (fields.length === 1 && fields[0] === '') continue;
    if (fields.length > names.length)
      reader.fail(`The line has ${fields.length} fields, but the header has ${names.length}`, line);
    const values = fields;
    rows.push(Object.fromEntries(names.map((name, at) => [name, values[at] ?? null])));
  }
  return rows;
}

class CsvReader {
  readonly #path: string;
  readonly #text: string;
  readonly #separator: string;
  readonly #plain: RegExp;
  #at = 0;
  /** Number of the line that is read next, from 1. */
  line = 1;

  constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
    let firstLine = '';
    for (const [piece] of text.matchAll(/"[^"]*"?|[\r\n]|[^"\r\n]+/g)) {
      if (/^[\r\n]/.test(piece)) break;
      if (!piece.startsWith('"')) firstLine += piece;
    }
    const count = (separator: string) => firstLine.split(separator).length;
    this.#separator = SEPARATORS.reduce((best, next) => (count(next) > count(best) ? next : best));
    this.#plain = new RegExp(`[^${this.#separator}\\r\\n]*`, 'y');
  }

  fail(message: string, line: number): never {
    throw locate(new Error(message), { path: this.#path, line, column: null });
  }

  /** Returns the fields of the next line, or undefined at the end. */
  next(): string[] | undefined {
    if (this.#at >= this.#text.length) return undefined;
    const fields: string[] = [];
    for (;;) {
      fields.push(this.#text[this.#at] === '"' ? this.#quoted() : this.#unquoted());
      const char = this.#text[this.#at];
      if (char === this.#separator) {
        this.#at += 1;
        continue;
      }
      if (char === '\r' && this.#text[this.#at + 1] === '\n') this.#at += 1;
      if (char !== undefined) this.#at += 1;
      this.line += 1;
      return fields;
    }
  }

  #unquoted(): string {
    this.#plain.lastIndex = this.#at;
    const [value] = this.#plain.exec(this.#text)!;
    this.#at += value.length;
    return value;
  }

  #quoted(): string {
    const start = this.#at + 1;
    const startLine = this.line;
    for (let at = start; ; at += 2) {
      at = this.#text.indexOf('"', at);
      if (at < 0) this.fail('The quotation mark is not closed', startLine);
      if (this.#text[at + 1] === '"') continue;
      this.#at = at + 1;
      const value = this.#text.slice(start, at);
      for (let breakAt = value.indexOf('\n'); breakAt >= 0; breakAt = value.indexOf('\n', breakAt + 1)) this.line += 1;
      const after = this.#text[this.#at];
      if (after !== undefined && after !== this.#separator && after !== '\r' && after !== '\n')
        this.fail('Text follows a closing quotation mark', this.line);
      return value.replaceAll('""', '"');
    }
  }
}
