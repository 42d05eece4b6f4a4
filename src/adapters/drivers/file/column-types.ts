import type { DuckDBValue } from '@duckdb/node-api';
import { MAX_DECIMAL_DIGITS } from '../../../core/exact-number.ts';
import { withoutBlanks } from './blanks.ts';
import { quoteName, quoteText, type DuckdbSession } from './duckdb-session.ts';
import { endsWithOffset } from './valid-times.ts';

/** Words that stand for a missing value in columns that are not texts, in upper case. */
const NULL_WORDS = ['NA', 'N/A', '#N/A', 'NULL', '-'];
const IS_NULL_WORD = `upper(v) in (${NULL_WORDS.map(quoteText).join(', ')})`;

/** A column of texts whose type is to be determined: its SQL and its possible types. */
export interface UntypedColumn {
  /** The text, null for a missing value. */
  text: string;
  candidates: Candidate[];
  /** Whether its decimals are already doubles, as in JSON, or some are. */
  doubles: false | 'some' | 'all';
  /** Whether `NULL_WORDS` are missing values. */
  nullWords: boolean;
  /** Whether blanks around values do not count. It is the same for all columns of a table. */
  padded: boolean;
}

/** DuckDB's type of a column, the null words in it, and whether blanks are around its values. */
export interface FoundType {
  type: string;
  nullValues: string[];
  padded: boolean;
}

/** Candidate types in order of preference. */
export const CANDIDATES = ['BOOLEAN', 'BIGINT', 'NUMBER', 'DATE', 'TIMESTAMP'] as const;
export type Candidate = (typeof CANDIDATES)[number];

/** Returns SQL that states whether a text without blanks around it is a value of a candidate, and stays unchanged. */
export const isCandidate = (candidate: Candidate, text: string): string => CHECKS[candidate](text);

/** Number of values for a first guess, so that all others need only one check. */
export const MAX_SAMPLE_VALUES = 50_000;
/** Number of columns checked by one statement, because all values of some thousand rows are in memory. */
const BATCH = 500;
/** A double preserves this many digits of any decimal number; with two more any double can be written. */
const DOUBLE_DIGITS = 15;
const WRITTEN_DOUBLE_DIGITS = 17;
/** SQL of the digits of a number without its sign, point, exponent, and the zeros at its beginning and end. */
export const significant = (text: string): string =>
  `rtrim(ltrim(replace(replace(split_part(lower(${text}), 'e', 1), '.', ''), '-', ''), '0'), '0')`;

/** The first and last moment of the years 1 to 9999. */
const FIRST_MOMENT = `TIMESTAMPTZ '0001-01-01 00:00:00+00'`;
const LAST_MOMENT = `TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'`;

/** Words of booleans that are recognised, and others that stand for them in a column that is declared as `BOOLEAN`. */
const BOOLEANS = ['true', 'false'];
const DECLARED_BOOLEANS = [...BOOLEANS, 't', 'f', 'yes', 'no', 'y', 'n', '1', '0'];

const isWord = (text: string, words: readonly string[]): string =>
  `lower(${text}) in (${words.map(quoteText).join(', ')})`;

/** Returns SQL that states whether a text is a value of a column that is declared as `BOOLEAN`. */
export const isDeclaredBoolean = (text: string): string => isWord(text, DECLARED_BOOLEANS);

/**
 * Whether every text is a value of the type and nothing else. An integer must print as it was, so that `007`, `+1` and
 * numbers past 64 bits stay unchanged. A number below the smallest double is not 0. Dates are `YYYY-MM-DD` only, because `01/02/2024`
 * is ambiguous. Without regular expressions, which are several times as slow.
 */
const CHECKS: Record<Candidate, (v: string) => string> = {
  BOOLEAN: (v) => isWord(v, BOOLEANS),
  BIGINT: (v) => `coalesce(cast(try_cast(${v} as BIGINT) as VARCHAR) = ${v}, false)`,
  NUMBER: (
    v,
  ) => `coalesce(isfinite(try_cast(${v} as DOUBLE)) and (try_cast(${v} as DOUBLE) <> 0 or ${significant(v)} = '')
    and translate(${v}, '0123456789.-+eE', '') = ''
    and (${v})[1] <> '+' and ltrim(${v}, '-.')[1] between '0' and '9'
    and not (ltrim(${v}, '-')[1] = '0' and ltrim(${v}, '-')[2] between '0' and '9'), false)`,
  DATE: (v) => `coalesce(strlen(${v}) = 10 and cast(try_cast(${v} as DATE) as VARCHAR) = ${v}, false)`,
  TIMESTAMP: (v) => `coalesce(try_cast(${v} as TIMESTAMPTZ) between ${FIRST_MOMENT} and ${LAST_MOMENT}
    and translate(${v}, '0123456789-:.+TZ ', '') = ''
    and (${v})[5] = '-' and (${v})[8] = '-' and (${v})[11] in ('', ' ', 'T') and (${v})[12:13] <> '24'
    and case when translate((${v})[12:], '0123456789:. ', '') in ('', 'Z') then true else ${endsWithOffset(v)} end, false)`,
};

