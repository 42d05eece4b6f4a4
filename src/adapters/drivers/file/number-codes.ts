import type { FileProblem } from '../../../core/row-source.ts';
import { valuesOf } from './column-types.ts';
import { quoteText, type DuckdbSession } from './duckdb-session.ts';
import type { FileColumn, FileConfig } from './file-config.ts';
import { sampleOf } from './find-readings.ts';
import { MAY_BE_CODES } from './reading-doubts.ts';
import type { TextTable } from './typed-columns.ts';

/**
 * Numbers that could be codes: the pattern of all values of a column, SQL of a further condition, and SQL of a value
 * that shows it.
 */
interface Codes {
  pattern: string;
  holds(text: string): string;
  shows(text: string): string;
}

/** Number of columns in one check, which bounds the memory. */
const BATCH = 500;

/** Digits after the point, null without any. */
const decimals = (text: string): string => `nullif(strlen(split_part(${text}, '.', 2)), 0)`;

const CODES: Codes[] = [
  // Digits, with or without a bare exponent, such as `12E3`. Programs write a sign or a point in exponents of numbers.
  {
    pattern: '[0-9]+(?:[eE][0-9]+)?',
    holds: () => 'true',
    shows: (text) => `regexp_matches(${text}, '[0-9][eE]')`,
  },
  // Versions and sections, such as `1.9` and `1.10`. Programs write zeros at the end only to show equally many decimals.
  {
    pattern: '[0-9]{1,4}(?:[.][0-9]{1,3})?',
    holds: (text) => `min(${decimals(text)}) < max(${decimals(text)})`,
    shows: (text) => `${decimals(text)} > 1 and ends_with(${text}, '0')`,
  },
  // Codes of 12 to 20 digits as spreadsheet programs show them, such as `4.00638E+12`, and shorter ones.
  {
    pattern: '[0-9]{1,11}|[0-9](?:[.,][0-9]{1,5})?E[+]1[1-9]',
    holds: () => 'true',
    shows: (text) => `contains(${text}, 'E+')`,
  },
];

/**
 * Returns the columns of numbers whose values could be codes: as numbers, `12E3` and `1.10` are 12000 and 1.1. Nothing
 * is doubtful where `given` contains types or separators.
 */
export async function numberCodes(
  session: DuckdbSession,
  { from, columns }: TextTable,
  typed: readonly FileColumn[],
  given: FileConfig,
): Promise<FileProblem[]> {
  if ((given.columns ?? given.decimal ?? given.thousands) !== undefined) return [];
  const numbers = columns.filter(
    ({ json, isSpelled = !json }, i) => isSpelled && /^(DOUBLE|DECIMAL)/.test(typed[i]!.type),
  );
  if (numbers.length === 0) return [];
  const texts = numbers.map(({ text }) => `trim(${text})`);
  const sampled = await sampleOf(session, from, texts);
  // Words for missing values are texts.
  const possible = CODES.map(({ pattern }) => {
    const isCode = new RegExp(`^(?:${pattern})$`);
    return texts.flatMap((_, i) => (sampled[i]!.every((value) => isCode.test(value) || !/\d/.test(value)) ? [i] : []));
  });
  const found: Map<number, string>[] = [];
  for (const [n, codes] of CODES.entries()) found.push(await codesIn(session, from, texts, possible[n]!, codes));
  return numbers.flatMap(({ name }, i) => {
    const code = found.find((one) => one.has(i))?.get(i);
    if (code === undefined) return [];
    const message = `Values such as ${code} ${MAY_BE_CODES}`;
    return [{ column: name, message }];
  });
}

/** Returns a value of each column of codes, by its position. Each check is one expression for all columns. */
async function codesIn(
  session: DuckdbSession,
  from: string,
  texts: readonly string[],
  positions: readonly number[],
  { pattern, holds, shows }: Codes,
): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  for (let at = 0; at < positions.length; at += BATCH) {
    const batch = positions.slice(at, at + BATCH);
    const values = valuesOf(
      from,
      batch.map((i) => ({ text: texts[i]!, padded: false })),
    );
    const fits = `regexp_full_match(v, ${quoteText(pattern)}) or not regexp_matches(v, '[0-9]')`;
    const rows = await session.rows(
      `select k, bool_and(${fits}) and ${holds('v')}, any_value(case when ${shows('v')} then v end) from ${values} group by k`,
    );
    for (const [k, areCodes, code] of rows)
      if (areCodes === true && code !== null) found.set(batch[Number(k)]!, String(code));
  }
  return found;
}
