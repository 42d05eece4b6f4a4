import type pg from 'pg';
import { Dataset } from '../../entities/dataset.ts';
import { Generation as GenerationRow } from '../../entities/generation.ts';
import { acquireGenerationLock } from '../adapters/database/generation-lock.ts';
import type { Generation } from '../core/dataset-index.ts';
import { notFound } from '../core/errors.ts';
import { newId } from '../core/id.ts';
import type { OperationInputs } from '../core/operations.ts';
import type { Platform, Transaction } from '../core/platform.ts';
import {
  publishCopy,
  publishPromotion,
  publishSnapshot,
  type CloneOperation,
  type ReadyClone,
} from './dataset-clone-publish.ts';
import { Interrupted, type Handler, type RunningClaim } from './handler.ts';
import type { LoaderOptions } from './load-job.ts';
import type { CloneResult } from './operation-results.ts';

/** Copies a dataset as it is. */
export const datasetCopy = (options: LoaderOptions): Handler<'dataset.copy'> =>
  cloneHandler(options, ({ data }) => data, publishCopy);

/** Saves the current rows of a dataset in a child of it. */
export const datasetSnapshot = (options: LoaderOptions): Handler<'dataset.snapshot'> =>
  cloneHandler(options, () => true, publishSnapshot);

/** Creates an independent dataset from a snapshot. */
export const datasetPromote = (options: LoaderOptions): Handler<'dataset.promote'> =>
  cloneHandler(options, ({ preserveSnapshot }) => preserveSnapshot, publishPromotion);

/**
 * Returns a handler that clones the rows, if the input includes them, and publishes everything in one step. The cost of
 * a clone does not depend on the number of rows.
 */
const cloneHandler = <N extends CloneOperation>(
  options: LoaderOptions,
  includesRows: (input: OperationInputs[N]) => boolean,
  publishClone: (tx: Transaction, clone: ReadyClone<N>) => Promise<CloneResult>,
) => ({
  takeover: true,
  async run(job: RunningClaim<N>, platform: Platform) {
    const { input } = job;
    const { origin, current } = await platform.database.transaction(job.tenantId, (tx) =>
      readOrigin(tx, input.datasetId),
    );
    const rows = current && includesRows(input) ? await cloneRows(options, platform, job, current) : null;
    let isPublished = false;
    return {
      async publish(tx: Transaction) {
        rows?.checkLocked();
        const result = await publishClone(tx, {
          claim: job,
          input,
          origin,
          generation: rows?.generation ?? null,
          config: platform.config,
        });
        isPublished = true;
        return result;
      },
      release: async () => rows?.release(isPublished),
    };
  },
});

/** Reads a dataset and its rows in one transaction. Throws NOT_FOUND. */
async function readOrigin(tx: Transaction, id: string): Promise<{ origin: Dataset; current: Generation | null }> {
  const origin = await tx.findOne(Dataset, { id });
  if (!origin) throw notFound({ what: 'dataset', id });
  const row = origin.generationId ? await tx.findOne(GenerationRow, { id: origin.generationId }) : null;
  return {
    origin,
    current: row && { id: row.id, fields: row.fields, records: row.records, size: row.size, warnings: [] },
  };
}

interface ClonedRows {
  generation: Generation;
  /** Throws `Interrupted` when the lock was lost, so that the janitor may have dropped the generation. */
  checkLocked(): void;
  /** Drops the generation unless it is published, and releases the lock. Never throws. */
  release(isPublished: boolean): Promise<void>;
}

/**
 * Clones a generation under its lock. The janitor does not drop a locked generation. When the worker dies, its
 * connection and so the lock end with it.
 */
async function cloneRows(
  { databaseUrl }: LoaderOptions,
  platform: Platform,
  job: Pick<RunningClaim, 'progress'>,
  from: Generation,
): Promise<ClonedRows> {
  const id = newId();
  const lock = await acquireGenerationLock(databaseUrl, id, 'dws clone').catch((error: unknown) => {
    throw new Interrupted('Could not lock the generation', { cause: error });
  });
  let isLocked = true;
  lock.on('error', () => {
    isLocked = false;
  });
  const release = async (isPublished: boolean) => {
    if (!isPublished) await tryDrop(platform, id);
    await closeConnection(lock);
  };
  try {
    const generation = await platform.index.clone(from, id);
    job.progress({ current: generation.records, total: generation.records });
    return {
      generation,
      release,
      checkLocked: () => {
        if (!isLocked) throw new Interrupted('The connection that holds the lock was lost');
      },
    };
  } catch (error) {
    await release(false);
    throw error;
  }
}

const tryDrop = (platform: Platform, id: string): Promise<void> =>
  platform.index
    .drop(id)
    .catch((error: unknown) =>
      platform.log.warn({ err: error, generation: id }, 'Could not drop a generation that was not published'),
    );

const closeConnection = (client: pg.Client): Promise<void> => client.end().catch(() => {});
