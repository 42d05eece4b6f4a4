import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { distinctNames, type Column } from '../../../core/fields.ts';
import type { BoundQuery, DetectedFile, Segment } from '../../../core/row-source.ts';
import { CsvSegmentWriter } from '../csv-encoder.ts';
import { toQueryResult } from '../json-forms.ts';
import { MAX_SHOWN_CHARACTERS } from '../query-process/limits.ts';
import type { FileEngine } from '../query-process/work.ts';
import { inspectFile, listTables } from './sqlite-catalog.ts';
import { guard, openDatabase } from './sqlite-database.ts';
import { sqliteError } from './sqlite-error.ts';
import { prepareQuery, type PreparedQuery } from './sqlite-statement.ts';
import { textOf, ValueTally } from './value-tally.ts';

/** Opens a SQLite file in a query process. */
export function openEngine(file: string): FileEngine {
  return {
    inspect: async () => withDatabase(file, inspectFile),
    tables: async () => withDatabase(file, listTables),
    describe: async (query) => withQuery(file, query, describeRows),
    rows: async (query, limit) => withQuery(file, query, (prepared) => someRows(prepared, limit)),
    count: async (query) => withQuery(file, query, (prepared) => prepared.count()),
    segments: (query, dir, columns, counter) => writeSegments(file, query, new CsvSegmentWriter(dir, counter), columns),
    detectConfig: async () => withDatabase(file, detectFileConfig),
  };
}

function withDatabase<T>(file: string, work: (database: DatabaseSync) => T): T {
  try {
    return work(openDatabase(file));
  } catch (error) {
    throw sqliteError(error);
  }
}

const withQuery = <T>(file: string, query: BoundQuery, work: (prepared: PreparedQuery) => T): T =>
  withDatabase(file, (database) => {
    guard(database);
    return work(prepareQuery(database, query));
  });

/** Returns the columns of some rows, determined by every value in them. */
function columnsOf({ names, declared }: PreparedQuery, rows: Iterable<SQLOutputValue[]>): Column[] {
  const tallies = declared.map((type) => new ValueTally(type));
  for (const row of rows) for (let i = 0; i < tallies.length; i++) tallies[i]!.see(row[i]!);
  const fields = distinctNames(names);
  return tallies.map((tally, i) => tally.settle(fields[i]!));
}

const describeRows = (prepared: PreparedQuery): Column[] => columnsOf(prepared, prepared.rows());

function someRows(prepared: PreparedQuery, limit: number): ReturnType<typeof toQueryResult> {
  const rows: SQLOutputValue[][] = [];
  let characters = 0;
  let truncated = false;
  for (const row of prepared.rows()) {
    characters += row.reduce<number>(
      (sum, value) => sum + (typeof value === 'string' || value instanceof Uint8Array ? value.length : 8),
      0,
    );
    truncated = rows.length === limit || characters > MAX_SHOWN_CHARACTERS;
    if (truncated) break;
    rows.push(row);
  }
  const columns = columnsOf(prepared, rows);
  return toQueryResult(
    columns,
    rows.map((row) => row.map((value, i) => textOf(value, columns[i]!))),
    truncated,
  );
}

/**
 * The rows are read twice, for the types (unless they are known) and for the segments: an immutable file has the same
 * rows both times.
 */
async function* writeSegments(
  file: string,
  query: BoundQuery,
  writer: CsvSegmentWriter,
  described: Column[] | undefined,
): AsyncGenerator<Segment> {
  const prepared = withQuery(file, query, (found) => found);
  const columns = described ?? describeRows(prepared);
  for (const row of prepared.rows()) {
    for (let i = 0; i < columns.length; i++) writer.text(textOf(row[i]!, columns[i]!));
    writer.endRow();
    if (writer.isFull) yield await writer.flush();
  }
  if (writer.rows > 0) yield await writer.flush();
}

/** A file with one table or view is that table; with several the user chooses. */
function detectFileConfig(database: DatabaseSync): DetectedFile {
  inspectFile(database);
  const tables = listTables(database);
  return { config: tables.length === 1 ? { table: tables[0]!.name } : {}, problems: [] };
}
