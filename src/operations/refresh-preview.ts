import type { RefreshPreview } from '../../entities/refresh-preview.ts';
import type { Generation, GenerationId } from '../core/dataset-index.ts';
import { forbidden, notFound } from '../core/errors.ts';
import type { Field } from '../core/fields.ts';
import { LEVEL, levelAllows } from '../core/permissions.ts';
import type { Platform, Transaction } from '../core/platform.ts';
import { loadDependents } from '../services/dataset/refresh-dependents.ts';
import { findBreaks } from '../services/dataset/refresh-impact.ts';
import { loadPreviewBase, type PreviewBase } from '../services/dataset/refresh-preview-base.ts';
import { compareFields, consumePreview, replacePreview } from '../services/dataset/refresh-preview.ts';
import type { Claim } from '../services/operation/operation-repository.ts';
import { findActor, accessLevelInTransaction } from '../services/resource/access-level.ts';
import { checkQuota } from '../services/resource/quota.ts';
import { fieldsOf } from './dataset-publish.ts';
import { loadRows, publishRefresh } from './dataset-refresh.ts';
import type { Handler } from './handler.ts';
import { dropOrphan } from './janitor.ts';
import type { LoaderOptions } from './load-job.ts';

/**
 * Loads the rows of a refresh into a generation that no reader sees, and reports the changes that publishing it would
 * cause.
 */
export const datasetPreview = (options: LoaderOptions): Handler<'dataset.preview'> => ({
  takeover: true,
  async run(job, platform) {
    const { input, tenantId } = job;
    const base = await loadPreviewBase((statement) => platform.database.query(tenantId, statement), tenantId, input);
    const { generation, load } = await loadRows(options, platform, job, input);
    let former: GenerationId | null = null;
    return {
      async publish(tx) {
        const saved = await savePreview(tx, job, generation, base, platform.config.TENANT_QUOTA_BYTES);
        former = saved.former;
        return saved.result;
      },
      warnings: generation.warnings,
      async release() {
        await load.release();
        // Drops only generations that no row names, because the commit may have failed. The janitor drops the rest.
        for (const id of [generation.id, ...(former ? [former] : [])]) await tryDropOrphan(platform, id);
      },
    };
  },
});

const tryDropOrphan = (platform: Platform, id: GenerationId): Promise<void> =>
  dropOrphan(platform, id).catch((error: unknown) =>
    platform.log.warn({ err: error, generation: id }, 'Could not drop the generation of a refresh preview'),
  );

/** Publishes the rows of a refresh preview as if they had just been loaded. */
export const datasetPromoteRefresh: Handler<'dataset.promoteRefresh'> = {
  takeover: true,
  async run(job, platform) {
    return {
      async publish(tx) {
        const generation = await consumePreview(tx, job.tenantId, job.resourceId, job.input.previewId);
        return publishRefresh(tx, job, generation, platform.config);
      },
    };
  },
};

interface PreviewedDataset extends Record<string, unknown> {
  id: string;
  ownerId: string;
  parentId: string | null;
  fields: Field[];
  records: number;
}

/**
 * Saves the generation as the dataset's preview and compares it with the dataset as it is now. Checks the caller's
 * access again, which may have changed since the request. Throws NOT_FOUND, FORBIDDEN, and PAYLOAD_TOO_LARGE above the
 * quota.
 */
async function savePreview(
  tx: Transaction,
  { tenantId, userId, resourceId }: Claim,
  generation: Generation,
  base: PreviewBase,
  quota: number,
): Promise<{ result: RefreshPreview; former: GenerationId | null }> {
  const [before] = await tx.query<PreviewedDataset>({
    text: `select id, owner_id as "ownerId", parent_id as "parentId", fields, records
      from dws.dataset
      where tenant_id = $1 and id = $2
      for update`,
    values: [tenantId, resourceId],
  });
  const viewer = await findActor(tx, tenantId, userId);
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
  const { expiresAt, former } = await replacePreview(tx, tenantId, resourceId, generation, base);
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
