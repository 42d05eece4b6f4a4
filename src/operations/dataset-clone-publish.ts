import { Dataset } from '../../entities/dataset.ts';
import type { Config } from '../core/config.ts';
import type { Generation } from '../core/dataset-index.ts';
import { conflict, forbidden, notFound } from '../core/errors.ts';
import { levelAllows, type ResourcePermission } from '../core/permissions.ts';
import type { Transaction } from '../core/platform.ts';
import { slugOf } from '../core/slug.ts';
import { copiedSource, copyAccess } from '../services/dataset/dataset-copy-access.ts';
import { checkRoom, type CloneInput, type DatasetCopyInput } from '../services/dataset/dataset-copy.ts';
import type { PromotionInput } from '../services/dataset/snapshot.ts';
import type { Claim } from '../services/operation/operation-repository.ts';
import { findGrantee, accessLevelInTransaction, type Grantee } from '../services/resource/access-level.ts';
import { recordActivities, type ActivityActor } from '../services/resource/activity.ts';
import { DATASET } from '../services/resource/owned-kinds.ts';
import { reserveSlug } from '../services/resource/resource-slug.ts';
import { copyVisuals } from '../services/visual/visual.ts';

/** A clone that is ready to be published: what was copied, as it was when its rows were cloned. */
export interface Clone<I extends CloneInput = CloneInput> {
  claim: Claim;
  input: I;
  origin: Dataset;
  /** The cloned rows; null without. */
  generation: Generation | null;
  config: Config;
}

/** Answer of a copy, snapshot or promotion: the dataset that it came to. */
export interface CloneResult {
  id: string;
  name: string;
  records: number;
}

type Caller = Grantee & ActivityActor;

/** Makes the copy with all that it carries. */
export async function publishCopy(tx: Transaction, clone: Clone<DatasetCopyInput>): Promise<CloneResult> {
  const { input, origin } = clone;
  const { caller, root } = await allowed(tx, clone, 'dataset:copy');
  // What restricts its shares is as it is now where they are kept, and not as it was when a snapshot was made.
  const { fieldSecurityEnabled } = root;
  const copy = await make(tx, clone, caller, {
    ...(await copiedSource(tx, caller, origin, false)),
    fieldSecurityEnabled,
  });
  if (input.visuals) await copyVisuals(tx, origin.id, copy.id, caller.userId);
  if (input.filters || input.sharing) await copyAccess(tx, caller, root, copy.id, input);
  await recordActivities(caller, tx, DATASET, 'copied', [origin], (name) => `${caller.username} copied ${name}`);
  return resultOf(copy);
}

/** Makes the snapshot. It keeps the query as a text of its own, whatever becomes of the one that its dataset follows. */
export async function publishSnapshot(tx: Transaction, clone: Clone): Promise<CloneResult> {
  const { origin } = clone;
  const { caller } = await allowed(tx, clone, 'dataset:copy');
  const snapshot = await make(tx, clone, caller, {
    ...(await copiedSource(tx, caller, origin, true)),
    parentId: origin.id,
    isSnapshot: true,
    snapshotDate: new Date(),
  });
  await recordActivities(
    caller,
    tx,
    DATASET,
    'snapshot.created',
    [origin],
    (name) => `${caller.username} made the snapshot ${snapshot.name} of ${name}`,
  );
  return resultOf(snapshot);
}

