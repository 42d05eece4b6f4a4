import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { readXlsx } from 'hucre/xlsx';
import type { Row } from '../../src/core/dataset-index.ts';
import type { ExportFormat } from '../../src/core/export-format.ts';
import type { Field } from '../../src/core/fields.ts';

type Kind = Pick<Field, 'name' | 'type' | 'format'>;

/**
 * Reads a file's header and rows with programs that share no code with the writers; values have the JSON forms of
 * `core/dataset-index.ts`.
 */
export async function readBack(
  format: ExportFormat,
  bytes: Buffer,
  fields: readonly Kind[],
): Promise<{ names: string[]; rows: Row[] }> {
  const [names = [], ...rows] = await READERS[format](bytes, fields);
  return {
    names: names as string[],
    rows: rows.map((row) => Object.fromEntries(fields.map(({ name }, i) => [name, row[i] ?? null]))),
  };
}

const READERS: Record<ExportFormat, (bytes: Buffer, fields: readonly Kind[]) => Promise<unknown[][]>> = {
  csv: async (bytes, fields) =>
    csvRecords(bytes.toString()).map((record, i) =>
      i === 0 ? record : record.map((text, column) => fromText(text, fields[column]!)),
    ),
  json: async (bytes) => objects(JSON.parse(bytes.toString()) as Row[]),
  ndjson: async (bytes) =>
    objects(
      bytes
        .toString()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Row),
    ),
  xlsx: async (bytes, fields) =>
    (await readXlsx(bytes)).sheets
      .flatMap(({ rows }, sheet) => (sheet === 0 ? rows : rows.slice(1)))
      .map((row, i) => (i === 0 ? row : row.map((cell, column) => fromCell(cell, fields[column]!)))),
  parquet: parquetRecords,
};

const objects = (rows: Row[]): unknown[][] => [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))];

/** Parses records of RFC 4180; an unquoted empty value is null. */
function csvRecords(text: string): (string | null)[][] {
  const records: (string | null)[][] = [];
  let record: (string | null)[] = [];
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    record.push(quoted === undefined ? bare! || null : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    records.push(record);
    record = [];
  }
  return records;
}

function fromText(text: string | null, { type, format }: Kind): unknown {
  if (text === null || format === 'int64') return text;
  if (format) return text.replace(/\.0$/, '');
  if (type === 'json') return JSON.parse(text);
  if (type === 'boolean') return text === 'true';
  return type === 'integer' || type === 'number' ? Number(text) : text;
}

function fromCell(cell: unknown, { type, format }: Kind): unknown {
  if (cell === null || cell === undefined) return null;
  if (format && typeof cell !== 'string')
    throw new Error(`A number that Excel would spoil is not a text: ${String(cell)}`);
  if (type === 'json') return JSON.parse(cell as string);
  if (cell instanceof Date) return type === 'date' ? cell.toISOString().slice(0, 10) : cell.toISOString();
  return cell;
}

/** Reads with DuckDB, which renames columns that differ only by case: hence by position. */
async function parquetRecords(bytes: Buffer, fields: readonly Kind[]): Promise<unknown[][]> {
  const dir = await mkdtemp(join(tmpdir(), 'dws-parquet-'));
  const instance = await DuckDBInstance.create(':memory:');
  try {
    const file = join(dir, 'export.parquet');
    await writeFile(file, bytes);
    const connection = await instance.connect();
    const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRows();
    const names = (await read(`SELECT name FROM parquet_schema('${file}')`)).slice(1).map(([name]) => String(name));
    if (names.length === 0) return [[]];
    const columns = (await read(`DESCRIBE SELECT * FROM '${file}'`)).map(
      ([name]) => `"${String(name).replaceAll('"', '""')}"`,
    );
    const values = columns.map((column, i) => jsonOf(column, fields[i]!)).join(', ');
    const found = await read(`SELECT CAST(json_array(${values}) AS VARCHAR) FROM '${file}'`);
    return [
      names,
      ...found.map(([json]) =>
        (JSON.parse(String(json)) as unknown[]).map((value, i) => fromParquet(value, fields[i]!)),
      ),
    ];
  } finally {
    instance.closeSync();
    await rm(dir, { recursive: true, force: true });
  }
}

function jsonOf(column: string, { type, format }: Kind): string {
  if (type === 'datetime') return `epoch_ms(${column})`;
  return format || type === 'date' ? `CAST(${column} AS VARCHAR)` : column;
}

const fromParquet = (value: unknown, { type }: Kind): unknown =>
  type === 'datetime' && value !== null ? new Date(value as number).toISOString() : value;
