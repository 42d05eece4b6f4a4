import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { ColumnsChanged } from '../../../core/columns-changed.ts';
import { distinctNames, type Column } from '../../../core/fields.ts';
import type { BoundQuery, DetectedFile, Segment } from '../../../core/row-source.ts';
import { CsvSegmentWriter } from '../csv-encoder.ts';
import { toQueryResult } from '../json-forms.ts';
import { MAX_SHOWN_CHARACTERS } from '../query-process/limits.ts';
import type { FileEngine } from '../query-process/work.ts';
import { inspectFile, listTables } from './sqlite-catalog.ts';
import { guard, openDatabase } from './sqlite-database.ts';
import { sqliteError } from './sqlite-error.ts';
import { findProblems } from './sqlite-problems.ts';
import { prepareQuery, type PreparedQuery } from './sqlite-statement.ts';
import { textOf, ValueTally } from './value-tally.ts';

/** Limits of the first rows, which decide the provisional columns: rows, characters and milliseconds. */
const FIRST_ROWS = 1000;
const FIRST_CHARACTERS = 1 << 20;
const FIRST_MS = 100;

/** Opens a SQLite file in a query process. */
export function openEngine(file: string): FileEngine {
  let started: StartedQuery | undefined;
  return {
    inspect: async () => withDatabase(file, inspectFile),
    tables: async () => withDatabase(file, listTables),
    describe: async (query, provisional) => {
      if (!provisional) return withQuery(file, query, describeRows);
      started = withQuery(file, query, (prepared) => beginQuery(query, prepared));
      return started.columns;
    },
    rows: async (query, limit) => withQuery(file, query, (prepared) => someRows(prepared, limit)),
    count: async (query) => withQuery(file, query, (prepared) => prepared.count()),
    segments: (query, dir, columns, counter) => {
      const writer = new CsvSegmentWriter(dir, counter);
      return started && isDeepStrictEqual(started.query, query)
        ? continueQuery(started, writer)
        : writeSegments(file, query, writer, columns);
    },
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

const tallyColumns = ({ declared }: PreparedQuery): ValueTally[] => declared.map((type) => new ValueTally(type));

function seeRow(tallies: ValueTally[], row: SQLOutputValue[]): void {
  for (let i = 0; i < tallies.length; i++) tallies[i]!.see(row[i]!);
}

function settle({ names }: PreparedQuery, tallies: ValueTally[]): Column[] {
  const fields = distinctNames(names);
  return tallies.map((tally, i) => tally.settle(fields[i]!));
}

/** Returns the columns of some rows, determined by every value in them. */
function columnsOf(prepared: PreparedQuery, rows: Iterable<SQLOutputValue[]>): Column[] {
  const tallies = tallyColumns(prepared);
  for (const row of rows) seeRow(tallies, row);
  return settle(prepared, tallies);
}

const describeRows = (prepared: PreparedQuery): Column[] => columnsOf(prepared, prepared.rows());

function someRows(prepared: PreparedQuery, limit: number): ReturnType<typeof toQueryResult> {
  const rows: SQLOutputValue[][] = [];
  let characters = 0;
  let truncated = false;
  for (const row of prepared.rows()) {
    characters += charactersOf(row);
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

const charactersOf = (row: SQLOutputValue[]): number =>
  row.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' || value instanceof Uint8Array ? value.length : 8),
    0,
  );

/** A query whose first rows are read and counted, with the provisional columns that they have. */
interface StartedQuery {
  query: BoundQuery;
  prepared: PreparedQuery;
  tallies: ValueTally[];
  columns: Column[];
  first: SQLOutputValue[][];
  others: Iterator<SQLOutputValue[]>;
}

function beginQuery(query: BoundQuery, prepared: PreparedQuery): StartedQuery {
  const tallies = tallyColumns(prepared);
  const others = prepared.rows()[Symbol.iterator]();
  const first: SQLOutputValue[][] = [];
  let characters = 0;
  const began = performance.now();
  while (first.length < FIRST_ROWS && characters < FIRST_CHARACTERS && performance.now() - began < FIRST_MS) {
    const { done, value } = others.next();
    if (done) break;
    first.push(value);
    seeRow(tallies, value);
    characters += charactersOf(value);
  }
  return { query, prepared, tallies, columns: settle(prepared, tallies), first, others };
}

function* rowsOf({ first, others }: StartedQuery): Generator<SQLOutputValue[]> {
  yield* first.splice(0);
  yield* { [Symbol.iterator]: () => others };
}

/**
 * Writes all rows with the provisional columns. Every value counts for its column's type. When they contradict the
 * columns, the others are only counted.
 */
async function* continueQuery(started: StartedQuery, writer: CsvSegmentWriter): AsyncGenerator<Segment> {
  const { prepared, tallies, columns } = started;
  const conform = () =>
    settle(prepared, tallies).every(
      ({ type, storage }, i) => type === columns[i]!.type && storage.kind === columns[i]!.storage.kind,
    );
  let conforms = true;
  for (const row of rowsOf(started)) {
    if (!conforms) {
      seeRow(tallies, row);
      continue;
    }
    for (let i = 0; i < tallies.length; i++) writer.text(tallies[i]!.textOf(row[i]!));
    writer.endRow();
    if (!writer.isFull) continue;
    conforms = conform();
    if (conforms) yield await writer.flush();
  }
  if (!conform()) throw new ColumnsChanged(settle(prepared, tallies));
  if (writer.rows > 0) yield await writer.flush();
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
  return { config: tables.length === 1 ? { table: tables[0]!.name } : {}, problems: findProblems(database, tables) };
}
