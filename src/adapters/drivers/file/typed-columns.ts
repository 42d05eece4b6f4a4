import type { FileProblem } from '../../../core/row-source.ts';
import { withoutBlanks } from './blanks.ts';
import { numberOr, numberText, timeIn, typeOfFormat } from './column-readings.ts';
import {
  CANDIDATES,
  findTypes,
  jsonKinds,
  type Candidate,
  type FoundType,
  type UntypedColumn,
} from './column-types.ts';
import { quoteText, type DuckdbSession } from './duckdb-session.ts';
import type { FileColumn, FileConfig, ValueReading } from './file-config.ts';
import { couldBeThousands, findOdd, findReadings, mostlyOther, type OddText } from './find-readings.ts';
import { SEVERAL_WAYS } from './reading-doubts.ts';
import { usualTime } from './valid-times.ts';

/** A column of a file as SQL. */
export interface TextColumn {
  name: string;
  /** The key in objects of JSON, where it is not the name. */
  key?: string;
  /** Null where the value is missing for any type but text. */
  text: string;
  raw: string;
  json: boolean;
  /** Whether it is a text whatever its values are. */
  isText?: boolean;
  /** SQL of the text in a column of texts, where it is not `text`. */
  shown?: string;
  /** Whether numbers of a sheet are as they are written, such as `1.10`. */
  isSpelled?: boolean;
  /** Whether decimals of JSON have all their digits (exact-decimals.ts). */
  marked?: boolean;
}

/** A file as SQL: the source of its values as texts, and the text of each column. */
export interface TextTable {
  from: string;
  columns: TextColumn[];
}

/** Columns of a file, and those that can be read in several ways. */
export interface TypedColumns {
  columns: FileColumn[];
  problems: FileProblem[];
}

const READ_AS_TEXT = `${SEVERAL_WAYS}, so the column is text. Set decimal, thousands or dateFormat, or its type in columns`;
const READ_AS_DECIMALS = `${SEVERAL_WAYS}, and are read as numbers with decimals. Set decimal, or its type in columns`;

const isText = (type: string): boolean => type === 'VARCHAR';
export const isNumeric = (type: string): boolean => /^(U?BIGINT|DOUBLE|DECIMAL)/.test(type);
const isFractional = (type: string): boolean => /^(DOUBLE|DECIMAL)/.test(type);

/** Determines the types of a table's columns, and how texts in them are read as numbers and dates. */
export async function typedColumns(
  session: DuckdbSession,
  table: TextTable,
  config: FileConfig,
): Promise<TypedColumns> {
  const { from, columns } = table;
  const json = columns[0]!.json;
  const given = readingOf(config);
  const kinds = json
    ? await jsonKinds(
        session,
        from,
        columns.map(({ raw }) => raw),
      )
    : undefined;
  const untyped = columns.map(({ text, isText: isGiven, marked = false }, i): UntypedColumn => ({
    text,
    candidates: kinds
      ? candidatesOf(isGiven ? [] : kinds[i]!)
      : CANDIDATES.filter((candidate) => candidate !== 'NUMBER' || given?.decimal !== ','),
    doubles: json && (marked ? 'some' : 'all'),
    nullWords: !json && config.nullValues === undefined,
    padded: !json,
  }));
  const types = await findTypes(session, from, untyped);
  const typed = columns.map(({ name, key }, i): FileColumn => ({
    name,
    ...(key !== undefined && { key }),
    ...(kinds?.[i]!.some((kind) => kind === 'OBJECT' || kind === 'ARRAY') ? { type: 'JSON' } : typeOf(types[i]!)),
  }));
  // A text of JSON is a number or a date only if the config says so.
  const texts = typed.flatMap(({ type }, i) =>
    isText(type) && (json ? given && kinds![i]!.every((kind) => kind === 'VARCHAR') : true) ? [i] : [],
  );
  const words = types.map(({ nullValues }) => nullValues);
  const bare = {
    from,
    columns: columns.map((column, i) => ({
      ...column,
      whole: column.text,
      words: words[i]!,
      text: withoutWords(types[i]!.padded ? withoutBlanks(column.text) : column.text, words[i]),
    })),
  };
  const { found, ambiguous, odd } = await readTexts(session, bare, texts, given ?? {});
  // Texts of JSON and workbooks have no readings, but their columns can be doubtful.
  const others = typed.flatMap(({ type }, i) =>
    json && isText(type) && !columns[i]!.isText && !texts.includes(i) ? [i] : [],
  );
  const unread = others.map((i) => bare.columns[i]!);
  for (const [n, text] of await findOdd(session, from, unread)) odd.set(others[n]!, text);
  const read = typed.map((column, i) =>
    found.has(i) ? { ...column, ...found.get(i), ...extrasOf(types[i]!) } : column,
  );
  const doubtful = await findDoubtful(session, bare, read, config);
  const hasCommas = read.some(({ decimal }) => decimal === ',');
  return {
    columns: read.map((column, i) => (doubtful.has(i) && hasCommas ? { name: column.name, type: 'VARCHAR' } : column)),
    problems: columns.flatMap(({ name }, i) =>
      ambiguous.has(i) || doubtful.has(i)
        ? [{ column: name, message: ambiguous.has(i) || hasCommas ? READ_AS_TEXT : READ_AS_DECIMALS }]
        : odd.has(i)
          ? [{ column: name, message: mostlyOther(odd.get(i)!) }]
          : [],
    ),
  };
}

