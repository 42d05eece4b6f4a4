import { mkdir } from 'node:fs/promises';
import type { Generation, GenerationId, LoadPlan } from '../../../core/dataset-index.ts';
import type { Column } from '../../../core/fields.ts';
import type { Segment } from '../../../core/row-source.ts';
import { dropFolder, rowsFile } from '../duckdb/generation-files.ts';
import { loadGeneration } from '../duckdb/load.ts';
import { sendBatches } from './bulk.ts';
import type { Engine } from './client.ts';
import { CLEANING_MS, createIndex, dropIndexes, publishIndex, removeIndexes } from './lifecycle.ts';
import { StagedRows } from './staged-rows.ts';

const PROGRESS_MS = 100;

/**
 * Loads rows into a generation. DuckDB stages them in `scratch` as for the embedded index, so that types, flags and
 * counts are final before the mapping exists. They are then sent to a new index, counted there and published. A failed
 * or aborted load leaves nothing, unless the engine is unavailable: an index without its alias is incomplete, and the
 * janitor removes it.
 */
export async function loadRows(
  engine: Engine,
  scratch: string,
  id: GenerationId,
  columns: Column[],
  segments: AsyncIterable<Segment>,
  plan: LoadPlan,
): Promise<Generation> {
  await mkdir(scratch, { recursive: true });
  // Removes the index of an earlier attempt, and fails before any row is read if the engine is unavailable.
  await dropIndexes(engine, id, plan.signal);
  try {
    const staged = await loadGeneration(scratch, id, columns, segments, plan);
    return await sendStaged(engine, rowsFile(scratch, id), staged, plan, () => dropFolder(scratch, id));
  } finally {
    await dropFolder(scratch, id);
  }
}

async function sendStaged(
  engine: Engine,
  file: string,
  staged: Generation,
  plan: LoadPlan,
  unstage: () => Promise<void>,
): Promise<Generation> {
  const { id, fields, records } = staged;
  const { signal } = plan;
  const index = engine.names.fresh(id);
  try {
    const alias = await createIndex(engine, index, fields, plan.disableRefreshInterval === false, signal);
    const rows = await StagedRows.open(file, fields, signal);
    try {
      const report = reportStored(plan, records);
      await sendBatches({ client: engine.client, alias, fields }, rows.batches(), signal, report);
    } finally {
      rows.close();
    }
    // Staged files are removed before the generation is complete, so that a crash leaves no orphaned files.
    await unstage();
    const size = await publishIndex(engine, id, index, records, signal);
    return { ...staged, size };
  } catch (error) {
    await removeIndexes(engine, [index], { signal: AbortSignal.timeout(CLEANING_MS) }).catch(() => {});
    throw error;
  }
}

/** Returns a function that counts the rows that the engine stored, and reports their share of all rows. */
function reportStored({ stored }: LoadPlan, records: number): (rows: number) => void {
  let sent = 0;
  let reportedAt = 0;
  return (rows) => {
    sent += rows;
    if (performance.now() - reportedAt < PROGRESS_MS) return;
    reportedAt = performance.now();
    stored?.(sent / records);
  };
}
