import { badInput } from '../../../core/errors.ts';
import type { ColumnsFrom } from '../query-process/work.ts';
import { misfits } from './column-fit.ts';
import type { CsvDialect } from './csv-dialect.ts';
import { lineAt, recordsIn } from './csv-scan.ts';
import type { DuckdbSession } from './duckdb-session.ts';
import type { FileColumn, FileConfig } from './file-config.ts';
import { symbolsOf } from './find-readings.ts';
import { isNumeric, readingFor, type TextTable } from './typed-columns.ts';

const MAX_SHOWN = 100;
/** Number of columns in one check, which bounds the memory. */
const BATCH = 500;

/** The first value of a table that does not fit the type of its column. `record` counts from 1. */
interface Misfit {
  record: number;
  column: FileColumn;
  value: string;
}

/** Returns the first value that does not fit the type of its column, or would change with it. Reads the whole table. */
async function findMisfit(
  session: DuckdbSession,
  { from, columns }: TextTable,
  config: FileConfig,
  columnsFrom: ColumnsFrom,
): Promise<Misfit | undefined> {
  const given = config.columns!;
  const typed = given.flatMap(({ type }, i) => (type === 'VARCHAR' ? [] : [i]));
  const source = `(select row_number() over () as n, * from ${from})`;
  let first: { record: number; i: number } | undefined;
  for (let at = 0; at < typed.length; at += BATCH) {
    const batch = typed.slice(at, at + BATCH);
    const checks = batch.map((i) => misfits(columns[i]!, given[i]!, config, columnsFrom, `p${i}`));
    const firsts = batch.map((i, n) => {
      const misfit = `min(case when ${checks[n]!.condition} then n end)`;
      // Recognition reads amounts of one currency only.
      return columnsFrom === 'former' && isAmount(given[i]!, config)
        ? `coalesce(${misfit}, case when not ${symbolsOf(`t${i}`)} then 1 end)`
        : misfit;
    });
    const selected = batch.flatMap((i, n) => [`${columns[i]!.text} as t${i}`, ...checks[n]!.selected]);
    const [found] = await session.rows(
      `select ${firsts.join(', ')} from (select row_number() over () as n, ${selected.join(', ')} from ${from})`,
    );
    for (const [n, record] of found!.entries())
      if (record !== null && Number(record) < (first?.record ?? Infinity))
        first = { record: Number(record), i: batch[n]! };
  }
  if (!first) return undefined;
  const { record, i } = first;
  const [row] = await session.rows(`select ${columns[i]!.text} from ${source} where n = ${record}`);
  return { record, column: given[i]!, value: String(row![0]) };
}

/** Returns whether texts of a column are numbers in a reading. */
const isAmount = (column: FileColumn, config: FileConfig): boolean =>
  isNumeric(column.type) && readingFor(column, config)?.decimal !== undefined;

/**
 * Throws BAD_USER_INPUT with the place of the first value of a file that does not fit the type of its column in
 * `config`, or would change with it. `lineOf` returns the line of a record, if the file has lines.
 */
export async function checkTypes(
  session: DuckdbSession,
  table: TextTable,
  config: FileConfig,
  columnsFrom: ColumnsFrom,
  lineOf?: (record: number) => number,
): Promise<void> {
  const misfit = await findMisfit(session, table, config, columnsFrom);
  if (!misfit) return;
  const { record, column, value } = misfit;
  const shown = value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value;
  throw badInput(
    `${lineOf ? `Line ${lineOf(record)}` : `Record ${record}`} of the file, column ${JSON.stringify(column.name)}: ` +
      `${JSON.stringify(shown)} is not a ${column.type}. Change its type, trim or nullValues in columns`,
  );
}

/** Returns the line of a record below the names. */
export function lineOfRecord(path: string, dialect: CsvDialect, record: number): number {
  let left = record + (dialect.header ? 1 : 0);
  for (const { bytes, isSkipped, offset } of recordsIn(path, dialect)) {
    if (isSkipped || (bytes.length === 0 && dialect.names.length > 1)) continue;
    left -= 1;
    if (left === 0) return lineAt(path, offset);
  }
  return 1;
}
