import { mkdir } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { abortable } from '../../../core/abortable.ts';
import type { Generation, GenerationId, IndexedField, LoadPlan } from '../../../core/dataset-index.ts';
import type { Column } from '../../../core/fields.ts';
import type { Segment } from '../../../core/row-source.ts';
import { dropFolder, rowsFile } from '../duckdb/generation-files.ts';
import { loadGeneration } from '../duckdb/load.ts';
import { sendBatches } from './bulk.ts';
import type { SearchEngine } from './client.ts';
import { stagedBatches } from './document-batches.ts';
import type { Batch, RowRange } from './document-batches.ts';
import { EarlyRows } from './early-rows.ts';
import { CLEANING_MS, createIndex, dropIndexes, publishIndex, removeIndexes } from './lifecycle.ts';

const PROGRESS_MS = 100;

/** A load whose rows are being staged. */
interface Loading {
  engine: SearchEngine;
  scratch: string;
  id: GenerationId;
  plan: LoadPlan;
  staging: Promise<Generation>;
}

/**
 * Loads rows into a generation. DuckDB stages them in `scratch` as for the embedded index, which decides types, flags
 * and counts. During the staging some of them are already sent to a new index, with the fields they seem to have
 * (early-rows.ts). If the fields are the same in the end, the others follow; otherwise all rows are sent to another
 * index. The rows are counted there, and the index is published. A failed or aborted load leaves nothing, unless the
 * engine is unavailable: an index without its alias is incomplete, and the janitor removes it.
 */
export async function loadRows(
  engine: SearchEngine,
  scratch: string,
  id: GenerationId,
  columns: Column[],
  segments: AsyncIterable<Segment>,
  loadPlan: LoadPlan,
): Promise<Generation> {
  await mkdir(scratch, { recursive: true });
  // Removes the index of an earlier attempt, and fails before any row is read if the engine is unavailable.
  await dropIndexes(engine, id, loadPlan.signal);
  // Staging and sending end each other.
  const failed = new AbortController();
  const plan = { ...loadPlan, signal: AbortSignal.any([loadPlan.signal, failed.signal]) };
  const early = new EarlyRows(columns, plan);
  const staging = loadGeneration(scratch, id, columns, early.watch(segments), plan);
  staging.catch((error: unknown) => failed.abort(error));
  try {
    const loading = { engine, scratch, id, plan, staging };
    const fields = await early.fields();
    const generation = fields && (await fillIndex(loading, fields, early));
    return generation ?? (await fillIndex(loading, (await staging).fields))!;
  } catch (error) {
    failed.abort(error);
    await staging.catch(() => {});
    throw plan.signal.reason;
  } finally {
    await early.close();
    await dropFolder(scratch, id);
  }
}

/**
 * Sends all rows to a new index and publishes it. Returns null, and removes the index, if the generation has other
 * fields in the end.
 */
async function fillIndex(loading: Loading, fields: IndexedField[], early?: EarlyRows): Promise<Generation | null> {
  const { engine, scratch, id, plan, staging } = loading;
  const { signal } = plan;
  const index = engine.names.fresh(id);
  const remove = () => removeIndexes(engine, [index], { signal: AbortSignal.timeout(CLEANING_MS) }).catch(() => {});
  try {
    const alias = await createIndex(engine, index, fields, plan.disableRefreshInterval === false, signal);
    const report = new StoredReport(plan);
    const read = (stop: AbortSignal) => batches(loading, fields, report, stop, early);
    await sendBatches({ client: engine.client, alias, fields }, read, signal, report.add);
    const staged = await staging;
    if (!isDeepStrictEqual(staged.fields, fields)) {
      await remove();
      return null;
    }
    // Staged files are removed before the generation is complete, so that a crash leaves no orphaned files.
    await dropFolder(scratch, id);
    const size = await publishIndex(engine, id, index, staged.records, signal);
    return { ...staged, size };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Yields the rows that are sent early, and when all are staged the other ones, if they have these fields. */
async function* batches(
  { scratch, id, staging }: Loading,
  fields: IndexedField[],
  report: StoredReport,
  signal: AbortSignal,
  early?: EarlyRows,
): AsyncGenerator<Batch> {
  if (early) yield* early.batches(fields, signal);
  const staged = await abortable(staging, signal);
  await early?.close();
  if (!isDeepStrictEqual(staged.fields, fields)) return;
  report.begin(staged.records);
  yield* stagedBatches(rowsFile(scratch, id), fields, unsentRows(early?.sent ?? [], staged.records), signal);
}

/** Returns the rows that are in none of the ranges, which are in order. */
const unsentRows = (sent: readonly RowRange[], records: number): RowRange[] =>
  [...sent, { from: records, to: records }].map(({ from }, i) => ({ from: sent[i - 1]?.to ?? 0, to: from }));

/** Reports which share of the rows the engine has stored, as soon as the number of all rows is known. */
class StoredReport {
  readonly #plan: LoadPlan;
  #records = 0;
  #stored = 0;
  #reportedAt = 0;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
  }

  begin(records: number): void {
    this.#records = records;
  }

  readonly add = (rows: number): void => {
    this.#stored += rows;
    if (this.#records === 0 || performance.now() - this.#reportedAt < PROGRESS_MS) return;
    this.#reportedAt = performance.now();
    this.#plan.stored?.(this.#stored / this.#records);
  };
}
