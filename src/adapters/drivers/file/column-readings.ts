import type { DuckDBValue } from '@duckdb/node-api';
import { MAX_SAMPLE_VALUES, valuesOf } from './column-types.ts';
import { quoteText, type DuckdbSession } from './duckdb-session.ts';
import type { ValueReading } from './file-config.ts';

/** Formats of dates, and of the times that can follow them, that are recognised. */
const DATE_FORMATS = ['%d.%m.%Y', '%m/%d/%Y', '%d/%m/%Y', '%m-%d-%Y', '%d-%m-%Y', '%Y/%m/%d'];
const TIME_FORMATS = ['', ' %H:%M', ' %H:%M:%S', ' %I:%M %p', ' %I:%M:%S %p'];
/** What a part of these formats matches. `strptime` alone accepts years of two digits as `%Y`. */
const FORMAT_PARTS: Record<string, string> = {
  '%d': '[0-9]{1,2}',
  '%m': '[0-9]{1,2}',
  '%Y': '[0-9]{4}',
  '%H': '[0-9]{1,2}',
  '%I': '[0-9]{1,2}',
  '%M': '[0-9]{2}',
  '%S': '[0-9]{2}',
  '%p': '[AaPp][Mm]',
};
const TIME_PART = /%[HIMSpfgnXcT]/;
const MIN_YEAR = 100;

const SPACES = ' \u00a0\u202f';
const SYMBOLS = '$€£¥';
/** Separators of thousands beside a decimal point or comma, unless one is given. */
const THOUSANDS = { '.': `,'’${SPACES}`, ',': `.'’${SPACES}` };

type Decimal = keyof typeof THOUSANDS;

/** Number of checks at once, which bounds the memory. */
const BATCH = 1000;
/** A number whose decimals follow a point. */
const PLAIN_NUMBER = /^-?\d+(?:\.\d+)?$/;
/** Number of values, and share of texts among them, from which on a column of numbers is doubtful. */
const MIN_VALUES = 5;
const MAX_ODD = 0.2;
/** Number of values of a column for a first guess. */
const SAMPLE_VALUES = 200;

/** A column of texts: SQL of the text, null for a missing value. */
interface TextColumn {
  text: string;
}

/** A column whose reading is to be found. */
interface SampledColumn extends TextColumn {
  /** SQL of the text with the blanks around it, which is much faster for many columns, and the words for null. */
  whole: string;
  words: readonly string[];
}

/** What the texts of a column show. */
interface FoundTexts {
  reading: FoundReading;
  /** A text that is not a number, where most are. */
  odd?: string;
}

/** The only reading that all values of a column admit; `ambiguous` if they admit several. */
type FoundReading = ValueReading | 'ambiguous' | undefined;

/** Returns the characters that separate thousands in a reading. */
const thousandsOf = ({ decimal, thousands }: ValueReading): string =>
  thousands === ' ' ? SPACES : (thousands ?? THOUSANDS[decimal as Decimal]);

/** Returns the pattern of a number: sign, currency, digits with or without separators of thousands, decimals, percent. */
function numberPattern(reading: ValueReading): string {
  const separators = thousandsOf(reading).replace(/[\]\\^-]/g, String.raw`\$&`);
  const grouped = separators && `|[1-9][0-9]{0,2}(?:[${separators}][0-9]{3})+`;
  const symbol = `[${SYMBOLS}]`;
  const space = `[${SPACES}]?`;
  return (
    `(?:-?(?:${symbol}${space})?|${symbol}${space}-)` +
    `(?:(?:0|[1-9][0-9]*${grouped})(?:[${reading.decimal}][0-9]*)?|[${reading.decimal}][0-9]+)(?:[eE][-+]?[0-9]+|${space}[${SYMBOLS}%])?`
  );
}

/** Returns SQL that states whether a text is a number in a reading. */
const isNumber = (text: string, reading: ValueReading): string =>
  `regexp_full_match(${text}, ${quoteText(numberPattern(reading))})`;

