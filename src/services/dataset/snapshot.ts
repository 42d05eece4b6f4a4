import type { Dataset } from '../../../entities/dataset.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import type {
  CreateSnapshotInput,
  PromoteSnapshotInput,
  UpdateSnapshotInput,
} from '../../../entities/snapshot-input.ts';
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
import { loadResource } from '../resource/load-resource.ts';
import { updateOwned } from '../resource/owned-kind.ts';
import { checkUnused, isUsedSql } from '../resource/references.ts';
import { checkCopySize } from './dataset-copy.ts';

type Progress = string | number | null | undefined;

const checkTexts = ({ name, description }: CreateSnapshotInput): Pick<CloneInput, 'name' | 'description'> => ({
  name: checkText(name, 'name'),
  ...(description !== undefined && { description: checkOptionalText(description, 'description') }),
});

/**
 * Starts to create a snapshot: a child of the dataset with its current rows, owned by the caller. Returns the
 * operation, which has finished if `wait` is true.
 */
export async function create(
  ctx: Context,
  datasetId: string,
  input: CreateSnapshotInput,
  progress: Progress,
  wait: boolean,
): Promise<OperationRecord> {
  const texts = { description: null, ...checkTexts(input) };
  return startInTransaction(ctx, wait, async (tx) => {
    const dataset = await loadResource(ctx, tx, DATASET, datasetId, 'dataset:copy');
    if (dataset.parentId) throw conflict('A draft or snapshot cannot have snapshots');
    if (!dataset.generationId) throw conflict('The dataset has no rows yet: refresh it first');
    await checkCopySize(tx, ctx.viewer.tenantId, ctx.platform.config, dataset);
    const clone: CloneInput = { datasetId: dataset.id, newId: newId(), ...texts };
    return operations.start(ctx, tx, {
      operation: 'dataset.snapshot',
      resource: { kind: 'dataset', id: dataset.id },
      input: clone,
      progress,
      unit: 'rows',
    });
  });
}

/** Updates the name and description of a snapshot. Returns its id. */
export const update = (
  ctx: Context,
  datasetId: string,
  id: string,
  { name, description }: UpdateSnapshotInput,
): Promise<string> =>
  ctx.transaction(async (tx) => {
    const { snapshot } = await loadSnapshot(ctx, tx, datasetId, id, 'dataset:write');
    await updateOwned(ctx, tx, DATASET, snapshot, { name, description });
    return snapshot.id;
  });

/**
 * Deletes a snapshot. Throws CONFLICT while it is in use; with `ifUnnamed` also while a report or job names it. The
 * janitor deletes its rows once no export reads them.
 */
export const remove = (ctx: Context, datasetId: string, id: string, { ifUnnamed = false } = {}): Promise<void> =>
  ctx.transaction(async (tx) => {
    const { dataset, snapshot } = await loadSnapshot(ctx, tx, datasetId, id, 'dataset:write');
    await checkUnused(ctx, tx, 'dataset', snapshot.id);
    if (ifUnnamed) await checkUnnamed(tx, snapshot);
    tx.remove(snapshot);
    const { viewer } = ctx;
    recordActivities(
      viewer,
      tx,
      DATASET,
      'snapshot.deleted',
      [dataset],
      (name) => `${viewer.username} deleted the snapshot ${snapshot.name} of ${name}`,
    );
  });

/** Throws CONFLICT if anything uses a snapshot, which is locked against new uses. */
async function checkUnnamed(tx: Transaction, { tenantId, id }: Dataset): Promise<void> {
  const [used] = await tx.query({
    text: `select from dws.dataset d where d.tenant_id = $1 and d.id = $2 and (${isUsedSql('dataset', 'd.id')})`,
    values: [tenantId, id],
  });
  if (used) throw conflict('A report or job names the snapshot');
}

/**
 * Starts to turn a snapshot into an independent dataset of the caller or, with `preserveSnapshot`, to create one from
 * it. Returns the operation, which has finished if `wait` is true.
 */
export async function promote(
  ctx: Context,
  datasetId: string,
  id: string,
  input: PromoteSnapshotInput,
  progress: Progress,
  wait: boolean,
): Promise<OperationRecord> {
  const texts = checkTexts(input);
  const preserveSnapshot = input.preserveSnapshot ?? false;
  return startInTransaction(ctx, wait, async (tx) => {
    const { snapshot } = await loadSnapshot(ctx, tx, datasetId, id, 'dataset:copy');
    if (!preserveSnapshot && !levelAllows(await accessLevelInTransaction(ctx, tx, snapshot), 'dataset:write'))
      throw forbidden({ permission: 'dataset:write' });
    if (preserveSnapshot) await checkCopySize(tx, ctx.viewer.tenantId, ctx.platform.config, snapshot);
    const promotion: PromotionInput = {
      datasetId: snapshot.id,
      newId: preserveSnapshot ? newId() : snapshot.id,
      preserveSnapshot,
      ...texts,
    };
    return operations.start(ctx, tx, {
      operation: 'dataset.promote',
      resource: { kind: 'dataset', id: snapshot.id },
      input: promotion,
      progress,
      unit: 'rows',
    });
  });
}

/**
 * Loads a snapshot and its dataset for an update. Throws FORBIDDEN without the permission on the snapshot. If the
 * snapshot does not exist, throws FORBIDDEN without the permission on the dataset, otherwise NOT_FOUND.
 */
async function loadSnapshot(
  ctx: Context,
  tx: Transaction,
  datasetId: string,
  id: string,
  permission: ResourcePermission,
): Promise<{ dataset: Dataset; snapshot: Dataset }> {
  const dataset = await loadResource(ctx, tx, DATASET, datasetId, 'dataset:read');
  const [found] = isUuid(id)
    ? await tx.query<{ id: string }>({
        text: `
          select id
          from dws.dataset
          where tenant_id = $1 and parent_id = $2 and is_snapshot and id = $3`,
        values: [ctx.viewer.tenantId, dataset.id, id],
      })
    : [];
  if (found)
    return { dataset, snapshot: await loadResource(ctx, tx, DATASET, found.id, permission, { ifMatch: ctx.ifMatch }) };
  if (!levelAllows(await accessLevelInTransaction(ctx, tx, dataset), permission)) throw forbidden({ permission });
  throw notFound({ what: 'snapshot', id });
}
