import { badInput } from '../../../core/errors.ts';
import type { ColumnsFrom } from '../query-process/work.ts';
import { misfits } from './column-fit.ts';
import type { CsvDialect } from './csv-dialect.ts';
import { lineAt, recordsIn } from './csv-scan.ts';
import type { DuckdbSession } from './duckdb-session.ts';
import type { FileColumn, FileConfig } from './file-config.ts';
import { symbolsOf } from './find-readings.ts';
import { isNumeric, readingFor, type TextColumn, type TextTable } from './typed-columns.ts';

const MAX_SHOWN = 100;
/** Number of columns in one check, which bounds the memory. */
const BATCH = 500;
/** Number of groups of columns in one check. */
const MAX_GROUPS = 100;

/** The first value of a table that does not fit the type of its column. `record` counts from 1. */
interface Misfit {
  record: number;
  column: FileColumn;
  value: string;
}

/** Columns that are read in the same way, by their positions: one check is for all of them. */
interface AlikeColumns {
  source: TextColumn;
  column: FileColumn;
  positions: number[];
}

/** Returns the first value that does not fit the type of its column, or would change with it. Reads the whole table. */
async function findMisfit(
  session: DuckdbSession,
  { from, columns }: TextTable,
  config: FileConfig,
  columnsFrom: ColumnsFrom,
): Promise<Misfit | undefined> {
  const given = config.columns!;
  let first: { record: number; i: number } | undefined;
  for (const groups of batchesOf(alikeColumns(columns, given))) {
    const values = numberedValues(
      from,
      groups.flatMap(({ positions }) => positions.map((i) => ({ ...columns[i]!, k: i }))),
    );
    const [found] = await session.rows(firstMisfit(groups, values, config, columnsFrom));
    const [record = Infinity, i = 0] = found ? found.map(Number) : [];
    if (record < (first?.record ?? Infinity)) first = { record, i };
  }
  if (!first) return undefined;
  const { record, i } = first;
  const source = `(select row_number() over () as n, * from ${from})`;
  const [row] = await session.rows(`select ${columns[i]!.text} from ${source} where n = ${record}`);
  return { record, column: given[i]!, value: String(row![0]) };
}

/** Returns SQL of the record and the column of the first value that does not fit; no row for none. */
function firstMisfit(
  groups: readonly AlikeColumns[],
  values: string,
  config: FileConfig,
  columnsFrom: ColumnsFrom,
): string {
  const checks = groups.map(({ source, column }, g) => misfits(source, column, config, columnsFrom, `p${g}`));
  const isIn = groups.map(({ positions }) => `k in (${positions.join(', ')})`);
  // Each part is computed for the columns of its group only.
  const parts = checks.flatMap(({ selected }, g) =>
    selected.map(({ sql, name }) => `case when ${isIn[g]} then ${sql} end as ${name}`),
  );
  const isMisfit = checks.map(({ condition }) => `coalesce(${condition}, false)`).join(' or ');
  // Recognition reads amounts of one currency only.
  const amounts = groups.flatMap(({ column }, g) =>
    columnsFrom === 'former' && isAmount(column, config) ? [isIn[g]!] : [],
  );
  const amount = amounts.length > 0 ? `case when ${amounts.join(' or ')} then u end` : `''`;
  return `
    select coalesce(min(case when ${isMisfit} then n end), case when not ${symbolsOf('amount')} then 1 end) as record, k
    from (select k, n, ${amount} as amount, ${parts.join(', ')} from ${values})
    group by k having record is not null order by record, k limit 1`;
}

/** Groups columns that have other types than text and are read alike. */
function alikeColumns(columns: readonly TextColumn[], given: readonly FileColumn[]): AlikeColumns[] {
  const groups = new Map<string, AlikeColumns>();
  for (const [i, { name: _, key: __, ...column }] of given.entries()) {
    if (column.type === 'VARCHAR') continue;
    const { json, isText = false } = columns[i]!;
    const id = JSON.stringify([isText, column]);
    const source = { name: '', text: 'u', raw: 'r', json, isText };
    const group: AlikeColumns = groups.get(id) ?? { source, column: { name: '', ...column }, positions: [] };
    group.positions.push(i);
    groups.set(id, group);
  }
  return [...groups.values()];
}

/** Divides groups of columns into batches of at most `BATCH` columns and `MAX_GROUPS` groups. */
function batchesOf(groups: readonly AlikeColumns[]): AlikeColumns[][] {
  const batches: AlikeColumns[][] = [];
  let left = 0;
  for (const { positions, ...group } of groups)
    for (let at = 0; at < positions.length;) {
      if (left === 0 || batches.at(-1)!.length === MAX_GROUPS) {
        batches.push([]);
        left = BATCH;
      }
      const part = positions.slice(at, at + left);
      batches.at(-1)!.push({ ...group, positions: part });
      left -= part.length;
      at += part.length;
    }
  return batches;
}

/**
 * SQL of the values of columns in one list, without missing ones: `k`, the position of the column, `n`, the number of
 * the record, `u`, the text, and `r`, the value of JSON. So each check runs once for any number of columns: DuckDB takes
 * time by the square of the expressions.
 */
export function numberedValues(from: string, columns: readonly (TextColumn & { k: number })[]): string {
  const isJson = columns[0]!.json;
  const selected = columns.map(({ k, text, raw }) => {
    const value = isJson ? `case when ${text} is not null then {'u': ${text}, 'r': ${raw}} end` : text;
    return `${value} as "${k}"`;
  });
  const names = columns.map(({ k }) => `"${k}"`).join(', ');
  const numbered = `(select row_number() over () as n, ${selected.join(', ')} from ${from})`;
  const parts = isJson ? 'v.u as u, v.r as r' : 'v as u';
  return `(select cast(k as INTEGER) as k, n, ${parts} from (unpivot ${numbered} on ${names} into name k value v))`;
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
