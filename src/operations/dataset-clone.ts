import type pg from 'pg';
import { Dataset } from '../../entities/dataset.ts';
import { Generation as GenerationRow } from '../../entities/generation.ts';
import { acquireGenerationLock } from '../adapters/database/generation-lock.ts';
import type { Generation } from '../core/dataset-index.ts';
import { notFound } from '../core/errors.ts';
import { newId } from '../core/id.ts';
import type { Platform, Transaction } from '../core/platform.ts';
import type { CloneInput, DatasetCopyInput } from '../services/dataset/dataset-copy.ts';
import type { PromotionInput } from '../services/dataset/snapshot.ts';
import {
  publishCopy,
  publishPromotion,
  publishSnapshot,
  type Clone,
  type CloneResult,
} from './dataset-clone-publish.ts';
import { Interrupted, type Handler, type Job } from './handler.ts';
import type { LoaderPlace } from './load-job.ts';

/** Copies a dataset as it is. */
export const datasetCopy = (place: LoaderPlace): Handler =>
  cloning<DatasetCopyInput>(place, ({ data }) => data, publishCopy);

/** Keeps a dataset's rows in a child of it. */
export const datasetSnapshot = (place: LoaderPlace): Handler => cloning<CloneInput>(place, () => true, publishSnapshot);

/** Makes an independent dataset of a snapshot. */
export const datasetPromote = (place: LoaderPlace): Handler =>
  cloning<PromotionInput>(place, ({ preserveSnapshot }) => preserveSnapshot, publishPromotion);

/** Takes the rows by clone, at a cost independent of them, unless the input leaves them out. Nobody sees any of it before it is published as a whole. */
const cloning = <I extends CloneInput>(
  place: LoaderPlace,
  takesRows: (input: I) => boolean,
  publish: (tx: Transaction, clone: Clone<I>) => Promise<CloneResult>,
): Handler => ({
  takeover: true,
  async run(job, platform) {
    const input = job.input as unknown as I;
    const { origin, current } = await platform.database.transaction(job.tenantId, (tx) =>
      readOrigin(tx, input.datasetId),
    );
    const rows = current && takesRows(input) ? await cloneRows(place, platform, job, current) : null;
    let published = false;
    return {
      async publish(tx) {
        rows?.checkHeld();
        const result = await publish(tx, {
          claim: job,
          input,
          origin,
          generation: rows?.generation ?? null,
          config: platform.config,
        });
        published = true;
        return result;
      },
      release: async () => rows?.release(published),
    };
  },
});

/** A dataset as it is, with its rows of the same moment. */
async function readOrigin(tx: Transaction, id: string): Promise<{ origin: Dataset; current: Generation | null }> {
  const origin = await tx.em.findOne(Dataset, { id });
  if (!origin) throw notFound({ what: 'dataset', id });
  const row = origin.generationId ? await tx.em.findOne(GenerationRow, { id: origin.generationId }) : null;
  return {
    origin,
    current: row && { id: row.id, fields: row.fields, records: row.records, size: row.size, warnings: [] },
  };
}

interface ClonedRows {
  generation: Generation;
  /** Throws when the janitor may have taken the generation for an orphan. */
  checkHeld(): void;
  /** What was not published goes. Never throws. */
  release(published: boolean): Promise<void>;
}

/** Clones a generation under its lock, so that the janitor spares it until it is published or given up; the lock of a worker that is killed goes with it. */
async function cloneRows(
  { databaseUrl }: LoaderPlace,
  platform: Platform,
  job: Job,
  from: Generation,
): Promise<ClonedRows> {
  const id = newId();
  const lock = await acquireGenerationLock(databaseUrl, id, 'dws clone').catch((error: unknown) => {
    throw new Interrupted('The generation could not be locked', { cause: error });
  });
  let held = true;
  lock.on('error', () => {
    held = false;
  });
  const release = async (published: boolean) => {
    if (!published)
      await platform.index
        .drop(id)
        .catch((error: unknown) =>
          platform.log.warn({ err: error, generation: id }, 'A generation that was not published could not be dropped'),
        );
    await end(lock);
  };
  try {
    const generation = await platform.index.clone(from, id);
    job.progress({ current: generation.records, total: generation.records });
    return {
      generation,
      release,
      checkHeld: () => {
        if (!held) throw new Interrupted('The connection that holds the lock was lost');
      },
    };
  } catch (error) {
    await release(false);
    throw error;
  }
}

const end = (client: pg.Client): Promise<void> => client.end().catch(() => {});
