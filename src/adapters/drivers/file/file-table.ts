import { badInput } from '../../../core/errors.ts';
import type { DetectedFile } from '../../../core/row-source.ts';
import { MAX_COLUMNS } from '../query-process/limits.ts';
import { sniffCsv, type CsvDialect } from './csv-dialect.ts';
import { lineAt, recordsIn } from './csv-scan.ts';
import type { CsvSource } from './csv-source.ts';
import { checkDeclaredTypes } from './declared-types.ts';
import { DuckdbSession, quoteName, quoteText } from './duckdb-session.ts';
import type { FileConfig } from './file-config.ts';
import { headOf } from './file-head.ts';
import { openCsv, type TableSource } from './table-source.ts';
import { typedColumns, valueOf, type TextTable, type TypedColumns } from './typed-columns.ts';

/**
 * Creates the view `data` of a file and returns its columns, none for Parquet. Throws BAD_USER_INPUT when the file cannot be read as
 * configured.
 */
export async function createTable(
  session: DuckdbSession,
  { path, sheet, csv }: TableSource,
  config: FileConfig,
): Promise<Partial<TypedColumns> & Pick<TypedColumns, 'problems'>> {
  if (config.format === 'parquet') {
    await session.run(`create view data as select * from read_parquet(${quoteText(path)}, hive_partitioning = false)`);
    return { problems: [] };
  }
  const table = csv
    ? csvTable(csv, config)
    : sheet
      ? sheetTable(path, config, sheet.names)
      : await jsonTable(session, path, config);
  const { columns, problems } = config.columns
    ? { columns: config.columns, problems: [] }
    : await typedColumns(session, table, config);
  const selected = table.columns.map(
    (column, i) => `${valueOf(column, columns[i]!, config)} as ${quoteName(columns[i]!.name)}`,
  );
  await session.run(`create or replace view data as select ${selected.join(', ')} from ${table.from}`);
  return { columns, problems };
}

/**
 * Determines the dialect of a CSV file in UTF-8, as far as `given` does not: the first one in which it can be read to its
 * end. Throws BAD_USER_INPUT with the error of the most likely one.
 */
export async function detectCsvConfig(path: string, given: FileConfig): Promise<DetectedFile> {
  const { text, whole } = headOf(path);
  let firstError: unknown;
  for (const found of sniffCsv(text, whole, given)) {
    try {
      const { names: _, problems: doubts, ...dialect } = found;
      const config = { ...given, ...dialect };
      const source = openCsv(path, found);
      const session = await DuckdbSession.open([source.path], '');
      const { columns, problems } = await createTable(session, source, config);
      // Columns that are given are not determined by the values.
      if (given.columns) await checkDeclaredTypes(session, csvTable(source.csv!, config), path, found, config);
      await checkRows(session, path, found);
      return { config: { ...config, columns }, problems: [...doubts, ...problems] };
    } catch (error) {
      firstError ??= error;
    }
  }
  throw firstError;
}

/** Throws BAD_USER_INPUT if the file has a text below its names and no row comes of it. */
async function checkRows(session: DuckdbSession, path: string, dialect: CsvDialect): Promise<void> {
  const rows = await session.rows('select 1 from data limit 1');
  if (rows.length > 0) return;
  let names = dialect.header ? 1 : 0;
  for (const { bytes, isSkipped, offset } of recordsIn(path, dialect)) {
    if (isSkipped || bytes.length === 0) continue;
    if (names === 0)
      throw badInput(`Line ${lineAt(path, offset)} of the file: no row can be read below the column names`);
    names -= 1;
  }
}

/** Returns a line end as DuckDB's setting of it. */
const escaped = (end: string): string => end.replace('\r', String.raw`\r`).replace('\n', String.raw`\n`);

