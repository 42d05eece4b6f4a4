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
 * Rows become a generation: staged by DuckDB in `scratch` as the embedded index does it, so that types, flags and counts are final before the mapping
 * exists, then sent to a new index, counted there and published. Whatever fails or aborts leaves nothing, unless the engine is away by then: an index without
 * its alias is incomplete, and the janitor's.
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
  // An earlier attempt's remains go, and rows that have nowhere to go are not even read.
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
    // What is complete has nothing staged, so that a crash leaves no files that nobody would look for.
    await unstage();
    const size = await publishIndex(engine, id, index, records, signal);
    progress.finished();
    return { ...staged, size };
  } catch (error) {
    await removeIndexes(engine, [index], { signal: AbortSignal.timeout(CLEANING_MS) }).catch(() => {});
    throw error;
  }
}

/** A row is taken in twice: half when it is staged, wholly when the engine has it. So the number grows all the time and ends with the rows read. */
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

  /** @param records all that are to be sent; a flow may have made fewer or more of the rows read */
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