/** Returns SQL of the usual form of a number; a percentage is a hundredth. */
function usualNumber(text: string, reading: ValueReading): string {
  const bare = `translate(${text}, ${quoteText(`%${SYMBOLS}${SPACES}${thousandsOf(reading)}`)}, '')`;
  return `replace(${bare}, ${quoteText(reading.decimal!)}, '.') || case when ends_with(${text}, '%') then 'e-2' else '' end`;
}

/** Returns SQL of the usual form of a number. Any other text is an error that contains it. */
export const numberText = (text: string, reading: ValueReading): string =>
  numberOr(
    `error('"' || ${text} || ${quoteText(`" is not a number with the decimal separator "${reading.decimal}"`)})`,
    text,
    reading,
  );

/** Returns SQL of the usual form of a number, and other SQL for any other text. */
export const numberOr = (other: string, text: string, reading: ValueReading): string =>
  `case when ${text} is null then null when ${isNumber(text, reading)} then ${usualNumber(text, reading)} else ${other} end`;

/** Returns SQL of a time in a format of dates. A text in another format is null. */
export const timeIn = (text: string, format: string): string =>
  `cast(try_strptime(${text}, ${quoteText(format)}) as TIMESTAMP)`;

/** Returns the type of the values in a format of dates. */
export const typeOfFormat = (format: string): 'DATE' | 'TIMESTAMP' => (TIME_PART.test(format) ? 'TIMESTAMP' : 'DATE');

/** A possible reading: whether a sampled text has it, and SQL that states whether a text has it. */
interface Candidate {
  reading: ValueReading;
  fits(value: string): boolean;
  check(text: string): string;
}

function dateCandidate(format: string, given: boolean): Candidate {
  const pattern = format.replace(/%[a-zA-Z]|[^%]/g, (part) => FORMAT_PARTS[part] ?? (part === ' ' ? ' ' : `[${part}]`));
  const valid = (text: string) => `(${text} is null or coalesce(year(${timeIn(text, format)}) >= ${MIN_YEAR}, false))`;
  return {
    reading: { dateFormat: format },
    fits: (value) => given || new RegExp(`^(?:${pattern})$`).test(value),
    check: (text) => (given ? valid(text) : `regexp_full_match(${text}, ${quoteText(pattern)}) and ${valid(text)}`),
  };
}

function numberCandidate(reading: ValueReading): Candidate {
  const pattern = new RegExp(`^(?:${numberPattern(reading)})$`);
  return { reading, fits: (value) => pattern.test(value), check: (text) => isNumber(text, reading) };
}

/** Returns the readings that are possible with the given one. */
function candidatesWith({ decimal, thousands, dateFormat }: ValueReading): Candidate[] {
  const decimals = decimal ? [decimal] : (['.', ','] as const).filter((one) => one !== thousands);
  return [
    ...decimals.map((one) => numberCandidate({ decimal: one, ...(thousands === undefined ? {} : { thousands }) })),
    ...(dateFormat !== undefined
      ? [dateCandidate(dateFormat, true)]
      : DATE_FORMATS.flatMap((date) => TIME_FORMATS.map((time) => dateCandidate(date + time, false)))),
  ];
}

/**
 * Returns how the values of each column can be read as numbers or dates that are not written in the usual form. Every
 * value counts. `given` is the reading that the file's config demands.
 */
export async function findReadings(
  session: DuckdbSession,
  from: string,
  columns: SampledColumn[],
  given: ValueReading,
): Promise<FoundTexts[]> {
  if (columns.length === 0) return [];
  const sampled = await sampleOf(
    session,
    from,
    columns.map(({ whole }) => whole),
  );
  const all = candidatesWith(given);
  const odd: (string | undefined)[] = [];
  const possible = columns.map(({ words }, i) => {
    const values = sampled[i]!.map((value) => value.trim()).filter((value) => value && !words.includes(value));
    odd.push(oddValue(values));
    return all.filter(({ fits }) => values.every(fits));
  });
  const checks = columns.flatMap(({ text }, i) => [
    ...possible[i]!.map(({ check }) => `coalesce(bool_and(${check(text)}), false)`),
    ...(possible[i]!.length > 0
      ? [symbolsOf(text), `bool_or(contains(${text}, '.') or contains(${text}, ','))`, areCodes(text)]
      : []),
  ]);
  const results: DuckDBValue[] = [];
  for (let at = 0; at < checks.length; at += BATCH)
    results.push(...(await session.rows(`select ${checks.slice(at, at + BATCH).join(', ')} from ${from}`))[0]!);
  let next = 0;
  return possible.map((candidates, i) => {
    const notNumber = odd[i] === undefined ? {} : { odd: odd[i] };
    if (candidates.length === 0) return { reading: undefined, ...notNumber };
    const fitting = candidates.filter(() => results[next++] === true).map(({ reading }) => reading);
    const [oneSymbol, separated, codes] = [results[next++], results[next++], results[next++]].map(
      (one) => one === true,
    );
    const reading = onlyReading(fitting, oneSymbol!, separated!);
    const isGiven = (given.decimal ?? given.thousands) !== undefined;
    const isDoubtful = codes && !isGiven && typeof reading === 'object' && reading.decimal;
    return { reading: isDoubtful ? 'ambiguous' : reading, ...notNumber };
  });
}

