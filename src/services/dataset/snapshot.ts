import type { Dataset } from '../../../entities/dataset.ts';
import type { Context } from '../../core/context.ts';
import { conflict, forbidden, notFound } from '../../core/errors.ts';
import { isUuid, newId } from '../../core/id.ts';
import { checkOptionalText, checkText } from '../../core/input-checks.ts';
import type { CloneInput, PromotionInput } from '../../core/operations.ts';
import { levelAllows, type ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { accessLevelInTransaction } from '../resource/access-level.ts';
import { recordActivities } from '../resource/activity.ts';
import { load } from '../resource/load-resource.ts';
import { updateOwned } from '../resource/owned-kind.ts';
import { DATASET } from '../resource/owned-kinds.ts';
import { checkUnused } from '../resource/references.ts';
import { checkCopySize } from './dataset-copy.ts';

export interface SnapshotInput {
  name?: string | null;
  description?: string | null;
}

type Progress = string | number | null;

const described = ({ name, description }: SnapshotInput): Pick<CloneInput, 'name' | 'description'> => ({
  name: checkText(name, 'name'),
  ...(description !== undefined && { description: checkOptionalText(description, 'description') }),
});

/** Keeps a dataset's rows as they are now: a child of it that the caller owns. Answers the operation, finished when `wait` says so. */
export async function create(
  ctx: Context,
  datasetId: string,
  given: SnapshotInput,
  progress: Progress,
  wait: boolean,
): Promise<OperationRecord> {
  const words = { description: null, ...described(given) };
  return startInTransaction(ctx, wait, async (tx) => {
    const dataset = await load(ctx, tx, DATASET, datasetId, 'dataset:copy');
    if (dataset.parentId) throw conflict('A draft or snapshot has no snapshots of its own');
    if (!dataset.generationId) throw conflict('The dataset has no rows yet: refresh it first');
    await checkCopySize(tx, ctx.viewer.tenantId, ctx.platform.config, dataset);
    const input: CloneInput = { datasetId: dataset.id, newId: newId(), ...words };
    return operations.start(ctx, tx, {
      operation: 'dataset.snapshot',
      resource: { kind: 'dataset', id: dataset.id },
      input,
      progress,
      unit: 'rows',
    });
  });
}

/** Changes what a snapshot is called. Answers its id. */
export const update = (
  ctx: Context,
  datasetId: string,
  id: string,
  { name, description }: SnapshotInput,
): Promise<string> =>
  ctx.transaction(async (tx) => {
    const { snapshot } = await loadSnapshot(ctx, tx, datasetId, id, 'dataset:write');
    await updateOwned(ctx, tx, DATASET, snapshot, { name, description });
    return snapshot.id;
  });

/** Deletes a snapshot that nothing uses (409 otherwise). Its rows are dropped by the janitor, once no export reads them. */
export const remove = (ctx: Context, datasetId: string, id: string): Promise<void> =>
  ctx.transaction(async (tx) => {
    const { dataset, snapshot } = await loadSnapshot(ctx, tx, datasetId, id, 'dataset:write');
    await checkUnused(ctx, tx, 'dataset', snapshot.id);
    tx.em.remove(snapshot);
    const { viewer } = ctx;
    await recordActivities(
      viewer,
      tx,
      DATASET,
      'snapshot.deleted',
      [dataset],
      (name) => `${viewer.username} deleted the snapshot ${snapshot.name} of ${name}`,
    );
  });

/** Makes an independent dataset of the caller's of a snapshot: of the snapshot itself, or beside it. Answers the operation, finished when `wait` says so. */
export async function promote(
  ctx: Context,
  datasetId: string,
  id: string,
  { preserveSnapshot: preserves, ...given }: SnapshotInput & { preserveSnapshot?: boolean | null },
  progress: Progress,
  wait: boolean,
): Promise<OperationRecord> {
  const words = described(given);
  const preserveSnapshot = preserves ?? false;
  return startInTransaction(ctx, wait, async (tx) => {
    const { snapshot } = await loadSnapshot(ctx, tx, datasetId, id, 'dataset:copy');
    if (!preserveSnapshot && !levelAllows(await accessLevelInTransaction(ctx, tx, snapshot), 'dataset:write'))
      throw forbidden({ permission: 'dataset:write' });
    if (preserveSnapshot) await checkCopySize(tx, ctx.viewer.tenantId, ctx.platform.config, snapshot);
    const input: PromotionInput = {
      datasetId: snapshot.id,
      newId: preserveSnapshot ? newId() : snapshot.id,
      preserveSnapshot,
      ...words,
    };
    return operations.start(ctx, tx, {
      operation: 'dataset.promote',
      resource: { kind: 'dataset', id: snapshot.id },
      input,
      progress,
      unit: 'rows',
    });
  });
}

/** A snapshot of a dataset for a change. The permission is asked for on the snapshot, which its owner may write; where there is none (404) on the dataset. */
async function loadSnapshot(
  ctx: Context,
  tx: Transaction,
  datasetId: string,
  id: string,
  permission: ResourcePermission,
): Promise<{ dataset: Dataset; snapshot: Dataset }> {
  const dataset = await load(ctx, tx, DATASET, datasetId, 'dataset:read');
  const [found] = isUuid(id)
    ? await tx.query<{ id: string }>({
        text: `select id from dws.dataset where tenant_id = $1 and parent_id = $2 and is_snapshot and id = $3`,
        values: [ctx.viewer.tenantId, dataset.id, id],
      })
    : [];
  if (found) return { dataset, snapshot: await load(ctx, tx, DATASET, found.id, permission, { ifMatch: ctx.ifMatch }) };
  if (!levelAllows(await accessLevelInTransaction(ctx, tx, dataset), permission)) throw forbidden({ permission });
  throw notFound({ what: 'snapshot', id });
}
