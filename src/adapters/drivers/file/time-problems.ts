import type { FileProblem } from '../../../core/row-source.ts';
import { withoutBlanks } from './blanks.ts';
import type { DuckdbSession } from './duckdb-session.ts';
import type { FileColumn, FileConfig } from './file-config.ts';
import { presentText, readingFor, type TextTable } from './typed-columns.ts';

/** Number of columns in one check, which bounds the memory. */
const BATCH = 500;
const SET_TYPE = 'Set its type in columns to VARCHAR to keep the texts';

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
    const texts = batch.map((i, n) => `${withoutBlanks(presentText(columns[i]!, typed[i]!))} as t${n}`);
    const found = batch.flatMap((_, n) => {
      const [isDate, hasZone] = [`strlen(t${n}) = 10`, `regexp_matches(t${n}, '[T ].*[-+Z]')`];
      const isLocal = `not ${isDate} and not ${hasZone}`;
      return [`bool_or(${hasZone})`, ...firstOf(`t${n}`, isLocal), ...firstOf(`t${n}`, isDate)];
    });
    const [row] = await session.rows(
      `select ${found.join(', ')} from (select row_number() over () as n, ${texts.join(', ')} from ${from})`,
    );
    for (const [n, i] of batch.entries()) {
      const [hasZones, localRecord, local, dateRecord, date] = row!.slice(5 * n);
      const { name } = typed[i]!;
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

/** Returns SQL of the first record with a text that meets a condition, and of the text. */
function firstOf(text: string, condition: string): string[] {
  const record = `case when ${condition} then n end`;
  return [`min(${record})`, `arg_min(case when ${condition} then ${text} end, ${record})`];
}