function csvTable({ path, dialect, lineEnd }: CsvSource, { columns, ragged, nullValues }: FileConfig): TextTable {
  const { delimiter, quote, escape, skip, header, names } = dialect;
  const wanted = columns ? columns.map(({ name }) => name) : names;
  if (wanted.length === 0) throw badInput('The file has no rows');
  if (wanted.length > MAX_COLUMNS)
    throw badInput(`The file has ${wanted.length} columns; at most ${MAX_COLUMNS} are possible`);
  const types = wanted.map((_, i) => `'c${i}': 'VARCHAR'`).join(', ');
  const from =
    `read_csv(${quoteText(path)}, columns = {${types}}, auto_detect = false, skip = ${skip}, header = ${header}, ` +
    `new_line = ${quoteText(escaped(lineEnd))}, delim = ${quoteText(delimiter)}, quote = ${quoteText(quote)}, ` +
    `escape = ${quoteText(quote && escape)}, nullstr = [${['', ...(nullValues ?? [])].map(quoteText).join(', ')}], ` +
    (ragged ? 'null_padding = true, parallel = false, ' : '') +
    `allow_quoted_nulls = false, compression = 'none', encoding = 'utf-8')`;
  return {
    from,
    columns: wanted.map((name, i) => ({ name, raw: `c${i}`, text: `nullif(c${i}, '')`, json: false })),
  };
}

const objects = (path: string, format: FileConfig['format']) =>
  `read_json_objects(${quoteText(path)}, format = '${format === 'json' ? 'array' : 'newline_delimited'}', compression = 'uncompressed')`;

async function jsonTable(session: DuckdbSession, path: string, config: FileConfig): Promise<TextTable> {
  const { format, columns, nullValues } = config;
  const keys = columns ? columns.map(({ name }) => name) : await jsonKeys(session, objects(path, format));
  const types = keys.map((key) => `${quoteText(key)}: 'JSON'`).join(', ');
  const layout = format === 'json' ? 'array' : 'newline_delimited';
  const from = `read_json(${quoteText(path)}, columns = {${types}}, format = '${layout}', compression = 'uncompressed')`;
  return {
    from,
    columns: keys.map((name) => ({ name, raw: quoteName(name), text: jsonText(name, nullValues), json: true })),
  };
}

/** Returns the table of a sheet's rows (sheet-file.ts). */
function sheetTable(path: string, { columns, nullValues }: FileConfig, names: string[]): TextTable {
  const width = columns?.length ?? names.length;
  if (width < names.length) throw badInput(`The sheet has ${names.length} columns, and config.columns has ${width}`);
  const keys = Array.from({ length: width }, (_, i) => `c${i}`);
  const types = keys.map((key) => `${key}: 'JSON'`).join(', ');
  return {
    from: `read_json(${quoteText(path)}, columns = {${types}}, format = 'newline_delimited', compression = 'uncompressed')`,
    columns: keys.map((key, i) => ({
      name: columns?.[i]!.name ?? names[i]!,
      raw: key,
      text: jsonText(key, nullValues),
      json: true,
    })),
  };
}

/** Returns SQL of a value of JSON as text, null for the words that stand for a missing value. */
function jsonText(name: string, nullValues: readonly string[] = []): string {
  const text = `(${quoteName(name)} ->> '$')`;
  return nullValues.length > 0
    ? `case when ${text} not in (${nullValues.map(quoteText).join(', ')}) then ${text} end`
    : text;
}

/** Returns the keys of the objects in the order of their first occurrence. */
async function jsonKeys(session: DuckdbSession, from: string): Promise<string[]> {
  const [odd] = await session.rows(
    `select n from (select row_number() over () as n, json from ${from}) where json_type(json) <> 'OBJECT' limit 1`,
  );
  if (odd) throw badInput(`Record ${String(odd[0])} of the file is not a JSON object`);
  const rows = await session.rows(`select key
      from (
        select row_number() over () as n, unnest(json_keys(json)) as key, generate_subscripts(json_keys(json), 1) as i
        from ${from})
    group by key order by min(n * 1000000 + i) limit ${MAX_COLUMNS + 1}`);
  const keys = rows.map(([key]) => String(key));
  if (keys.length === 0) throw badInput('The file has no values');
  if (keys.length > MAX_COLUMNS) throw badInput(`The objects of the file have more than ${MAX_COLUMNS} keys`);
  const double = keys.find((key, i) => keys.findIndex((other) => other.toLowerCase() === key.toLowerCase()) < i);
  if (double !== undefined)
    throw badInput(`The key ${JSON.stringify(double)} differs from another only in case, which SQL ignores`);
  if (keys.includes('')) throw badInput('An object of the file has an empty key');
  return keys;
}
