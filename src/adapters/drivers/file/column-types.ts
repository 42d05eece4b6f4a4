import type { DuckDBValue } from '@duckdb/node-api';
import { quoteName, type DuckdbSession } from './duckdb-session.ts';

/** A column of texts whose type is to be found: its SQL, and which types it may have. */
export interface UntypedColumn {
  /** The text, null where it says nothing. */
  text: string;
  candidates: Candidate[];
  /** Whether its numbers are doubles already, as JSON's are. */
  doubles: boolean;
}

/** In the order in which they are preferred. */
export const CANDIDATES = ['BOOLEAN', 'BIGINT', 'NUMBER', 'DATE', 'TIMESTAMP'] as const;
export type Candidate = (typeof CANDIDATES)[number];

/** Values from which a first guess is made, so that all others are asked one thing only. */
const SAMPLE = 50_000;
/** Columns asked about at once: all values of some thousand rows are in memory. */
const BATCH = 500;
const MAX_DIGITS = 38;
/** Digits that a double keeps of any decimal number, and that are enough to write any double. */
const DOUBLE_DIGITS = 15;
const WRITTEN_DOUBLE_DIGITS = 17;

/**
 * Whether every text says a value of the type and nothing else. An integer must come out as it went in, so that `007`, `+1` and what is past 64 bits stay what
 * they are; dates are `YYYY-MM-DD` only, because `01/02/2024` has two meanings. Without regular expressions, which are several times as slow.
 */
const CHECKS: Record<Candidate, string> = {
  BOOLEAN: `lower(v) in ('true', 'false')`,
  BIGINT: `coalesce(cast(try_cast(v as BIGINT) as VARCHAR) = v, false)`,
  NUMBER: `coalesce(isfinite(try_cast(v as DOUBLE)) and translate(v, '0123456789.-+eE', '') = '' and v[1] <> '+' and not ends_with(v, '.')
    and ltrim(v, '-')[1] between '0' and '9' and not (ltrim(v, '-')[1] = '0' and ltrim(v, '-')[2] between '0' and '9'), false)`,
  DATE: `coalesce(strlen(v) = 10 and cast(try_cast(v as DATE) as VARCHAR) = v, false)`,
  TIMESTAMP: `coalesce(try_cast(v as TIMESTAMPTZ) is not null and translate(v, '0123456789-:.+TZ ', '') = '' and v[5] = '-' and v[8] = '-' and v[11] in ('', ' ', 'T') and v[12:13] <> '24', false)`,
};

/**
 * DuckDB's type for each column, decided by every value in the file: nothing is lost and nothing fails late. What is no truth value, number, date or time
 * throughout is `VARCHAR`, and so is a column without any value.
 * @param from what to read, in SQL
 */
export async function findTypes(session: DuckdbSession, from: string, columns: UntypedColumn[]): Promise<string[]> {
  if (columns.length > BATCH)
    return [
      ...(await findTypes(session, from, columns.slice(0, BATCH))),
      ...(await findTypes(session, from, columns.slice(BATCH))),
    ];
  const candidates = await findCandidates(session, from, columns);
  const numbers = candidates.flatMap((candidate, i) => (candidate === 'NUMBER' ? [i] : []));
  const numberTypes = await findNumberTypes(
    session,
    from,
    numbers.map((i) => columns[i]!),
  );
  return candidates.map((candidate, i) =>
    candidate === 'NUMBER' ? numberTypes[numbers.indexOf(i)]! : (candidate ?? 'VARCHAR'),
  );
}

/** The first candidate that holds for every row, or undefined. */
async function findCandidates(
  session: DuckdbSession,
  from: string,
  columns: UntypedColumn[],
): Promise<(Candidate | undefined)[]> {
  const sample = await firstThatHolds(
    session,
    `(select * from ${from} limit ${Math.ceil(SAMPLE / columns.length)})`,
    columns,
  );
  // A column without any value in the sample has told nothing yet.
  const guessed = columns.map((column, i) => ({
    ...column,
    candidates: sample[i] === null ? column.candidates : sample[i] ? [sample[i]] : [],
  }));
  const certain = await firstThatHolds(session, from, guessed);
  const doubted = columns.map((column, i) => ({
    ...column,
    candidates: certain[i] ? [] : sample[i] ? column.candidates : [],
  }));
  const second = doubted.some(({ candidates }) => candidates.length > 0)
    ? await firstThatHolds(session, from, doubted)
    : [];
  return certain.map((candidate, i) => candidate ?? second[i] ?? undefined);
}

