import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Generation, GenerationId, IndexedField, LoadPlan } from '../../../core/dataset-index.ts';
import type { Column } from '../../../core/fields.ts';
import type { Segment } from '../../../core/row-source.ts';
import { applyFlow } from './apply-flow.ts';
import { describeValues } from './exactness.ts';
import { beginFolder, publishFolder, ROWS, rowsFile } from './generation-files.ts';
import { keepTypes } from './kept-types.ts';
import { keepFields } from './load-fields.ts';
import { LoadStatements } from './load-statements.ts';
import { stageRows } from './stage-rows.ts';
import type { Load } from './stage-rows.ts';
import { stageColumns } from './staging-types.ts';
import type { LoadedField, SourceColumn } from './staging-types.ts';

const STAGED = 'staged.duckdb';

/** DuckDB's memory limit for a load of at most `WIDE_COLUMNS` columns. */
const MEMORY_BYTES = 128 * 10 ** 6;
const WIDE_COLUMNS = 100;
/** Added to the limit for each further column, as DuckDB pins blocks and vectors per column. */
const COLUMN_MEMORY_BYTES = 600_000;

/**
 * Loads rows into a generation: one new file in `<id>.loading/`, checkpointed, closed, synced and renamed. A failed or
 * aborted load leaves nothing.
 */
export async function loadGeneration(
  dir: string,
  id: GenerationId,
  columns: Column[],
  segments: AsyncIterable<Segment>,
  plan: LoadPlan,
): Promise<Generation> {
  const folder = await beginFolder(dir, id);
  try {
    const loaded = await loadFile(folder, columns, segments, plan);
    plan.signal.throwIfAborted();
    await publishFolder(dir, id);
    return { id, ...loaded, size: (await stat(rowsFile(dir, id))).size };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Loads the rows into the generation's file and returns its description. */
async function loadFile(
  folder: string,
  columns: Column[],
  segments: AsyncIterable<Segment>,
  plan: LoadPlan,
): Promise<Pick<Generation, 'fields' | 'records' | 'warnings'>> {
  const temp = join(folder, 'temp');
  const statements = await LoadStatements.open(
    MEMORY_BYTES + Math.max(0, columns.length - WIDE_COLUMNS) * COLUMN_MEMORY_BYTES,
    temp,
    plan.signal,
  );
  try {
    const load: Load = { folder, statements, plan, columns: stageColumns(columns), segments };
    const fields = plan.flow.length === 0 ? await loadDirectly(load) : await loadThroughFlow(load);
    const described = await describeValues(statements, 'result.data', fields);
    const kept = plan.keepTypes ? await keepTypes(statements, 'result.data', described, plan.keepTypes) : described;
    const [count] = await statements.rows('SELECT count(*) FROM result.data');
    const warnings = await warnOfLostValues(load);
    await statements.finish('result');
    return {
      records: Number(count![0]),
      fields: kept.map(indexedField),
      warnings,
    };
  } finally {
    statements.close();
    await rm(temp, { recursive: true, force: true });
    await rm(join(folder, STAGED), { force: true });
  }
}

/** Returns the stored form of a field. */
export const indexedField = ({ name, type, format, column, keyed, split, vanished }: LoadedField): IndexedField => ({
  name,
  type,
  ...(format && { format }),
  column,
  ...(keyed && { keyed }),
  ...(split && { split }),
  ...(vanished && { vanished }),
});

/**
 * Loads without a flow: the source's columns are the fields, and the required ones are written directly to the
 * generation's file.
 */
async function loadDirectly(load: Load): Promise<LoadedField[]> {
  const kept = keepColumns(load.columns, load.plan);
  await stageRows(load, 'result', join(load.folder, ROWS), kept);
  return kept;
}

/** Returns the source's columns that a load without a flow stores, and empty ones for fields that vanished. */
export const keepColumns = (columns: SourceColumn[], plan: LoadPlan): SourceColumn[] =>
  keepFields(columns, plan.keepFields, (field) => ({
    ...field,
    readType: field.sqlType,
    select: `CAST(NULL AS ${field.sqlType})`,
    digits: false,
    maybeBoolean: false,
  }));

/**
 * Loads with a flow: all columns are staged in a separate file, so that none of their data remains in the generation's
 * file.
 */
async function loadThroughFlow(load: Load): Promise<LoadedField[]> {
  const { statements, folder, columns, plan } = load;
  const size = await stageRows(load, 'staged', join(folder, STAGED), columns);
  const typed = await describeValues(statements, 'staged.data', columns);
  await statements.create(join(folder, ROWS), 'result', columns.length, size.bytes / Math.max(size.rows, 1));
  return applyFlow(statements, plan, typed, size);
}

/**
 * Returns a warning for each field with values that became null because they have no JSON form. A sequence per field
 * counts them; a field that was not loaded has no sequence.
 */
async function warnOfLostValues({ statements, columns }: Load): Promise<string[]> {
  const warnings: string[] = [];
  for (const { name, lost, type } of columns) {
    const [exists] = lost
      ? await statements.rows(`SELECT 1 FROM duckdb_sequences() WHERE sequence_name = '${lost}'`)
      : [];
    if (!exists) continue;
    const count = Number((await statements.rows(`SELECT nextval('${lost}')`))[0]![0]) - 1;
    const reason = type === 'number' ? 'not a finite number' : 'outside the years 1 to 9999';
    if (count > 0)
      warnings.push(`Field "${name}": ${count} ${count === 1 ? 'value is' : 'values are'} missing (${reason})`);
  }
  return warnings;
}
