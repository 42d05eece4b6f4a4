import { candidatesWith, isNumber, numberPattern, SPACES, SYMBOLS, type Candidate } from './column-readings.ts';
import { MAX_SAMPLE_VALUES, valuesOf } from './column-types.ts';
import { quoteText, type DuckdbSession } from './duckdb-session.ts';
import type { ValueReading } from './file-config.ts';

/** Number of columns in one check, which bounds the memory. */
const BATCH = 500;
/** Numbers whose decimals follow a point, and dates with or without a time of day. */
const PLAIN_NUMBER = '-?[0-9]+(?:[.][0-9]+)?';
const PLAIN_DATE = '[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9:.]+Z?)?';
/** Number of values, and share of others among them, from which on a column of numbers or dates is doubtful. */
export const MIN_VALUES = 5;
export const MAX_ODD = 0.2;
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

/** The properties that the texts of a column show. */
interface FoundTexts {
  reading: FoundReading;
  /** The first text that is not a number or date, where most are. */
  odd?: OddText;
}

/** A text in a column whose other values are mostly of one kind. */
export interface OddText {
  text: string;
  most: 'numbers' | 'dates';
}

/** The only reading that all values of a column admit; `ambiguous` if they admit several. */
type FoundReading = ValueReading | 'ambiguous' | undefined;

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
  const possible = columns.map(({ words }, i) => {
    const values = sampled[i]!.map((value) => value.trim()).filter((value) => value && !words.includes(value));
    return all.filter(({ fits }) => values.every(fits));
  });
  const odd = await findOdd(session, from, columns);
  const results = await checkReadings(session, from, columns, possible, all);
  return possible.map((candidates, i) => {
    const notNumber = odd.has(i) ? { odd: odd.get(i)! } : {};
    if (candidates.length === 0) return { reading: undefined, ...notNumber };
    const { fitting, oneSymbol, separated, codes } = results.get(i) ?? NO_TEXTS;
    const reading = onlyReading(fitting, oneSymbol, separated);
    const isGiven = (given.decimal ?? given.thousands) !== undefined;
    const isDoubtful = codes && !isGiven && typeof reading === 'object' && reading.decimal;
    return { reading: isDoubtful ? 'ambiguous' : reading, ...notNumber };
  });
}

/** The properties of all texts of a column. */
interface CheckedTexts {
  fitting: ValueReading[];
  oneSymbol: boolean;
  separated: boolean;
  codes: boolean;
}

const NO_TEXTS: CheckedTexts = { fitting: [], oneSymbol: false, separated: false, codes: false };

/** Checks the possible readings of each column with every text. Each check is one expression for all columns. */
async function checkReadings(
  session: DuckdbSession,
  from: string,
  columns: TextColumn[],
  possible: Candidate[][],
  all: Candidate[],
): Promise<Map<number, CheckedTexts>> {
  const results = new Map<number, CheckedTexts>();
  const checked = columns.flatMap((_, i) => (possible[i]!.length > 0 ? [i] : []));
  for (let at = 0; at < checked.length; at += BATCH) {
    const batch = checked.slice(at, at + BATCH);
    const checks = all.map((candidate) => {
      const names = batch.flatMap((i, n) => (possible[i]!.includes(candidate) ? [`'${n}'`] : []));
      if (names.length === 0) return 'false';
      return `coalesce(bool_and(k in (${names.join(', ')}) and ${candidate.check('v')}), false)`;
    });
    const others = [symbolsOf('v'), `bool_or(contains(v, '.') or contains(v, ','))`, areCodes('v')];
    const values = valuesOf(
      from,
      batch.map((i) => ({ text: columns[i]!.text, padded: false })),
    );
    const rows = await session.rows(`select k, ${[...others, ...checks].join(', ')} from ${values} group by k`);
    for (const [k, oneSymbol, separated, codes, ...fits] of rows)
      results.set(batch[Number(k)]!, {
        fitting: all.filter((_, n) => fits[n] === true).map(({ reading }) => reading),
        oneSymbol: oneSymbol === true,
        separated: separated === true,
        codes: codes === true,
      });
  }
  return results;
}

/** Returns the report on a text in a column that is mostly of another kind. */
export const mostlyOther = ({ text, most }: OddText): string =>
  `Most values are ${most}, but ${JSON.stringify(text.slice(0, 100))} is not, so the column is text. ` +
  'Set nullValues, or its type in columns';

/** Returns the first value of each column that is not a number, or not a date, if most values of the whole column are. */
export async function findOdd(
  session: DuckdbSession,
  from: string,
  columns: TextColumn[],
): Promise<Map<number, OddText>> {
  const odd = new Map<number, OddText>();
  const kinds = [PLAIN_NUMBER, PLAIN_DATE].map((pattern) => `regexp_full_match(v, ${quoteText(pattern)})`);
  const found = kinds.flatMap((is) => [`count(*) filter (not ${is})`, `first(v) filter (not ${is})`]);
  for (let at = 0; at < columns.length; at += BATCH) {
    const batch = columns.slice(at, at + BATCH);
    const values = valuesOf(
      from,
      batch.map(({ text }) => ({ text, padded: false })),
    );
    const rows = await session.rows(`select k, count(*), ${found.join(', ')} from ${values} where v <> '' group by k`);
    for (const [k, count, noNumbers, noNumber, noDates, noDate] of rows) {
      const isOdd = (others: unknown) =>
        Number(count) >= MIN_VALUES && Number(others) > 0 && Number(others) <= Number(count) * MAX_ODD;
      if (isOdd(noNumbers)) odd.set(at + Number(k), { text: String(noNumber), most: 'numbers' });
      else if (isOdd(noDates)) odd.set(at + Number(k), { text: String(noDate), most: 'dates' });
    }
  }
  return odd;
}

/** Returns SQL of an aggregate that states whether all values have the same currency or percent sign, or none has one. */
export function symbolsOf(text: string): string {
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
  const possible = columns.flatMap((_, i) => (sampled[i]!.every((value) => pattern.test(value)) ? [i] : []));
  const doubtful = new Set<number>();
  for (let at = 0; at < possible.length; at += BATCH) {
    const batch = possible.slice(at, at + BATCH);
    const values = valuesOf(
      from,
      batch.map((i) => ({ text: columns[i]!.text, padded: false })),
    );
    const rows = await session.rows(
      `select k, bool_and(${isNumber('v', { decimal: ',' })}) and bool_or(contains(v, '.')) from ${values} group by k`,
    );
    for (const [k, isDoubtful] of rows) if (isDoubtful === true) doubtful.add(batch[Number(k)]!);
  }
  return columns.map((_, i) => doubtful.has(i));
}

/** Returns values of each column from its first rows: at most 200 each, and none for a column without any. */
export async function sampleOf(session: DuckdbSession, from: string, texts: string[]): Promise<string[][]> {
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
