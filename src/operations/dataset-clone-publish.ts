import { Dataset } from '../../entities/dataset.ts';
import { DATASET } from '../../entities/owned-kinds.ts';
import type { Config } from '../core/config.ts';
import type { Generation } from '../core/dataset-index.ts';
import { conflict, forbidden, notFound } from '../core/errors.ts';
import { newRow } from '../core/new-row.ts';
import type { CloneInput, OperationInputs, PromotionInput } from '../core/operations.ts';
import { levelAllows, type ResourcePermission } from '../core/permissions.ts';
import type { Transaction } from '../core/platform.ts';
import { copySource, copyAccess } from '../services/dataset/dataset-copy-access.ts';
import { checkCopySize } from '../services/dataset/dataset-copy.ts';
import { insertGeneration } from '../services/dataset/generation.ts';
import type { Claim } from '../services/operation/operation-repository.ts';
import { accessLevelInTransaction } from '../services/resource/access-level.ts';
import { recordActivities } from '../services/resource/activity.ts';
import { setSlug } from '../services/resource/resource-slug.ts';
import { copyVisuals } from '../services/visual/visual.ts';
import { findCaller, type OperationCaller } from './operation-caller.ts';
import type { CloneResult } from './operation-results.ts';

export type CloneOperation = 'dataset.copy' | 'dataset.snapshot' | 'dataset.promote';

/** A clone that is ready to be published, with its original as it was when the rows were cloned. */
export interface ReadyClone<N extends CloneOperation = CloneOperation> {
  claim: Claim<N>;
  input: OperationInputs[N];
  origin: Dataset;
  /** The cloned rows. Null for a clone without rows. */
  generation: Generation | null;
  config: Config;
}

/** Creates the copy with the requested parts. */
export async function publishCopy(tx: Transaction, clone: ReadyClone<'dataset.copy'>): Promise<CloneResult> {
  const { input, origin } = clone;
  const { caller, root } = await checkAccess(tx, clone, 'dataset:copy');
  const copy = await createDataset(tx, clone, caller, {
    ...(await copySource(tx, caller, origin, false)),
    // The current setting of the root dataset, as a snapshot keeps an old one.
    fieldSecurityEnabled: root.fieldSecurityEnabled,
  });
  if (input.visuals) await copyVisuals(tx, origin.id, copy.id, caller.userId);
  if (input.filters || input.sharing) await copyAccess(tx, caller, root, copy.id, input);
  recordActivities(caller, tx, DATASET, 'copied', [origin], (name) => `${caller.username} copied ${name}`);
  return resultOf(copy);
}

/** Creates the snapshot. Its query is stored as text, so that later changes of a saved query do not affect it. */
export async function publishSnapshot(tx: Transaction, clone: ReadyClone<'dataset.snapshot'>): Promise<CloneResult> {
  const { origin } = clone;
  const { caller } = await checkAccess(tx, clone, 'dataset:copy');
  const snapshot = await createDataset(tx, clone, caller, {
    ...(await copySource(tx, caller, origin, true)),
    parentId: origin.id,
    isSnapshot: true,
    snapshotDate: new Date(),
  });
  recordActivities(
    caller,
    tx,
    DATASET,
    'snapshot.created',
    [origin],
    (name) => `${caller.username} created the snapshot ${snapshot.name} of ${name}`,
  );
  return resultOf(snapshot);
}

/**
 * Publishes a snapshot, or a copy of it, as an independent dataset of the caller. The restrictions of the former parent
 * no longer apply to its readers, who may include the snapshot's owner. Throws CONFLICT if another operation has
 * promoted the snapshot.
 */
export async function publishPromotion(tx: Transaction, clone: ReadyClone<'dataset.promote'>): Promise<CloneResult> {
  const { input, origin } = clone;
  const { caller, parent } = await checkAccess(
    tx,
    clone,
    'dataset:copy',
    ...(input.preserveSnapshot ? [] : ['dataset:write' as const]),
  );
  if (!parent) throw conflict('The dataset is no longer a snapshot');
  const source = await copySource(tx, caller, origin, false);
  const promoted = input.preserveSnapshot
    ? await createDataset(tx, clone, caller, source)
    : await detachSnapshot(tx, clone, caller, source);
  recordActivities(
    caller,
    tx,
    DATASET,
    'snapshot.promoted',
    [parent],
    (name) => `${caller.username} promoted the snapshot ${origin.name} of ${name}`,
  );
  return resultOf(promoted);
}

