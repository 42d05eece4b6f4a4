import { rm } from 'node:fs/promises';
import type { LoadPlan } from '../../../core/dataset-index.ts';
import { tooLarge } from '../../../core/errors.ts';
import type { Segment } from '../../../core/row-source.ts';
import { settleDigits } from './digits.ts';
import type { LoadStatements } from './load-statements.ts';
import { appendSegment } from './segment-reader.ts';
import { segmentsAhead } from './segments-ahead.ts';
import { stageTable } from './stage-table.ts';
import type { SourceColumn } from './staging-types.ts';

const PROGRESS_MS = 100;

/** The state of a load. */
export interface Load {
  /** Folder of all its files. */
  folder: string;
  statements: LoadStatements;
  plan: LoadPlan;
  columns: SourceColumn[];
  segments: AsyncIterable<Segment>;
}

/** Amount of staged data. */
export interface StagedSize {
  rows: number;
  bytes: number;
}

/**
 * Reads all segments into the table `data` of a new file, in the source's order, and determines the types that depend
 * on the values.
 */
export async function stageRows(
  { statements, plan, columns, segments }: Load,
  alias: string,
  file: string,
  kept: SourceColumn[],
): Promise<StagedSize> {
  const staged: StagedSize = { rows: 0, bytes: 0 };
  let begun = false;
  let isTable = false;
  let reported = 0;
  const begin = async (rowBytes: number) => {
    begun = true;
    await statements.create(file, alias, kept.length, rowBytes);
    await createTable(statements, `${alias}.data`, kept);
    // One transaction writes whole row groups to the file once, without a log.
    await statements.change('BEGIN');
  };
  for await (const segment of segmentsAhead(segments, plan.signal)) {
    try {
      if (segment.table) {
        await stageTable(statements, segment, alias, file, columns, kept);
        staged.rows += segment.rows;
        isTable = true;
      } else {
        if (!begun) await begin(segment.bytes / Math.max(segment.rows, 1));
        staged.rows += await appendSegment(statements, `${alias}.data`, columns, kept, segment, staged.rows);
      }
      staged.bytes += segment.bytes;
    } finally {
      if (segment.temporary) await rm(segment.path, { force: true });
    }
    if (plan.maxRows > 0 && staged.rows > plan.maxRows)
      throw tooLarge(`The query returns more than the ${plan.maxRows} rows that are allowed`);
    if (performance.now() - reported < PROGRESS_MS) continue;
    reported = performance.now();
    plan.progress(staged.rows);
  }
  if (!isTable) {
    if (!begun) await begin(0);
    await statements.change('COMMIT');
  }
  plan.progress(staged.rows);
  await settleTypes(statements, `${alias}.data`, kept);
  return staged;
}

/** Creates a table for rows of segments, and the sequences that count lost values. */
export async function createTable(statements: LoadStatements, table: string, kept: SourceColumn[]): Promise<void> {
  for (const { lost } of kept) if (lost) await statements.change(`CREATE OR REPLACE TEMP SEQUENCE ${lost}`);
  await statements.change(
    `CREATE OR REPLACE TABLE ${table} (${kept.map(({ column, sqlType }) => `${column} ${sqlType}`).join(', ')})`,
  );
}

/** Determines the types that depend on the values. */
export async function settleTypes(statements: LoadStatements, table: string, kept: SourceColumn[]): Promise<void> {
  for (const column of kept) {
    if (column.digits) column.sqlType = await settleDigits(statements, table, column.column);
    if (column.maybeBoolean) await settleBoolean(statements, table, column);
  }
}

/** Converts a column of integers to booleans, unless one is other than 0 and 1. */
async function settleBoolean(statements: LoadStatements, table: string, settled: SourceColumn): Promise<void> {
  const { column } = settled;
  const [other] = await statements.rows(`SELECT 1 FROM ${table} WHERE ${column} NOT IN (0, 1) LIMIT 1`);
  settled.type = other ? 'integer' : 'boolean';
  settled.sqlType = other ? 'INTEGER' : 'BOOLEAN';
  if (!other) await statements.change(`ALTER TABLE ${table} ALTER ${column} TYPE BOOLEAN`);
}