/** The values of all columns one below the other, without nulls: as `k`, the column's number, and `v`. So a question is asked once, however many columns there are. */
function valuesOf(from: string, columns: UntypedColumn[]): string {
  const names = columns.map((_, i) => quoteName(String(i)));
  return `(unpivot (select ${columns.map(({ text }, i) => `${text} as ${names[i]}`).join(', ')} from ${from}) on ${names.join(', ')} into name k value v)`;
}

/** For each column the first candidate that holds; undefined when none does, null when there was no value to tell by. */
async function firstThatHolds(
  session: DuckdbSession,
  from: string,
  columns: UntypedColumn[],
): Promise<(Candidate | undefined | null)[]> {
  const asked = (candidate: Candidate) =>
    columns.flatMap(({ candidates }, i) => (candidates.includes(candidate) ? [`'${i}'`] : []));
  const checks = CANDIDATES.map((candidate) => {
    const names = asked(candidate);
    if (names.length === 0) return 'false';
    return `bool_and(${names.length === columns.length ? CHECKS[candidate] : `case when k in (${names.join(', ')}) then ${CHECKS[candidate]} else false end`})`;
  });
  // Without any check the file is read all the same: reading it is what finds out whether it can be read.
  const answers = new Map(
    (await session.rows(`select k, ${checks.join(', ')} from ${valuesOf(from, columns)} group by k`)).map(
      ([k, ...held]) => [Number(k), held],
    ),
  );
  return columns.map((_, i) => (answers.has(i) ? CANDIDATES.find((__, n) => answers.get(i)![n] === true) : null));
}

/** Whether doubles hold the numbers exactly, or which decimal does; numbers too long for either stay text. */
async function findNumberTypes(session: DuckdbSession, from: string, columns: UntypedColumn[]): Promise<string[]> {
  if (columns.length === 0) return [];
  const sizes = new Map(
    (await session.rows(`select k, ${SIZES} from ${valuesOf(from, columns)} group by k`)).map(([k, ...found]) => [
      Number(k),
      found,
    ]),
  );
  return columns.map(({ doubles }, i) => numberType(sizes.get(i)!, doubles));
}

const DIGITS = `strlen(ltrim(replace(replace(split_part(lower(v), 'e', 1), '.', ''), '-', ''), '0'))`;
const EXPONENT = `contains(lower(v), 'e')`;
/** Significant digits without and with an exponent, digits before and after the point, digits of the longest whole number. */
const SIZES = `max(${DIGITS}) filter (not ${EXPONENT}), max(${DIGITS}) filter (${EXPONENT}), max(strlen(ltrim(split_part(v, '.', 1), '-'))) filter (not ${EXPONENT}),
  max(strlen(split_part(v, '.', 2))) filter (not ${EXPONENT}), max(${DIGITS}) filter (not contains(v, '.') and not ${EXPONENT})`;

function numberType(sizes: DuckDBValue[], doubles: boolean): string {
  const [plain, scientific, whole, scale, integer] = sizes.map((size) => Number(size ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  if (doubles ? integer <= DOUBLE_DIGITS : plain <= DOUBLE_DIGITS)
    return scientific <= WRITTEN_DOUBLE_DIGITS || doubles ? 'DOUBLE' : 'VARCHAR';
  if (scientific === 0 && whole + scale <= MAX_DIGITS) return `DECIMAL(${whole + scale},${scale})`;
  return 'VARCHAR';
}

/** Which kinds of JSON values each column has, e.g. `VARCHAR` and `OBJECT`. `columns` are SQL of JSON. */
export async function jsonKinds(session: DuckdbSession, from: string, columns: string[]): Promise<string[][]> {
  const untyped = columns.map((text) => ({ text, candidates: [], doubles: false }));
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