/** Returns a value that is not a number, if most values are. */
function oddValue(values: string[]): string | undefined {
  const odd = values.filter((value) => !PLAIN_NUMBER.test(value));
  return values.length >= MIN_VALUES && odd.length > 0 && odd.length <= values.length * MAX_ODD ? odd[0] : undefined;
}

/** Returns SQL that states whether all values have the same currency or percent sign, or none has one. */
function symbolsOf(text: string): string {
  const symbol = `regexp_extract(${text}, '[${SYMBOLS}%]')`;
  return `min(${symbol}) = max(${symbol})`;
}

/**
 * Returns SQL that states whether all values are equally many groups of digits, as telephone numbers, IP addresses and
 * versions can be. Amounts of thousands are of several sizes.
 */
function areCodes(text: string): string {
  const groups = quoteText(`[0-9]{1,3}(?:[.,'’${SPACES}][0-9]{3})+`);
  return `bool_and(regexp_full_match(${text}, ${groups})) and min(length(${text}) // 4) = max(length(${text}) // 4)`;
}

function onlyReading(fitting: ValueReading[], oneSymbol: boolean, separated: boolean): FoundReading {
  const readings = fitting.filter(({ decimal }) => !decimal || oneSymbol);
  // Without a separator both readings of a number have the same value.
  if (readings.length > 1 && readings.every(({ decimal }) => decimal) && !separated) return readings[0];
  return readings.length > 1 ? 'ambiguous' : readings[0];
}

/** Returns, per column of numbers with a decimal point, whether the points could be separators of thousands as well. */
export async function couldBeThousands(
  session: DuckdbSession,
  from: string,
  columns: TextColumn[],
): Promise<boolean[]> {
  if (columns.length === 0) return [];
  const sampled = await sampleOf(
    session,
    from,
    columns.map(({ text }) => text),
  );
  const pattern = new RegExp(`^(?:${numberPattern({ decimal: ',' })})$`);
  const possible = columns.flatMap(({ text }, i) => (sampled[i]!.every((value) => pattern.test(value)) ? [text] : []));
  if (possible.length === 0) return columns.map(() => false);
  const checks = possible.map(
    (text) => `bool_and(${isNumber(text, { decimal: ',' })}) and bool_or(contains(${text}, '.'))`,
  );
  const [results] = await session.rows(`select ${checks.join(', ')} from ${from}`);
  return columns.map(({ text }) => results![possible.indexOf(text)] === true);
}

/** Returns values of each column from its first rows: at most 200 each, and none for a column without any. */
async function sampleOf(session: DuckdbSession, from: string, texts: string[]): Promise<string[][]> {
  const rows = Math.ceil(MAX_SAMPLE_VALUES / texts.length);
  const values = valuesOf(
    `(select * from ${from} limit ${rows})`,
    texts.map((text) => ({ text, padded: false })),
  );
  const found = await session.rows(
    `select k, array_to_string(list(v)[1:${SAMPLE_VALUES}], chr(0)) from ${values} group by k`,
  );
  const byColumn = new Map(found.map(([k, sampled]) => [Number(k), String(sampled).split('\0')]));
  return texts.map((_, i) => byColumn.get(i) ?? []);
}
