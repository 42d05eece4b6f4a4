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
  const progress = new TwofoldProgress(plan);
  // Removes the index of an earlier attempt, and fails before any row is read if the engine is unavailable.
  await dropIndexes(engine, id, plan.signal);
  try {
    const staged = await loadGeneration(scratch, id, columns, segments, {
      ...plan,
      progress: (rows) => progress.staged(rows),
    });
    return await sendStaged(engine, rowsFile(scratch, id), staged, plan, progress, () => dropFolder(scratch, id));
  } finally {
    await dropFolder(scratch, id);
  }
}

async function sendStaged(
  engine: Engine,
  file: string,
  staged: Generation,
  plan: LoadPlan,
  progress: TwofoldProgress,
  unstage: () => Promise<void>,
): Promise<Generation> {
  const { id, fields, records } = staged;
  const { signal } = plan;
  const index = engine.names.fresh(id);
  try {
    const alias = await createIndex(engine, index, fields, plan.disableRefreshInterval === false, signal);
    const rows = await StagedRows.open(file, fields, signal);
    try {
      await sendBatches({ client: engine.client, alias, fields }, rows.batches(), signal, (sent) =>
        progress.sent(sent, records),
      );
    } finally {
      rows.close();
    }
    // Staged files are removed before the generation is complete, so that a crash leaves no orphaned files.
    await unstage();
    const size = await publishIndex(engine, id, index, records, signal);
    progress.finished();
    return { ...staged, size };
  } catch (error) {
    await removeIndexes(engine, [index], { signal: AbortSignal.timeout(CLEANING_MS) }).catch(() => {});
    throw error;
  }
}

/**
 * Counts a row half when it is staged and half when the engine stored it, so that the number grows steadily and ends
 * with the rows read.
 */
class TwofoldProgress {
  readonly #plan: LoadPlan;
  #read = 0;
  #sent = 0;
  #reported = 0;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
  }

  staged(rows: number): void {
    this.#read = rows;
    this.#plan.progress(Math.floor(rows / 2));
  }

  /** `records` is the total to send; a flow may produce fewer or more than the rows read. */
  sent(rows: number, records: number): void {
    this.#sent += rows;
    if (performance.now() - this.#reported < PROGRESS_MS) return;
    this.#reported = performance.now();
    this.#plan.progress(Math.floor((this.#read * (1 + this.#sent / records)) / 2));
  }

  finished(): void {
    this.#plan.progress(this.#read);
  }
}
