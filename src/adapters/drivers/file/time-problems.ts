import type { FileProblem } from '../../../core/row-source.ts';
import { withoutBlanks } from './blanks.ts';
import { numberedValues } from './declared-types.ts';
import type { DuckdbSession } from './duckdb-session.ts';
import type { FileColumn, FileConfig } from './file-config.ts';
import { presentText, readingFor, type TextTable } from './typed-columns.ts';

/** Number of columns in one check, which bounds the memory. */
const BATCH = 500;
const SET_TYPE = 'Set its type in columns to VARCHAR to keep the texts';
/** SQL that states whether the text `t` of a time has no time of day, has a zone, or has a time of day without one. */
const IS_DATE = `strlen(t) = 10`;
const HAS_ZONE = `regexp_matches(t, '[T ].*[-+Z]')`;
const IS_LOCAL = `not ${IS_DATE} and not ${HAS_ZONE}`;

/**
 * Returns the columns of times in texts that are written in several ways: with and without a time zone, and dates without a time.
 * `lineOf` returns the line of a record, if the file has lines.
 */
export async function timeProblems(
  session: DuckdbSession,
  { from, columns }: TextTable,
  typed: readonly FileColumn[],
  config: FileConfig,
  lineOf?: (record: number) => number,
): Promise<FileProblem[]> {
  const times = typed.flatMap((column, i) =>
    column.type === 'TIMESTAMP' && readingFor(column, config)?.dateFormat === undefined ? [i] : [],
  );
  const problems: FileProblem[] = [];
  const report = (name: string, record: unknown, message: string) =>
    problems.push({ ...(lineOf && { line: lineOf(Number(record)) }), column: name, message });
  for (let at = 0; at < times.length; at += BATCH) {
    const batch = times.slice(at, at + BATCH);
    const values = numberedValues(
      from,
      batch.map((i) => ({ ...columns[i]!, text: presentText(columns[i]!, typed[i]!), k: i })),
    );
    const rows = await session.rows(
      `select k, bool_or(${HAS_ZONE}), ${firstOf(IS_LOCAL)}, ${firstOf(IS_DATE)}
      from (select k, n, ${withoutBlanks('u')} as t from ${values}) group by k order by k`,
    );
    for (const [k, hasZones, localRecord, local, dateRecord, date] of rows) {
      const { name } = typed[Number(k)]!;
      if (hasZones === true && localRecord !== null)
        report(
          name,
          localRecord,
          `Times without a zone, such as ${String(local)}, are read as UTC among times with one. ${SET_TYPE}`,
        );
      if (dateRecord !== null)
        report(
          name,
          dateRecord,
          `Dates without a time, such as ${String(date)}, are read as midnight in UTC among times. ${SET_TYPE}`,
        );
    }
  }
  return problems;
}

/** Returns SQL of the first record whose text meets a condition, and of the text. */
function firstOf(condition: string): string {
  const record = `case when ${condition} then n end`;
  return `min(${record}), arg_min(case when ${condition} then t end, ${record})`;
}