/** Returns the part of a column that its values determine. */
const typeOf = (found: FoundType): Omit<FileColumn, 'name'> => ({
  type: found.type,
  ...(isText(found.type) ? {} : extrasOf(found)),
});
const extrasOf = ({ nullValues, padded }: FoundType): Pick<FileColumn, 'nullValues' | 'trim'> => ({
  ...(nullValues.length > 0 ? { nullValues } : {}),
  ...(padded ? { trim: true } : {}),
});

/** Returns SQL of a column's text without its null words. */
export const withoutWords = (text: string, words: readonly string[] = []): string =>
  words.length > 0 ? `case when ${text} not in (${words.map(quoteText).join(', ')}) then ${text} end` : text;

/** Returns the parts of a config or column that determine how texts are read; undefined without one. */
function readingOf({ decimal, thousands, dateFormat }: ValueReading): ValueReading | undefined {
  if (decimal === undefined && thousands === undefined && dateFormat === undefined) return undefined;
  return { decimal: decimal ?? (thousands === '.' ? ',' : thousands === ',' ? '.' : undefined), thousands, dateFormat };
}

/** A table of texts without blanks around them and words for null, in addition to the unchanged texts. */
interface BareTable {
  from: string;
  columns: { text: string; whole: string; words: readonly string[] }[];
}

/** Results of `readTexts`, by the positions of columns. */
interface ReadTexts {
  found: Map<number, Omit<FileColumn, 'name'>>;
  ambiguous: Set<number>;
  /** Texts that are not numbers or dates in columns of text whose values mostly are. */
  odd: Map<number, OddText>;
}

/** Returns type and reading of the columns of texts that are numbers or dates in one reading. */
async function readTexts(
  session: DuckdbSession,
  { from, columns }: BareTable,
  positions: number[],
  given: ValueReading,
): Promise<ReadTexts> {
  const found = new Map<number, Omit<FileColumn, 'name'>>();
  const readings = await findReadings(
    session,
    from,
    positions.map((i) => columns[i]!),
    given,
  );
  const ambiguous = new Set<number>();
  const odd = new Map<number, OddText>();
  const numbers: { i: number; reading: ValueReading }[] = [];
  for (const [n, { reading, odd: text }] of readings.entries()) {
    const i = positions[n]!;
    if (reading === undefined && text !== undefined) odd.set(i, text);
    if (reading === 'ambiguous') ambiguous.add(i);
    if (reading === undefined || reading === 'ambiguous') continue;
    if (reading.dateFormat !== undefined) found.set(i, { type: typeOfFormat(reading.dateFormat), ...reading });
    else numbers.push({ i, reading });
  }
  const types = await findTypes(
    session,
    from,
    numbers.map(({ i, reading }) => ({
      text: numberText(columns[i]!.text, reading),
      candidates: ['BIGINT', 'NUMBER'],
      doubles: false,
      nullWords: false,
      padded: false,
    })),
  );
  for (const [n, { i, reading }] of numbers.entries())
    if (!isText(types[n]!.type)) found.set(i, { type: types[n]!.type, ...reading });
  return { found, ambiguous, odd };
}

