import pg from 'pg';
import type { WorkspaceRow } from '../../core/app-workspace.ts';
import { exactJson } from '../../core/exact-number.ts';

type Read = (text: string) => unknown;

const { builtins } = pg.types;

/** Returns a number if it is the exact value, else the text. */
const safeInteger: Read = (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text);
/** Returns a text for NaN and the infinities, which JSON lacks. */
const finiteNumber: Read = (text) => (Number.isFinite(Number(text)) ? Number(text) : text);
const json: Read = (text) => JSON.parse(exactJson(text)) as unknown;
/** `2026-01-31 09:30:00.5+00` → `2026-01-31T09:30:00.5Z`. `infinity` and years BC stay unchanged. */
const isoTime: Read = (text) =>
  /^\d{4,}-\d\d-\d\d \S+$/.test(text)
    ? text
        .replace(' ', 'T')
        .replace(/\+00$/, 'Z')
        .replace(/([+-]\d\d)$/, (offset, _, at) => (at > 10 ? `${offset}:00` : offset))
    : text;
const base64: Read = (text) => Buffer.from(text.slice(2), 'hex').toString('base64');

const READERS: ReadonlyMap<number, Read> = new Map<number, Read>([
  [builtins.BOOL, (text) => text === 't'],
  [builtins.INT2, Number],
  [builtins.INT4, Number],
  [builtins.OID, Number],
  [builtins.INT8, safeInteger],
  [builtins.FLOAT4, finiteNumber],
  [builtins.FLOAT8, finiteNumber],
  [builtins.JSON, json],
  [builtins.JSONB, json],
  [builtins.TIMESTAMP, isoTime],
  [builtins.TIMESTAMPTZ, isoTime],
  [builtins.BYTEA, base64],
]);

/** Types of the elements of arrays. Other arrays stay texts. */
const ELEMENTS: ReadonlyMap<number, number> = new Map([
  [1000, builtins.BOOL],
  [1001, builtins.BYTEA],
  [1005, builtins.INT2],
  [1007, builtins.INT4],
  [1009, builtins.TEXT],
  [1014, builtins.BPCHAR],
  [1015, builtins.VARCHAR],
  [1016, builtins.INT8],
  [1021, builtins.FLOAT4],
  [1022, builtins.FLOAT8],
  [1028, builtins.OID],
  [1115, builtins.TIMESTAMP],
  [1182, builtins.DATE],
  [1185, builtins.TIMESTAMPTZ],
  [1231, builtins.NUMERIC],
  [2951, builtins.UUID],
  [199, builtins.JSON],
  [3807, builtins.JSONB],
]);

const asText: Read = (text) => text;

function readerOf(type: number): Read {
  const element = ELEMENTS.get(type);
  if (element === undefined) return READERS.get(type) ?? asText;
  const read = READERS.get(element) ?? asText;
  return (text) => readArray(text, read);
}

/** Returns a function that reads the values of a row with these columns. Of columns with one name, the last counts. */
export function valueReader(fields: readonly pg.FieldDef[]): (values: (string | null)[]) => WorkspaceRow {
  const readers = fields.map(({ dataTypeID }) => readerOf(dataTypeID));
  return (values) =>
    Object.fromEntries(
      fields.map(({ name }, i) => {
        const value = values[i] ?? null;
        return [name, value === null ? null : readers[i]!(value)];
      }),
    );
}

/** A part of the text of an array: a brace, a comma, the beginning of a quoted element, or a plain element. */
const PART = /[{},"]|[^{},"]+/y;

/** Returns the index of the quotation mark that ends an element. */
function endOfQuoted(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** Reads an array in the form of Postgres, e.g. `{1,NULL,"a b"}`, including several dimensions. */
function readArray(text: string, read: Read): unknown {
  // Bounds that do not begin at 1 precede the array: `[0:1]={1,2}`.
  PART.lastIndex = text.indexOf('{');
  const outer: unknown[] = [];
  const open: unknown[][] = [outer];
  for (let part = PART.exec(text); part; part = PART.exec(text)) {
    const [token] = part;
    if (token === '{') {
      const inner: unknown[] = [];
      open.at(-1)!.push(inner);
      open.push(inner);
    } else if (token === '}') open.pop();
    else if (token === '"') {
      const end = endOfQuoted(text, PART.lastIndex);
      open.at(-1)!.push(read(text.slice(PART.lastIndex, end).replace(/\\(.)/gs, '$1')));
      PART.lastIndex = end + 1;
    } else if (token !== ',') open.at(-1)!.push(token === 'NULL' ? null : read(token));
  }
  return outer[0];
}
