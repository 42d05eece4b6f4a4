import { DuckDBTypeId } from '@duckdb/node-api';
import { badInput } from '../../../core/errors.ts';
import type { DetectedFile } from '../../../core/row-source.ts';
import { MAX_COLUMNS } from '../query-process/limits.ts';
import type { ColumnsFrom } from '../query-process/work.ts';
import { sniffCsv, type CsvDialect } from './csv-dialect.ts';
import { commentProblems, escapeProblems } from './csv-problems.ts';
import { quoteProblems } from './csv-quotes.ts';
import { lineAt, MAX_RECORD_BYTES, recordsIn } from './csv-scan.ts';
import type { CsvSource } from './csv-source.ts';
import { checkTypes, lineOfRecord } from './declared-types.ts';
import { quoteName, quoteText, DuckdbSession } from './duckdb-session.ts';
import { unmarkedJson, unmarkedText } from './exact-decimals.ts';
import { renamedProblems, tableNames, type FileConfig } from './file-config.ts';
import { headOf } from './file-head.ts';
import { numberCodes } from './number-codes.ts';
import { parquetRows } from './parquet-rows.ts';
import { type TableSource, openCsv } from './table-source.ts';
import { timeProblems } from './time-problems.ts';
import { typedColumns, valueOf, type TextTable, type TypedColumns } from './typed-columns.ts';
import { KEEP_TEXTS, valueProblems, type ValueSource } from './value-problems.ts';

/**
 * Creates the view `data` of a file and returns its columns as they are read and as texts, none for Parquet. Throws
 * BAD_USER_INPUT when the file cannot be read as configured.
 */
export async function createTable(
  session: DuckdbSession,
  { path, sheet, csv, marked = false }: TableSource,
  config: FileConfig,
): Promise<Partial<TypedColumns> & Pick<TypedColumns, 'problems'> & { source?: ValueSource; table?: TextTable }> {
  if (config.format === 'parquet') {
    const { rows, problems } = await parquetRows(session, path);
    await session.run(`create view data as ${rows}`);
    return { problems };
  }
  const table = csv
    ? csvTable(csv, config)
    : sheet
      ? sheetTable(path, config, sheet, marked)
      : await jsonTable(session, path, config, marked);
  const { columns, problems } = config.columns
    ? { columns: config.columns, problems: [] }
    : await typedColumns(session, table, config);
  const keys = config.columns ? [] : table.columns.map(({ name, key = name }) => key);
  const renamed = renamedProblems(
    keys,
    keys.map((_, i) => table.columns[i]!.name),
  );
  const values = table.columns.map((column, i) => ({
    value: valueOf(column, columns[i]!, config),
    ...(columns[i]!.type === 'TIMESTAMP' && { text: column.text }),
  }));
  const selected = values.map(({ value }, i) => `${value} as ${quoteName(columns[i]!.name)}`);
  await session.run(`create or replace view data as select ${selected.join(', ')} from ${table.from}`);
  return { columns, problems: [...renamed, ...problems], table, source: { from: table.from, columns: values } };
}

/**
 * Determines the dialect of a CSV file in UTF-8, as far as `given` does not: the first one in which it can be read to its
 * end. Throws BAD_USER_INPUT with the error of the most likely one.
 */
export async function detectCsvConfig(
  path: string,
  given: FileConfig,
  columnsFrom: ColumnsFrom,
): Promise<DetectedFile> {
  const { text, whole } = headOf(path);
  let firstError: unknown;
  for (const found of sniffCsv(text, whole, given)) {
    try {
      const { names: _, problems: doubts, ...dialect } = found;
      const config = { ...given, ...dialect };
      const source = openCsv(path, found);
      const session = await DuckdbSession.open([source.path], '');
      const { columns, problems, table, source: read } = await createTable(session, source, config);
      // Columns that are given are not determined by the values.
      const isDeclared = given.columns !== undefined && columnsFrom === 'user';
      const lineOf = (record: number) => lineOfRecord(path, found, record);
      if (given.columns) await checkTypes(session, table!, config, columnsFrom, lineOf);
      await checkRows(session, path, found);
      const types = given.columns ? undefined : [DuckDBTypeId.TIMESTAMP];
      const changed = await valueProblems(session, { hint: KEEP_TEXTS, types, source: read });
      const codes = await numberCodes(session, table!, columns!, given);
      const times = isDeclared ? [] : await timeProblems(session, table!, columns!, config, lineOf);
      const remarks = [
        ...(given.comment === undefined ? commentProblems(source.csv!) : []),
        ...escapeProblems(source.csv!),
        ...(given.quote === undefined ? await quoteProblems(session, table!.from, source.csv!) : []),
      ];
      return {
        config: { ...config, columns },
        problems: [...doubts, ...remarks, ...problems, ...codes, ...times, ...changed],
      };
    } catch (error) {
      firstError ??= error;
    }
  }
  throw firstError;
}

