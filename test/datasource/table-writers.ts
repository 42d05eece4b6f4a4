import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { writeOds } from 'hucre/ods';
import { writeXlsx } from 'hucre/xlsx';
import { parquetWriteBuffer } from 'hyparquet-writer';

export type Row = Record<string, string | number | Uint8Array>;
type Bytes = Uint8Array<ArrayBuffer>;

const sheetsOf = (rows: Row[]) => [
  { name: 'One', rows: [Object.keys(rows[0]!), ...rows.map((row) => Object.values(row) as (string | number)[])] },
];

function sqliteOf(rows: Row[]): Bytes {
  const dir = mkdtempSync(join(tmpdir(), 'dws-sqlite-'));
  const database = new DatabaseSync(join(dir, 'db'));
  const names = Object.keys(rows[0]!);
  const types = Object.values(rows[0]!).map((value) => (typeof value === 'number' ? 'integer' : 'text'));
  database.exec(`create table data (${names.map((name, i) => `${name} ${types[i]}`).join(', ')})`);
  const insert = database.prepare(`insert into data values (${names.map(() => '?').join(', ')})`);
  for (const row of rows) insert.run(...Object.values(row));
  database.close();
  const bytes = new Uint8Array(readFileSync(join(dir, 'db')));
  rmSync(dir, { recursive: true });
  return bytes;
}

const textOf = (text: string): Bytes => new Uint8Array(Buffer.from(text));

function parquetOf(rows: Row[]): Bytes {
  const typeOf = (value: unknown) =>
    typeof value === 'string' ? 'STRING' : Number.isInteger(value) ? 'INT32' : 'DOUBLE';
  const columnData = Object.entries(rows[0]!).map(([name, value]) => ({
    name,
    data: rows.map((row) => row[name]!) as (string | number)[],
    type: typeOf(value) as 'STRING' | 'INT32' | 'DOUBLE',
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

/** Writes a table in each format, by the extensions of its files. */
export const TABLE_WRITERS: Record<string, (rows: Row[]) => Bytes | Promise<Bytes>> = {
  csv: (rows) =>
    textOf(
      [Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))].map((line) => `${line.join(';')}\n`).join(''),
    ),
  json: (rows) => textOf(JSON.stringify(rows)),
  ndjson: (rows) => textOf(rows.map((row) => `${JSON.stringify(row)}\n`).join('')),
  xlsx: async (rows) => new Uint8Array(await writeXlsx({ sheets: sheetsOf(rows) })),
  ods: async (rows) => new Uint8Array(await writeOds({ sheets: sheetsOf(rows) })),
  parquet: parquetOf,
  db: sqliteOf,
};
