import type { Dataset } from '../../../entities/dataset.ts';
import type { UpdateDatasetDraftInput } from '../../../entities/draft-input.ts';
import { Generation } from '../../../entities/generation.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import { GENERATION_LOCK } from '../../adapters/database/generation-lock.ts';
import type { Context } from '../../core/context.ts';
import type { Generation as IndexedRows } from '../../core/dataset-index.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import type { ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { actingPrincipal } from '../../core/viewer.ts';
import { recordActivities } from '../resource/activity.ts';
import { checkVersion, loadResource } from '../resource/load-resource.ts';
import { createOwned, updateOwned } from '../resource/owned-kind.ts';
import { checkQuota } from '../resource/quota.ts';
import { loadForRefresh, stopRefresh } from './dataset-refresh.ts';
import { redefine } from './dataset.ts';
import { loadDraftBase } from './draft-base.ts';
import { collectDraftChanges } from './draft-commit.ts';
import { insertGeneration } from './generation.ts';
import { notifyBrokenFilters } from './saved-filter-notice.ts';

/**
 * Returns the id of the caller's draft of a dataset. Without one, creates the draft as a copy of the dataset. Of two
 * concurrent calls, the second returns the draft of the first.
 */
export function edit(ctx: Context, id: string): Promise<string> {
  return ctx.transaction(async (tx) => {
    const parent = await loadParent(ctx, tx, id, 'dataset:write');
    return ((await findDraft(ctx, tx, parent)) ?? (await createDraft(ctx, tx, parent))).id;
  });
}

/** Replaces the caller's draft by a copy of the dataset with these changes. Returns the id of the new draft. */
export function replace(
  ctx: Context,
  id: string,
  { name, description, ...definition }: UpdateDatasetDraftInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const parent = await loadParent(ctx, tx, id, 'dataset:write');
    const former = await findDraft(ctx, tx, parent);
    checkVersion(ctx, 'draft', former?.version ?? 0);
    if (former) await deleteDraft(tx, former);
    const draft = await createDraft(ctx, tx, parent);
    await redefine(ctx, tx, draft, definition);
    await updateOwned(ctx, tx, DATASET, draft, { name, description });
    return draft.id;
  });
}

/** Deletes the caller's draft of a dataset. Throws NOT_FOUND without one. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const draft = await loadDraft(ctx, tx, await loadParent(ctx, tx, id, 'dataset:read'));
    checkVersion(ctx, 'draft', draft.version);
    await deleteDraft(tx, draft);
  });
}

/**
 * Copies the changes of the caller's draft to its dataset and deletes the draft. The rows stay until the next
 * refresh. Drafts of other users stay and become stale. With `clearAllUserSettings` deletes the settings of all users
 * for the dataset. Returns the id of the dataset.
 */
export function commit(ctx: Context, id: string, clearAllUserSettings: boolean): Promise<string> {
  return ctx.transaction(async (tx) => {
    const parent = await loadParent(ctx, tx, id, 'dataset:write');
    const draft = await loadDraft(ctx, tx, parent);
    const changes = await collectDraftChanges(ctx, tx, parent, draft);
    await notifyBrokenFilters(tx, parent.tenantId, parent.id, parent.fields, changes.fields ?? parent.fields);
    // Not as a change of the unit of work, which would record an update in addition to `draft.committed`.
    tx.writeUnrecorded(parent, { ...changes, updatedAt: new Date() });
    if (clearAllUserSettings)
      tx.execute({
        text: `delete from dws.user_setting where tenant_id = $1 and dataset_id = $2`,
        values: [parent.tenantId, parent.id],
      });
    const { id: datasetId, ownerId } = parent;
    recordActivities(
      ctx.viewer,
      tx,
      DATASET,
      'draft.committed',
      [{ id: datasetId, name: changes.name ?? parent.name, ownerId }],
      (name) => `${ctx.viewer.username} committed a draft of ${name}`,
      { fields: Object.keys(changes) },
    );
    await deleteDraft(tx, draft);
    return parent.id;
  });
}

/**
 * Loads the dataset and locks it until the transaction ends, so that no user gets two drafts of it. `If-Match`
 * applies to the draft, not to the dataset.
 */
async function loadParent(ctx: Context, tx: Transaction, id: string, permission: ResourcePermission): Promise<Dataset> {
  const parent = await loadResource(ctx, tx, DATASET, id, permission);
  if (parent.parentId) throw conflict('A draft or snapshot cannot have drafts');
  return parent;
}

/** Returns the caller's draft, locked like its dataset, or null. */
async function findDraft(ctx: Context, tx: Transaction, { id, tenantId }: Dataset): Promise<Dataset | null> {
  const [found] = await tx.query<{ id: string }>({
    text: `
      select id
      from dws.dataset
      where tenant_id = $1 and parent_id = $2 and owner_id = $3 and is_draft`,
    values: [tenantId, id, actingPrincipal(ctx.viewer)],
  });
  return found ? loadForRefresh(ctx, tx, found.id, 'dataset:read') : null;
}

async function loadDraft(ctx: Context, tx: Transaction, parent: Dataset): Promise<Dataset> {
  const draft = await findDraft(ctx, tx, parent);
  if (!draft) throw notFound({ what: 'draft of dataset', id: parent.id });
  return draft;
}

/** Deletes a draft and stops its refresh. The janitor deletes its rows. */
async function deleteDraft(tx: Transaction, draft: Dataset): Promise<void> {
  stopRefresh(tx, draft);
  tx.remove(draft);
  tx.flush();
}

async function createDraft(ctx: Context, tx: Transaction, parent: Dataset): Promise<Dataset> {
  const { tenantId, name, description } = parent;
  const rows = await cloneRows(ctx, tx, parent);
  const draft = await createOwned(
    ctx,
    tx,
    DATASET,
    { name, description },
    {
      ...copiedColumns(parent),
      parentId: parent.id,
      isDraft: true,
      draftBase: await loadDraftBase(tx, tenantId, parent.id),
      generationId: rows?.id ?? null,
      records: rows?.records ?? 0,
      size: rows?.size ?? 0,
    },
  );
  if (rows) await insertGeneration(tx, tenantId, draft.id, rows);
  return draft;
}

const copiedColumns = (parent: Dataset): Partial<Dataset> => ({
  queryId: parent.queryId,
  datasourceId: parent.datasourceId,
  query: parent.query,
  params: parent.params,
  flow: parent.flow,
  fields: parent.fields,
  settings: parent.settings,
  fieldSecurityEnabled: parent.fieldSecurityEnabled,
  lastRefresh: parent.lastRefresh,
  dataUpdatedAt: parent.dataUpdatedAt,
});

/**
 * Clones the current rows under a new id. The cost does not depend on their number. Returns null before the first
 * refresh. Throws where the quota of the tenant is exceeded.
 */
async function cloneRows(
  { platform: { index, config } }: Context,
  tx: Transaction,
  { tenantId, generationId }: Dataset,
): Promise<IndexedRows | null> {
  const rows = generationId ? await tx.findOne(Generation, { id: generationId }) : null;
  if (!rows) return null;
  await checkQuota(tx, tenantId, config.TENANT_QUOTA_BYTES, rows.size);
  const id = newId();
  // The janitor deletes no generation that is locked. After the commit it is referenced, after a rollback it is
  // deleted.
  await tx.query({ text: `select pg_advisory_xact_lock(${GENERATION_LOCK})`, values: [id] });
  return index.clone({ id: rows.id, fields: rows.fields, records: rows.records, size: rows.size, warnings: [] }, id);
}
