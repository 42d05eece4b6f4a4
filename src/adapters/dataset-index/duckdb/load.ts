import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Generation, GenerationId, LoadPlan } from '../../../core/dataset-index.ts';
import { upstreamFailed } from '../../../core/errors.ts';
import type { Column } from '../../../core/fields.ts';
import type { Segment } from '../../../core/row-source.ts';
import { settleDigits } from './digits.ts';
import { describeValues } from './exactness.ts';
import { applyFlow, keepFields } from './load-fields.ts';
import { beginFolder, publishFolder, rowsFile } from './generation-files.ts';
import { keepTypes } from './kept-types.ts';
import { LoadStatements } from './load-statements.ts';
import { segmentsAhead } from './segments-ahead.ts';
import { appendSegment } from './segment-reader.ts';
import { stageColumns } from './staging-types.ts';
import type { LoadedField, SourceColumn } from './staging-types.ts';

const PROGRESS_MS = 100;

/** What a load works with. */
interface Load {
  statements: LoadStatements;
  plan: LoadPlan;
  columns: SourceColumn[];
  segments: AsyncIterable<Segment>;
}

/**
 * Rows become a generation: one new file, made in `<id>.loading/`, checkpointed, closed, synced and renamed. Whatever fails or aborts leaves nothing.
 * @param memoryLimit of DuckDB, which is the most of what a load takes beside node itself
 */
export async function loadGeneration(dir: string, memoryLimit: string, id: GenerationId, columns: Column[], segments: AsyncIterable<Segment>, plan: LoadPlan): Promise<Generation> {
  const folder = await beginFolder(dir, id);
  try {
    const made = await makeFile(folder, memoryLimit, columns, segments, plan);
    plan.signal.throwIfAborted();
    await publishFolder(dir, id);
    return { id, ...made, size: (await stat(rowsFile(dir, id))).size };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function makeFile(folder: string, memoryLimit: string, columns: Column[], segments: AsyncIterable<Segment>, plan: LoadPlan): Promise<Pick<Generation, 'fields' | 'records' | 'warnings'>> {
  const temp = join(folder, 'temp');
  const statements = await LoadStatements.open(memoryLimit, temp, plan.signal);
  try {
    await statements.create(join(folder, 'rows.duckdb'), 'made');
    const load: Load = { statements, plan, columns: stageColumns(columns), segments };
    const fields = plan.flow.length === 0 ? await loadDirectly(load) : await loadThroughFlow(load, join(folder, 'staged.duckdb'));
    const described = await describeValues(statements, 'made.data', fields);
    const kept = plan.keepTypes ? await keepTypes(statements, 'made.data', described, plan.keepTypes) : described;
    const [count] = await statements.rows('SELECT count(*) FROM made.data');
    const warnings = await lostValues(load);
    await statements.finish('made');
    return { records: Number(count![0]), fields: kept.map(({ name, type, format, column }) => ({ name, type, ...(format && { format }), column })), warnings };
  } finally {
    statements.close();
    await rm(temp, { recursive: true, force: true });
    await rm(join(folder, 'staged.duckdb'), { force: true });
  }
}

/** Without a flow the source's columns are the fields: those wanted go straight into the generation's file. */
async function loadDirectly(load: Load): Promise<LoadedField[]> {
  const kept = keepFields(load.columns, load.plan.keepFields, (field) => ({ ...field, readType: field.sqlType, select: `CAST(NULL AS ${field.sqlType})`, digits: false }));
  await stageRows(load, 'made.data', kept);
  return kept;
}

/** With a flow all columns are staged in a file of their own, so that nothing of them remains in the generation's. */
async function loadThroughFlow(load: Load, staged: string): Promise<LoadedField[]> {
  await load.statements.create(staged, 'staged');
  await stageRows(load, 'staged.data', load.columns);
  const typed = await describeValues(load.statements, 'staged.data', load.columns);
  return applyFlow(load.statements, load.plan, typed, 'staged.data', 'made.data');
}

/** Reads all segments into a new table, in the source's order, and settles the types that waited for the values. */
async function stageRows({ statements, plan, columns, segments }: Load, table: string, kept: SourceColumn[]): Promise<void> {
  for (const { lost } of kept) if (lost) await statements.change(`CREATE TEMP SEQUENCE ${lost}`);
  await statements.change(`CREATE TABLE ${table} (${kept.map(({ column, sqlType }) => `${column} ${sqlType}`).join(', ')})`);
  // One transaction writes whole row groups to the file once, without a log.
  await statements.change('BEGIN');
  let rows = 0;
  let reported = 0;
  for await (const segment of segmentsAhead(segments, plan.signal)) {
    try {
      rows += await appendSegment(statements, table, columns, kept, segment, rows);
    } finally {
      if (segment.temporary) await rm(segment.path, { force: true });
    }
    if (plan.maxRows > 0 && rows > plan.maxRows) throw upstreamFailed(`The query answers more than the ${plan.maxRows} rows that are allowed`);
    if (performance.now() - reported < PROGRESS_MS) continue;
    reported = performance.now();
    plan.progress(rows);
  }
  await statements.change('COMMIT');
  plan.progress(rows);
  for (const column of kept) if (column.digits) column.sqlType = await settleDigits(statements, table, column.column);
}

/** Values that have no JSON form became null; the load says how many. */
async function lostValues({ statements, columns }: Load): Promise<string[]> {
  const warnings: string[] = [];
  for (const { name, lost, type } of columns) {
    const [exists] = lost ? await statements.rows(`SELECT 1 FROM duckdb_sequences() WHERE sequence_name = '${lost}'`) : [];
    if (!exists) continue;
    const count = Number((await statements.rows(`SELECT nextval('${lost}')`))[0]![0]) - 1;
    const reason = type === 'number' ? 'not finite numbers' : 'outside the years 1 to 9999';
    if (count > 0) warnings.push(`Field "${name}": ${count} ${count === 1 ? 'value' : 'values'} ${reason}, now missing`);
  }
  return warnings;
}