/** Throws BAD_USER_INPUT if the file has a text below its names and it results in no row. */
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
    `max_line_size = ${MAX_RECORD_BYTES}, buffer_size = ${2 * MAX_RECORD_BYTES}, ` +
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
    columns: found.map(({ name, key }, i) => ({
      name,
      ...(key !== name && { key }),
      json: true,
      ...jsonValues(sources[i]!, nullValues, marked),
    })),
  };
}

/** Returns SQL of the values of a column of JSON. */
function jsonValues(
  name: string,
  nullValues: readonly string[] | undefined,
  marked: boolean,
): Pick<TextTable['columns'][number], 'raw' | 'text' | 'marked'> {
  const [raw, text] = [quoteName(name), jsonText(name, nullValues)];
  return marked ? { raw: unmarkedJson(raw), text: unmarkedText(raw, text), marked } : { raw, text };
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
  if (!readsObjects(keys)) {
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

/** Returns whether objects with these keys are read whole. */
const readsObjects = (keys: readonly string[]): boolean =>
  keys.includes('') || new Set(keys.map((key) => key.toLowerCase())).size < keys.length;

/** Returns the JSON pointer of a key. */
const pointerTo = (key: string): string => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Returns the table of a sheet's rows (sheet-file.ts). */
function sheetTable(
  path: string,
  { columns, nullValues }: FileConfig,
  { names, texts, written, pointed }: NonNullable<TableSource['sheet']>,
  marked: boolean,
): TextTable {
  const width = columns?.length ?? names.length;
  if (width < names.length) throw badInput(`The sheet has ${names.length} columns, and config.columns has ${width}`);
  const keys = Array.from({ length: width }, (_, i) => `c${i}`);
  const types = keys.map((key) => `${key}: 'JSON'`).join(', ');
  return {
    from: `read_json(${quoteText(path)}, columns = {${types}}, format = 'newline_delimited', compression = 'uncompressed')`,
    columns: keys.map((key, i) => {
      const values = jsonValues(key, nullValues, marked || written.has(i));
      return {
        name: columns?.[i]!.name ?? names[i]!,
        json: true,
        ...(texts.has(i) && { isText: true }),
        ...(written.has(i) && { isSpelled: true }),
        // DuckDB takes long for this SQL, if many columns have it.
        ...(pointed.has(i) ? sheetValues(values, quoteName(key)) : values),
      };
    }),
  };
}

/**
 * Adds SQL of the text that a column of texts shows: a whole number loses the point that marks it for a column of
 * decimals.
 */
const sheetValues = <T extends { text: string }>(values: T, json: string): T & { shown: string } => ({
  ...values,
  shown: `case when json_type(${json}) = 'DOUBLE' and ends_with(${values.text}, '.0') then ${values.text}[:-3] else ${values.text} end`,
});

/** Returns SQL of a value of JSON as text, null for the words that stand for a missing value. */
function jsonText(name: string, nullValues: readonly string[] = []): string {
  const text = `(${quoteName(name)} ->> '$')`;
  return nullValues.length > 0
    ? `case when ${text} not in (${nullValues.map(quoteText).join(', ')}) then ${text} end`
    : text;
}

/** Throws BAD_USER_INPUT for a file of JSON with a record that is not an object. */
export const checkRecords = (session: DuckdbSession, path: string, { format }: FileConfig): Promise<void> =>
  checkObjects(session, objects(path, format));

async function checkObjects(session: DuckdbSession, from: string): Promise<void> {
  const [odd] = await session.rows(
    `select n, json_type(json) from (select row_number() over () as n, json from ${from})
    where json_type(json) <> 'OBJECT' limit 1`,
  );
  if (!odd) return;
  const [record, type] = odd.map(String);
  throw badInput(
    `Record ${record} of the file is not a JSON object, but ${KINDS[type!] ?? 'a number'}. ` +
      'Each row must be an object with the names of the columns, such as {"name": "Ann", "age": 5}',
  );
}

/** Values of JSON that are not numbers or objects. */
const KINDS: Readonly<Record<string, string>> = {
  ARRAY: 'an array',
  VARCHAR: 'a text',
  BOOLEAN: 'a boolean',
  NULL: 'null',
};

/** Returns the keys of the objects in the order of their first occurrence, and their names as columns. */
async function jsonColumns(session: DuckdbSession, from: string): Promise<JsonColumn[]> {
  await checkObjects(session, from);
  // The client of DuckDB removes a byte order mark at the beginning of a text.
  const rows = await session.rows(`select '.' || key
      from (
        select row_number() over () as n, unnest(json_keys(json)) as key, generate_subscripts(json_keys(json), 1) as i
        from ${from})
    group by key order by min(n * 1000000 + i) limit ${MAX_COLUMNS + 1}`);
  const keys = rows.map(([key]) => String(key).slice(1));
  if (keys.length === 0) throw badInput('The file has no values');
  if (keys.length > MAX_COLUMNS) throw badInput(`The objects of the file have more than ${MAX_COLUMNS} keys`);
  const names = tableNames(keys);
  return keys.map((key, i) => ({ name: names[i]!, key }));
}