const resultOf = ({ id, name, records }: Dataset): CloneResult => ({ id, name, records });

interface LockedDataset extends Record<string, unknown> {
  id: string;
  name: string;
  ownerId: string;
  parentId: string | null;
  fieldSecurityEnabled: boolean;
}

/**
 * Checks the caller's access again, which may have changed since the request. Locks the original and its parent until
 * the transaction ends, the parent first, as a deletion of the parent does. Throws NOT_FOUND or FORBIDDEN.
 */
async function checkAccess(
  tx: Transaction,
  { claim: { tenantId, userId }, origin: { id } }: Pick<ReadyClone, 'claim' | 'origin'>,
  ...permissions: ResourcePermission[]
): Promise<{ caller: OperationCaller; parent: LockedDataset | null; root: LockedDataset }> {
  const [child] = await tx.query<{ parentId: string | null }>({
    text: `select parent_id as "parentId" from dws.dataset where tenant_id = $1 and id = $2`,
    values: [tenantId, id],
  });
  const lockedParent = child?.parentId ? await lockDataset(tx, tenantId, child.parentId) : null;
  const origin = await lockDataset(tx, tenantId, id);
  const caller = await findCaller(tx, tenantId, userId);
  if (!origin || !caller) throw notFound({ what: 'dataset', id });
  const level = await accessLevelInTransaction({ viewer: caller }, tx, origin);
  const missing = permissions.find((permission) => !levelAllows(level, permission));
  if (missing) throw forbidden({ permission: missing });
  // A snapshot may have been promoted before it was locked.
  const parent = origin.parentId ? lockedParent : null;
  return { caller, parent, root: parent ?? origin };
}

async function lockDataset(tx: Transaction, tenantId: string, id: string): Promise<LockedDataset | null> {
  const [dataset] = await tx.query<LockedDataset>({
    text: `select id, name, owner_id as "ownerId", parent_id as "parentId",
        field_security_enabled as "fieldSecurityEnabled"
      from dws.dataset
      where tenant_id = $1 and id = $2
      for no key update`,
    values: [tenantId, id],
  });
  return dataset ?? null;
}

/** Creates a dataset of the caller with the definition of the original and the cloned rows. */
async function createDataset(
  tx: Transaction,
  { input, origin, generation, config }: ReadyClone,
  caller: OperationCaller,
  own: Partial<Dataset>,
): Promise<Dataset> {
  const { tenantId } = caller;
  if (generation) await checkCopySize(tx, tenantId, config, generation);
  const { settings, fieldSecurityEnabled, fields, dataUpdatedAt } = origin;
  const rows: Partial<Dataset> = generation
    ? { generationId: generation.id, fields, records: generation.records, size: generation.size, dataUpdatedAt }
    : {};
  const dataset = newRow(Dataset, {
    settings,
    fieldSecurityEnabled,
    ...own,
    ...rows,
    ...identityOf(caller, input),
    id: input.newId,
    tenantId,
    description: input.description === undefined ? origin.description : input.description,
  });
  await setSlug(tx, DATASET, dataset);
  tx.insert(dataset);
  if (generation) await insertGeneration(tx, tenantId, dataset.id, generation);
  await saveWithActivity(tx, caller, dataset);
  return dataset;
}

/** Turns the snapshot itself into an independent dataset. */
async function detachSnapshot(
  tx: Transaction,
  { input, origin: { id } }: { input: PromotionInput; origin: Dataset },
  caller: OperationCaller,
  source: Partial<Dataset>,
): Promise<Dataset> {
  const snapshot = (await tx.findOne(Dataset, { id }))!;
  const { description } = input;
  Object.assign(
    snapshot,
    source,
    identityOf(caller, input),
    { parentId: null, isSnapshot: false, snapshotDate: null },
    description !== undefined && { description },
  );
  await setSlug(tx, DATASET, snapshot);
  await saveWithActivity(tx, caller, snapshot);
  return snapshot;
}

async function saveWithActivity(tx: Transaction, caller: OperationCaller, dataset: Dataset): Promise<void> {
  const message = (name: string) => `${caller.username} created ${name}`;
  recordActivities(caller, tx, DATASET, 'created', [dataset], message);
}

const identityOf = ({ principal }: OperationCaller, { name }: CloneInput): Pick<Dataset, 'name' | 'ownerId'> => ({
  name,
  ownerId: principal,
});
