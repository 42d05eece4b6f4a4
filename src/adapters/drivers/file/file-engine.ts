import { join } from 'node:path';
import { badInput } from '../../../core/errors.ts';
import { databaseFiles } from '../../../core/table-file.ts';
import { countList } from '../count-list.ts';
import { toQueryResult } from '../json-forms.ts';
import { MAX_SHOWN_CHARACTERS, SPILL_FOLDER, TABLE_FILE } from '../query-process/limits.ts';
import type { FileEngine } from '../query-process/work.ts';
import { detectFileConfig } from './detect-config.ts';
import { DuckdbSession } from './duckdb-session.ts';
import type { FileConfig } from './file-config.ts';
import { prepareSelect, type PreparedSelect } from './file-statement.ts';
import { createTable } from './file-table.ts';
import { openSource, type TableSource } from './table-source.ts';
import { writeTable } from './table-writer.ts';
import { writtenColumn } from './value-writer.ts';

/** Opens a table, text or workbook in a query process. */
export function openEngine(file: string, given: Record<string, unknown>): FileEngine {
  let source: Promise<TableSource> | undefined;
  const config = given as unknown as FileConfig;
  const open = async (spill = '', output: string[] = []) =>
    openTable(await (source ??= openTableSource(file, config)), config, spill, output);
  return {
    inspect: async () => inspect(await open()),
    tables: async () => [{ schema: 'main', name: 'data', type: 'table', columns: await columnsOf(await open()) }],
    describe: async (query) => {
      const session = await open();
      try {
        return (await prepareSelect(session, query)).columns;
      } finally {
        session.close();
      }
    },
    rows: async (query, limit) => {
      const session = await open();
      return someRows(session, await prepareSelect(session, query), limit);
    },
    count: async (query, dir) => {
      const session = await open(join(dir, SPILL_FOLDER));
      const { names, from, values } = await prepareSelect(session, query);
      const [counted] = await session.rows(`select ${countList(names)} from ${from}`, values);
      return Number(counted![0]);
    },
    segments: async function* (query, dir, _columns, counter) {
      const table = join(dir, TABLE_FILE);
      const session = await open(join(dir, SPILL_FOLDER), databaseFiles(table));
      const segment = await writeTable(session, await prepareSelect(session, query), table, counter);
      if (segment) yield segment;
    },
    detectConfig: (filename, columnsFrom) => detectFileConfig(file, filename, config, columnsFrom),
  };
}

async function openTableSource(file: string, config: FileConfig): Promise<TableSource> {
  if (!config.format) throw badInput("The datasource's config has no format: csv, json, ndjson, parquet, xlsx or ods");
  return openSource(file, config);
}

/** Opens the file as the table `data` of a session that can access only it and the files of `output`. */
async function openTable(
  source: TableSource,
  config: FileConfig,
  spill: string,
  output: string[],
): Promise<DuckdbSession> {
  // Rows are read in order: a second thread would only read ahead, with twice the memory.
  const session = await DuckdbSession.open([source.path, ...output], spill, spill ? 1 : 2);
  await createTable(session, source, config);
  await session.lock();
  return session;
}

/** Starts DuckDB once, as its first start takes longer. */
export async function prepareEngine(): Promise<void> {
  const session = await DuckdbSession.open([], '');
  await session.rows('select 1');
  session.close();
}

/** Reads the file once to its end. */
async function inspect(session: DuckdbSession): Promise<{ version: string; warnings: string[] }> {
  const [version] = await session.rows('select version()');
  await session.rows('select count(columns(*)) from data');
  return { version: `DuckDB ${String(version![0])}`, warnings: [] };
}

async function columnsOf(
  session: DuckdbSession,
): Promise<{ name: string; type: string; nullable: boolean; primaryKey: boolean }[]> {
  const prepared = await session.prepare('select * from data');
  return Array.from({ length: prepared.columnCount }, (_, i) => ({
    name: prepared.columnName(i),
    type: writtenColumn(prepared.columnType(i)).column.sourceType,
    nullable: true,
    primaryKey: false,
  }));
}

async function someRows(
  session: DuckdbSession,
  { columns, written, names, from, values }: PreparedSelect,
  limit: number,
): Promise<ReturnType<typeof toQueryResult>> {
  const rows: (string | null)[][] = [];
  let characters = 0;
  // The client of DuckDB removes a byte order mark at the beginning of a text.
  const selected = written.map(({ write }, i) => `'.' || ${write(names[i]!)}`);
  // One additional row shows whether there are more.
  for await (const chunk of session.stream(`select ${selected.join(', ')} from ${from} limit ${limit + 1}`, values)) {
    for (const texts of chunk.getRows() as (string | null)[][]) {
      const row = texts.map((text) => text && text.slice(1));
      characters += row.reduce((sum, value) => sum + (value?.length ?? 0), 0);
      if (rows.length === limit || characters > MAX_SHOWN_CHARACTERS) return toQueryResult(columns, rows, true);
      rows.push(row);
    }
  }
  return toQueryResult(columns, rows, false);
}