/**
 * Returns DuckDB's type for each column, determined by every value in the file, so that nothing is lost and nothing
 * fails later. A column is `VARCHAR` unless all its values are booleans, numbers, dates or times, and so is a column
 * without values. `from` is the source in SQL.
 */
export async function findTypes(session: DuckdbSession, from: string, columns: UntypedColumn[]): Promise<FoundType[]> {
  if (columns.length === 0) return [];
  const rows = Math.ceil(MAX_SAMPLE_VALUES / columns.length);
  const [counted] = await session.rows(`select count(*) from (select 1 from ${from} limit ${rows + 1})`);
  const isSmall = Number(counted![0]) <= rows;
  if (columns.length > BATCH && !isSmall)
    return [
      ...(await findTypes(session, from, columns.slice(0, BATCH))),
      ...(await findTypes(session, from, columns.slice(BATCH))),
    ];
  // The first rows are all rows of a small file.
  const candidates = isSmall
    ? (await firstThatHolds(session, from, columns)).map((found) => found ?? NO_CANDIDATE)
    : await findCandidates(session, from, columns);
  const numbers = candidates.flatMap(({ candidate }, i) => (candidate === 'NUMBER' ? [i] : []));
  const numberTypes = await findNumberTypes(
    session,
    from,
    numbers.map((i) => columns[i]!),
  );
  return candidates.map(({ candidate, ...found }, i) => {
    const type = candidate === 'NUMBER' ? numberTypes[numbers.indexOf(i)]! : (candidate ?? 'VARCHAR');
    return { type, ...found };
  });
}

/** A candidate that fits, undefined for none, and the null words among its values. */
interface FoundCandidate {
  candidate: Candidate | undefined;
  nullValues: string[];
  padded: boolean;
}

const NO_CANDIDATE: FoundCandidate = { candidate: undefined, nullValues: [], padded: false };

/** Returns the first candidate that fits every row. */
async function findCandidates(
  session: DuckdbSession,
  from: string,
  columns: UntypedColumn[],
): Promise<FoundCandidate[]> {
  const sample = await firstThatHolds(
    session,
    `(select * from ${from} limit ${Math.ceil(MAX_SAMPLE_VALUES / columns.length)})`,
    columns,
  );
  // A column without any value in the sample is still undecided.
  const guessed = columns.map((column, i) => ({
    ...column,
    candidates: sample[i] === null ? column.candidates : sample[i]!.candidate ? [sample[i]!.candidate] : [],
  }));
  const certain = await firstThatHolds(session, from, guessed);
  const doubted = columns.map((column, i) => ({
    ...column,
    candidates: certain[i]?.candidate || !sample[i]?.candidate ? [] : column.candidates,
  }));
  const second = doubted.some(({ candidates }) => candidates.length > 0)
    ? await firstThatHolds(session, from, doubted)
    : [];
  return certain.map((found, i) => {
    const candidate = found?.candidate ?? second[i]?.candidate;
    return { candidate, nullValues: found?.nullValues ?? [], padded: found?.padded ?? false };
  });
}

/**
 * SQL of the values of all columns in one list, without nulls: as `k`, the column's number, `u`, and `v` without the
 * blanks that do not count, null for blanks alone. So each check runs once for any number of columns.
 */
export function valuesOf(from: string, columns: Pick<UntypedColumn, 'text' | 'padded'>[]): string {
  const names = columns.map((_, i) => quoteName(String(i)));
  const selected = columns.map(({ text }, i) => `${text} as ${names[i]}`).join(', ');
  const values = `(unpivot (select ${selected} from ${from}) on ${names.join(', ')} into name k value u)`;
  return `(select k, u, ${columns[0]?.padded ? withoutBlanks('u') : 'u'} as v from ${values})`;
}

