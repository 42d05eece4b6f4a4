import type { RefreshPreview } from '../../entities/refresh-preview.ts';
import type { Generation, GenerationId } from '../core/dataset-index.ts';
import { forbidden, notFound } from '../core/errors.ts';
import type { Field } from '../core/fields.ts';
import { LEVEL, levelAllows } from '../core/permissions.ts';
import type { Transaction } from '../core/platform.ts';
import { loadDependents } from '../services/dataset/refresh-dependents.ts';
import { findBreaks } from '../services/dataset/refresh-impact.ts';
import {
  loadPreviewBase,
  compareFields,
  savePreview,
  consumePreview,
  type PreviewBase,
  type PromoteRefreshInput,
  type RefreshPreviewInput,
} from '../services/dataset/refresh-preview.ts';
import type { Claim } from '../services/operation/operation-repository.ts';
import { granteeOf, accessLevelInTransaction } from '../services/resource/access.ts';
import { checkQuota } from '../services/resource/quota.ts';
import { fieldsOf } from './dataset-publish.ts';
import { loadRows, publishRefresh } from './dataset-refresh.ts';
import type { Handler } from './handler.ts';
import { dropOrphan } from './janitor.ts';
import type { LoaderPlace } from './load-job.ts';

/** Rehearses a refresh: loads its rows, keeps them where no reader sees them, and says what publishing them would change. */
export const datasetPreview = (place: LoaderPlace): Handler => ({
  takeover: true,
  async run(job, platform) {
    const input = job.input as unknown as RefreshPreviewInput;
    const base = await loadPreviewBase(
      (statement) => platform.database.query(job.tenantId, statement),
      job.tenantId,
      input,
    );
    const { generation, load } = await loadRows(place, platform, job, input);
    let former: GenerationId | null = null;
    return {
      async publish(tx) {
        const kept = await keepPreview(tx, job, generation, base, platform.config.TENANT_QUOTA_BYTES);
        former = kept.former;
        return kept.result;
      },
      async release() {
        await load.release();
        // Whether a row names them is asked once more: the commit may have failed. What stays is the janitor's.
        for (const id of [generation.id, ...(former ? [former] : [])]) {
          await dropOrphan(platform, id).catch((error: unknown) =>
            platform.log.warn({ err: error, generation: id }, 'The generation of a preview could not be dropped'),
          );
        }
      },
    };
  },
});

/** Publishes the rows of a rehearsed refresh as if they had just been loaded. */
export const datasetPromoteRefresh: Handler = {
  takeover: true,
  async run(job, platform) {
    const { previewId } = job.input as unknown as PromoteRefreshInput;
    return {
      async publish(tx) {
        return publishRefresh(
          tx,
          job,
          await consumePreview(tx, job.tenantId, job.resourceId, previewId),
          platform.config,
        );
      },
    };
  },
};

interface Before extends Record<string, unknown> {
  id: string;
  ownerId: string;
  parentId: string | null;
  fields: Field[];
  records: number;
}

/** Keeps the generation and compares it with what the dataset is now. The caller's rights are asked for once more, since they may be others by now. */
async function keepPreview(
  tx: Transaction,
  { tenantId, userId, resourceId }: Claim,
  generation: Generation,
  base: PreviewBase,
  quota: number,
): Promise<{ result: RefreshPreview; former: GenerationId | null }> {
  const [before] = await tx.query<Before>({
    text: `select id, owner_id as "ownerId", parent_id as "parentId", fields, records from dws.dataset where tenant_id = $1 and id = $2 for update`,
    values: [tenantId, resourceId],
  });
  const viewer = await granteeOf(tx, tenantId, `user:${userId}`);
  const level = before && viewer ? await accessLevelInTransaction({ viewer }, tx, before) : LEVEL.none;
  if (!before || !viewer || level === LEVEL.none) throw notFound({ what: 'dataset', id: resourceId });
  if (!levelAllows(level, 'dataset:refresh')) throw forbidden({ permission: 'dataset:refresh' });
  await checkQuota(tx, tenantId, quota, generation.size, resourceId);

  const after = fieldsOf(before.fields, generation);
  const impact = findBreaks(
    await loadDependents(tx, { tenantId, id: resourceId, viewer, level }),
    before.fields,
    after,
  );
  const { expiresAt, former } = await savePreview(tx, tenantId, resourceId, generation, base);
  return {
    former,
    result: {
      previewId: generation.id,
      records: generation.records,
      previousRecordCount: before.records,
      ...compareFields(before.fields, after),
      ...impact,
      expiresAt: expiresAt.toISOString(),
    },
  };
}
