import { badInput } from '../../../core/errors.ts';
import type { DetectedFile } from '../../../core/row-source.ts';
import { MAX_COLUMNS } from '../query-process/limits.ts';
import { sniffCsv, type CsvDialect } from './csv-dialect.ts';
import { quoteName, quoteText, type DuckdbSession } from './duckdb-session.ts';
import { unmarkedJson, unmarkedText } from './exact-decimals.ts';
import { tableNames, type FileConfig } from './file-config.ts';
import { headOf } from './file-head.ts';
import { parquetRows } from './parquet-rows.ts';
import type { TableSource } from './table-source.ts';
import { typedColumns, valueOf, type TextTable, type TypedColumns } from './typed-columns.ts';

/**
 * Creates the view `data` of a file and returns its columns, none for Parquet. Throws BAD_USER_INPUT when the file cannot be read as
 * configured.
 */
export async function createTable(
  session: DuckdbSession,
  { path, sheet, marked = false }: TableSource,
  config: FileConfig,
  dialect = config.format === 'csv' ? dialectOf(path, config) : undefined,
): Promise<Partial<TypedColumns> & Pick<TypedColumns, 'problems'>> {
  if (config.format === 'parquet') {
    await session.run(`create view data as ${await parquetRows(session, path)}`);
    return { problems: [] };
  }
  const table = dialect
    ? csvTable(path, config, dialect)
    : sheet
      ? sheetTable(path, config, sheet.names)
      : await jsonTable(session, path, config, marked);
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
 * Determines the dialect of a CSV file, as far as `given` does not: the first one in which it can be read to its end.
 * Throws BAD_USER_INPUT with the error of the most likely one.
 */
export async function detectCsvConfig(session: DuckdbSession, path: string, given: FileConfig): Promise<DetectedFile> {
  const { text, whole } = headOf(path);
  let firstError: unknown;
  for (const found of sniffCsv(text, whole, given)) {
    try {
      const { names: _, ...dialect } = found;
      const config = { ...given, ...dialect };
      const { columns, problems } = await createTable(session, { path }, config, found);
      // Columns that are given are not determined by the values, which are read here only to find errors.
      if (given.columns) await session.rows('select count(columns(*)) from data');
      return { config: { ...config, columns }, problems };
    } catch (error) {
      firstError ??= error;
    }
  }
  throw firstError;
}

/** Returns the dialect, where configuration precedes recognition. */
function dialectOf(path: string, config: FileConfig): CsvDialect {
  const { delimiter, quote, escape, skip, header, columns } = config;
  if (delimiter !== undefined && header !== undefined && skip !== undefined && columns)
    return {
      delimiter,
      quote: quote ?? '"',
      escape: escape ?? quote ?? '"',
      skip,
      header,
      names: columns.map(({ name }) => name),
    };
  const { text, whole } = headOf(path);
  const [sniffed] = sniffCsv(text, whole, config);
  return sniffed!;
}

function csvTable(
  path: string,
  { columns, ragged, nullValues }: FileConfig,
  { delimiter, quote, escape, skip, header, names }: CsvDialect,
): TextTable {
  const wanted = columns ? columns.map(({ name }) => name) : names;
  if (wanted.length === 0) throw badInput('The file has no rows');
  if (wanted.length > MAX_COLUMNS)
    throw badInput(`The file has ${wanted.length} columns; at most ${MAX_COLUMNS} are possible`);
  const types = wanted.map((_, i) => `'c${i}': 'VARCHAR'`).join(', ');
  const from =
    `read_csv(${quoteText(path)}, columns = {${types}}, auto_detect = false, skip = ${skip}, header = ${header}, ` +
    `delim = ${quoteText(delimiter)}, quote = ${quoteText(quote)}, ` +
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

/** A column of JSON objects: its name, and its key in SQL. */
interface JsonColumn {
  name: string;
  key: string;
}

async function jsonTable(
  session: DuckdbSession,
  path: string,
  config: FileConfig,
  marked: boolean,
): Promise<TextTable> {
  const { format, columns, nullValues } = config;
  const found = columns
    ? columns.map(({ name, key = name }) => ({ name, key }))
    : await jsonColumns(session, objects(path, format));
  const { from, sources } = jsonSource(path, format, found);
  return {
    from,
    columns: found.map(({ name, key }, i) => {
      const [raw, text] = [quoteName(sources[i]!), jsonText(sources[i]!, nullValues)];
      return {
        name,
        ...(key !== name && { key }),
        json: true,
        ...(marked ? { raw: unmarkedJson(raw), text: unmarkedText(raw, text), marked } : { raw, text }),
      };
    }),
  };
}

/**
 * Returns SQL of the values of keys, and the name of each. The reader of objects by columns is faster, but SQL ignores
 * case, and has no empty names.
 */
function jsonSource(
  path: string,
  format: FileConfig['format'],
  columns: JsonColumn[],
): { from: string; sources: string[] } {
  const keys = columns.map(({ key }) => key);
  if (!keys.includes('') && new Set(keys.map((key) => key.toLowerCase())).size === keys.length) {
    const types = keys.map((key) => `${quoteText(key)}: 'JSON'`).join(', ');
    const layout = format === 'json' ? 'array' : 'newline_delimited';
    return {
      from: `read_json(${quoteText(path)}, columns = {${types}}, format = '${layout}', compression = 'uncompressed')`,
      sources: keys,
    };
  }
  const sources = keys.map((_, i) => `k${i}`);
  const values = keys.map(
    (key, i) => `nullif(json_extract(json, ${quoteText(pointerTo(key))}), 'null') as ${sources[i]!}`,
  );
  return { from: `(select ${values.join(', ')} from ${objects(path, format)})`, sources };
}

/** Returns the JSON pointer of a key. */
const pointerTo = (key: string): string => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

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

/** Returns the keys of the objects in the order of their first occurrence, and their names as columns. */
async function jsonColumns(session: DuckdbSession, from: string): Promise<JsonColumn[]> {
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
  const names = tableNames(keys);
  return keys.map((key, i) => ({ name: names[i]!, key }));
}