/** Returns the first candidate that fits, per column; null for a column without values. */
async function firstThatHolds(
  session: DuckdbSession,
  from: string,
  columns: UntypedColumn[],
): Promise<(FoundCandidate | null)[]> {
  const asked = (candidate: Candidate) =>
    columns.flatMap(({ candidates }, i) => (candidates.includes(candidate) ? [`'${i}'`] : []));
  const checks = CANDIDATES.map((candidate) => {
    const names = asked(candidate);
    if (names.length === 0) return 'false';
    const check = isCandidate(candidate, 'v');
    const fits =
      names.length === columns.length ? check : `case when k in (${names.join(', ')}) then ${check} else false end`;
    return `bool_and(${fits}) filter (not w)`;
  });
  const nullWords = columns.flatMap((column, i) => (column.nullWords ? [`'${i}'`] : []));
  const isNull = nullWords.length > 0 ? `k in (${nullWords.join(', ')}) and ${IS_NULL_WORD}` : 'false';
  // Without any check the file is still read, because only reading shows whether it can be read.
  const words = `array_to_string(list(distinct v) filter (w and v is not null), chr(0))`;
  const rows = await session.rows(
    `select k, count(*) filter (not w), ${words}, bool_or(u is distinct from v), ${checks.join(', ')}
    from (select k, u, v, v is null or ${isNull} as w from ${valuesOf(from, columns)}) group by k`,
  );
  const results = new Map(rows.map(([k, ...found]) => [Number(k), found]));
  return columns.map((_, i) => {
    const [values, found, padded, ...held] = results.get(i) ?? [0];
    if (Number(values) === 0) return null;
    const nullValues = found ? String(found).split('\0').toSorted() : [];
    return { candidate: CANDIDATES.find((__, n) => held[n] === true), nullValues, padded: padded === true };
  });
}

/**
 * Determines whether doubles represent the numbers exactly, otherwise which decimal does. Numbers too long for either
 * stay text.
 */
async function findNumberTypes(session: DuckdbSession, from: string, columns: UntypedColumn[]): Promise<string[]> {
  if (columns.length === 0) return [];
  const isNull = columns.some(({ nullWords }) => nullWords) ? IS_NULL_WORD : 'false';
  const rows = await session.rows(
    `select k, ${SIZES} from ${valuesOf(from, columns)} where v is not null and not ${isNull} group by k`,
  );
  const sizes = new Map(rows.map(([k, ...found]) => [Number(k), found]));
  return columns.map(({ doubles }, i) => numberType(sizes.get(i)!, doubles));
}

const DIGITS = `strlen(ltrim(replace(replace(split_part(lower(v), 'e', 1), '.', ''), '-', ''), '0'))`;
const EXPONENT = `contains(lower(v), 'e')`;
/**
 * Significant digits without and with an exponent, digits before and after the point, digits of the longest integer;
 * whether all numbers are digits of doubles, and whether all are whole numbers of 64 bits without a sign.
 */
const SIZES = `max(${DIGITS}) filter (not ${EXPONENT}),
  max(${DIGITS}) filter (${EXPONENT}),
  max(strlen(ltrim(split_part(v, '.', 1), '-'))) filter (not ${EXPONENT}),
  max(strlen(rtrim(split_part(v, '.', 2), '0'))) filter (not ${EXPONENT}),
  max(${DIGITS}) filter (not contains(v, '.') and not ${EXPONENT}),
  bool_and(case when ${DIGITS} <= ${DOUBLE_DIGITS} then true
    else ${significant('v')} = ${significant('cast(try_cast(v as DOUBLE) as VARCHAR)')} end),
  bool_and(coalesce(cast(try_cast(v as UBIGINT) as VARCHAR) = v, false))`;

function numberType(found: DuckDBValue[], doubles: UntypedColumn['doubles']): string {
  const [plain, scientific, whole, scale, integer] = found.map((size) => Number(size ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const [survive, unsigned] = found.slice(-2);
  if (doubles === 'all' ? integer <= DOUBLE_DIGITS : plain <= DOUBLE_DIGITS)
    return scientific <= WRITTEN_DOUBLE_DIGITS || doubles ? 'DOUBLE' : 'VARCHAR';
  if (unsigned === true) return 'UBIGINT';
  if (scientific === 0 && whole + scale <= MAX_DECIMAL_DIGITS) return `DECIMAL(${whole + scale},${scale})`;
  return survive === true ? 'DOUBLE' : 'VARCHAR';
}

/** Returns the kinds of JSON values of each column, e.g. `VARCHAR` and `OBJECT`. `columns` are SQL of JSON. */
export async function jsonKinds(session: DuckdbSession, from: string, columns: string[]): Promise<string[][]> {
  const untyped = columns.map((text) => ({
    text,
    candidates: [],
    doubles: false as const,
    nullWords: false,
    padded: false,
  }));
  const kinds = new Map(
    (
      await session.rows(
        `select k, array_to_string(list(distinct json_type(v)), ',') from ${valuesOf(from, untyped)} group by k`,
      )
    ).map(([k, found]) => [
      Number(k),
      String(found)
        .split(',')
        .filter((kind) => kind !== 'NULL'),
    ]),
  );
  return columns.map((_, i) => kinds.get(i) ?? []);
}