/** Makes a snapshot, or a copy of it, an independent dataset of the caller's: what restricted its readers no longer does, and who made the snapshot may be one of them. */
export async function publishPromotion(tx: Transaction, clone: Clone<PromotionInput>): Promise<CloneResult> {
  const { input, origin } = clone;
  const { caller, parent } = await allowed(
    tx,
    clone,
    'dataset:copy',
    ...(input.preserveSnapshot ? [] : ['dataset:write' as const]),
  );
  if (!parent) throw conflict('It is no snapshot any more');
  const source = await copiedSource(tx, caller, origin, false);
  const promoted = input.preserveSnapshot
    ? await make(tx, clone, caller, source)
    : await release(tx, clone, caller, source);
  await recordActivities(
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

interface Locked extends Record<string, unknown> {
  id: string;
  name: string;
  ownerId: string;
  parentId: string | null;
  fieldSecurityEnabled: boolean;
}

/** Asks for the caller's rights once more, since they may be others by now. What is copied, and the dataset that it is a part of, stay until the transaction ends. */
async function allowed(
  tx: Transaction,
  { claim, origin: { id } }: Clone,
  ...permissions: ResourcePermission[]
): Promise<{ caller: Caller; parent: Locked | null; root: Locked }> {
  const { tenantId, userId } = claim;
  const lock = (of: string) =>
    tx.query<Locked>({
      text: `select id, name, owner_id as "ownerId", parent_id as "parentId", field_security_enabled as "fieldSecurityEnabled" from dws.dataset where tenant_id = $1 and id = $2 for no key update`,
      values: [tenantId, of],
    });
  // The parent comes first, as when it is deleted with its parts.
  const [part] = await tx.query<{ parentId: string | null }>({
    text: `select parent_id as "parentId" from dws.dataset where tenant_id = $1 and id = $2`,
    values: [tenantId, id],
  });
  const [above = null] = part?.parentId ? await lock(part.parentId) : [];
  const [origin] = await lock(id);
  const viewer = await findGrantee(tx, tenantId, `user:${userId}`);
  const [user] = await tx.query<{ username: string }>({
    text: `select username from dws.app_user where tenant_id = $1 and id = $2`,
    values: [tenantId, userId],
  });
  if (!origin || !viewer || !user) throw notFound({ what: 'dataset', id });
  const level = await accessLevelInTransaction({ viewer }, tx, origin);
  const lacking = permissions.find((permission) => !levelAllows(level, permission));
  if (lacking) throw forbidden({ permission: lacking });
  // While the locks were waited for, it may have been promoted.
  const parent = origin.parentId ? above : null;
  return { caller: { ...viewer, ...user, userId }, parent, root: parent ?? origin };
}

/** A dataset of the caller's, with the definition of the original and the cloned rows. */
async function make(
  tx: Transaction,
  { input, origin, generation, config }: Clone,
  caller: Caller,
  own: Partial<Dataset>,
): Promise<Dataset> {
  const { tenantId } = caller;
  if (generation) await checkRoom(tx, tenantId, config, generation);
  const { settings, fieldSecurityEnabled, dataUpdatedAt } = origin;
  const rows: Partial<Dataset> = generation
    ? {
        generationId: generation.id,
        fields: origin.fields,
        records: generation.records,
        size: generation.size,
        dataUpdatedAt,
      }
    : {};
  const dataset = tx.em.create(
    Dataset,
    {
      settings,
      fieldSecurityEnabled,
      ...own,
      ...rows,
      ...(await identityOf(tx, caller, input)),
      id: input.newId,
      tenantId,
      description: input.description === undefined ? origin.description : input.description,
    },
    { partial: true },
  );
  tx.em.persist(dataset);
  if (generation) {
    await tx.query({
      text: `insert into dws.generation (id, tenant_id, dataset_id, fields, records, size) values ($1, $2, $3, $4, $5, $6)`,
      values: [
        generation.id,
        tenantId,
        dataset.id,
        JSON.stringify(generation.fields),
        generation.records,
        generation.size,
      ],
    });
  }
  return noted(tx, caller, dataset);
}

/** The snapshot itself, which is no part of its dataset any more. */
async function release(
  tx: Transaction,
  { input, origin: { id } }: Clone<PromotionInput>,
  caller: Caller,
  source: Partial<Dataset>,
): Promise<Dataset> {
  const snapshot = await tx.em.findOneOrFail(Dataset, { id });
  const { description } = input;
  Object.assign(
    snapshot,
    source,
    await identityOf(tx, caller, input),
    { parentId: null, isSnapshot: false, snapshotDate: null },
    description !== undefined && { description },
  );
  return noted(tx, caller, snapshot);
}

async function noted(tx: Transaction, caller: Caller, dataset: Dataset): Promise<Dataset> {
  await tx.em.flush();
  await recordActivities(caller, tx, DATASET, 'created', [dataset], (name) => `${caller.username} created ${name}`);
  return dataset;
}

const identityOf = async (
  tx: Transaction,
  { tenantId, userId }: Caller,
  { name }: CloneInput,
): Promise<Pick<Dataset, 'name' | 'slug' | 'ownerId'>> => ({
  name,
  slug: await reserveSlug(tx, tenantId, DATASET.table, slugOf(name)),
  ownerId: `user:${userId}`,
});