/** Returns the columns of texts whose points, as in `1.234`, could separate thousands as well as decimals. */
async function findDoubtful(
  session: DuckdbSession,
  { from, columns }: TextTable,
  typed: FileColumn[],
  { decimal: givenDecimal, thousands }: FileConfig,
): Promise<Set<number>> {
  if (givenDecimal !== undefined || thousands !== undefined) return new Set();
  const pointed = typed.flatMap(({ type, decimal }, i) =>
    isFractional(type) && decimal === undefined && !columns[i]!.json ? [i] : [],
  );
  const doubtful = await couldBeThousands(
    session,
    from,
    pointed.map((i) => columns[i]!),
  );
  return new Set(pointed.filter((_, n) => doubtful[n]));
}

/** A number and its text differ in JSON: only values of one kind become more than text. */
function candidatesOf(kinds: string[]): Candidate[] {
  if (kinds.length === 0) return [];
  if (kinds.every((kind) => kind === 'BOOLEAN')) return ['BOOLEAN'];
  if (kinds.every((kind) => kind === 'VARCHAR')) return ['DATE', 'TIMESTAMP'];
  return kinds.every((kind) => ['UBIGINT', 'BIGINT', 'DOUBLE'].includes(kind)) ? ['BIGINT', 'NUMBER'] : [];
}

/** Returns how the values of a column are read, if they are not in the usual form. */
export const readingFor = (column: FileColumn, config: FileConfig): ValueReading | undefined =>
  readingOf(column) ?? readingOf(config);

/** Returns SQL of a column's text, null for a missing value. */
export const presentText = ({ text, json }: TextColumn, { trim, nullValues }: FileColumn): string =>
  withoutWords(trim && !json ? withoutBlanks(text) : text, nullValues);

/**
 * Returns SQL of a number of a column in the usual form. A text that is not a number of its reading is an error, or
 * null if `lenient`.
 */
export function numberIn(source: TextColumn, column: FileColumn, config: FileConfig, lenient: boolean): string {
  const text = presentText(source, column);
  const reading = readingFor(column, config);
  if (reading?.decimal === undefined) return text;
  const number = lenient ? numberOr('null', text, reading) : numberText(text, reading);
  // A number of JSON has its own form.
  return source.json ? `case when json_type(${source.raw}) = 'VARCHAR' then ${number} else ${text} end` : number;
}

/**
 * Returns SQL of a column's value in its type. A text that is not a number of its reading is an error, or null if
 * `lenient`.
 */
export function valueOf(source: TextColumn, column: FileColumn, config: FileConfig, lenient = false): string {
  const { raw, text: whole, shown = whole, json } = source;
  const { type, nullValues } = column;
  if (type === 'VARCHAR') return json ? withoutWords(shown, nullValues) : raw;
  if (isNumeric(type)) return `cast(${numberIn(source, column, config, lenient)} as ${type})`;
  const text = presentText(source, column);
  if (type === 'JSON') return json ? raw : `cast(${text} as JSON)`;
  const usual = type === 'TIMESTAMP' ? usualTime(text) : `cast(${text} as ${type})`;
  const format = isTime(type) ? readingFor(column, config)?.dateFormat : undefined;
  return format === undefined ? usual : `cast(coalesce(${timeIn(text, format)}, ${usual}) as ${type})`;
}

const isTime = (type: string): boolean => type === 'DATE' || type === 'TIMESTAMP';
