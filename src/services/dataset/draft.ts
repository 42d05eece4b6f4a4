import { Dataset } from '../../../entities/dataset.ts';
import { Generation } from '../../../entities/generation.ts';
import { UserSetting } from '../../../entities/user-setting.ts';
import { GENERATION_LOCK } from '../../adapters/database/generation-lock.ts';
import type { Context } from '../../core/context.ts';
import type { Generation as IndexedRows } from '../../core/dataset-index.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import type { ResourcePermission } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { recordActivities } from '../resource/activity.ts';
import { checkVersion, load } from '../resource/load-resource.ts';
import { createOwned, updateOwned } from '../resource/owned-kind.ts';
import { DATASET } from '../resource/owned-kinds.ts';
import { checkQuota } from '../resource/quota.ts';
import { loadForRefresh, stopRefresh } from './dataset-refresh.ts';
import { redefine, type DatasetDefinition } from './dataset.ts';
import { baseOf } from './draft-base.ts';
import { applyDraft } from './draft-commit.ts';
import { insertGeneration } from './generation.ts';
import { notifyBrokenFilters } from './saved-filter-notice.ts';

/** What a draft is to have otherwise than its dataset. */
export interface DraftInput extends DatasetDefinition {
  name?: string | null;
  description?: string | null;
}

/** The caller's draft of a dataset: the one they have, or a new one of what the dataset is now. Of two calls at once the second finds the draft of the first. Answers its id. */
export function edit(ctx: Context, id: string): Promise<string> {
  return ctx.transaction(async (tx) => {
    const parent = await loadParent(ctx, tx, id, 'dataset:write');
    return ((await draftOf(ctx, tx, parent)) ?? (await make(ctx, tx, parent))).id;
  });
}

/** Makes the caller's draft of a dataset anew: of what the dataset is now, with these changes. Answers its id. */
export function replace(ctx: Context, id: string, { name, description, ...definition }: DraftInput): Promise<string> {
  return ctx.transaction(async (tx) => {
    const parent = await loadParent(ctx, tx, id, 'dataset:write');
    const former = await draftOf(ctx, tx, parent);
    checkVersion(ctx, 'draft', former?.version ?? 0);
    if (former) await discard(tx, former);
    const draft = await make(ctx, tx, parent);
    await redefine(ctx, tx, draft, definition);
    await updateOwned(ctx, tx, DATASET, draft, { name, description });
    return draft.id;
  });
}

/** Deletes the caller's draft of a dataset; 404 when there is none. */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const draft = await ownDraft(ctx, tx, await loadParent(ctx, tx, id, 'dataset:read'));
    checkVersion(ctx, 'draft', draft.version);
    await discard(tx, draft);
  });
}

/**
 * Makes the dataset what the caller's draft of it is, but for the rows, which follow with the next refresh, and ends the draft. Drafts of others stay, made
 * of what the dataset was. What users keep for the dataset is forgotten where that is asked for. Answers the dataset's id.
 */
export function commit(ctx: Context, id: string, clearAllUserSettings: boolean): Promise<string> {
  return ctx.transaction(async (tx) => {
    const parent = await loadParent(ctx, tx, id, 'dataset:write');
    const draft = await ownDraft(ctx, tx, parent);
    const changes = await applyDraft(ctx, tx, parent, draft);
    // Past the unit of work: the activity of a commit says what changed.
    await tx.em.nativeUpdate(
      Dataset,
      { id: parent.id },
      { ...changes, version: parent.version + 1, updatedAt: new Date() },
    );
    await notifyBrokenFilters(tx, parent.tenantId, parent.id, parent.fields, changes.fields ?? parent.fields);
    if (clearAllUserSettings) await tx.em.nativeDelete(UserSetting, { datasetId: parent.id });
    const { id: datasetId, ownerId } = parent;
    await recordActivities(
      ctx.viewer,
      tx,
      DATASET,
      'draft.committed',
      [{ id: datasetId, name: changes.name ?? parent.name, ownerId }],
      (name) => `${ctx.viewer.username} committed a draft of ${name}`,
      { fields: Object.keys(changes) },
    );
    await discard(tx, draft);
    return parent.id;
  });
}

/** The dataset, which is locked until the transaction ends: so nobody has two drafts of it. */
async function loadParent(ctx: Context, tx: Transaction, id: string, permission: ResourcePermission): Promise<Dataset> {
  // `If-Match` speaks of the draft.
  const parent = await load(ctx, tx, DATASET, id, permission);
  if (parent.parentId) throw conflict('A draft or snapshot has no drafts of its own');
  return parent;
}

/** The caller's draft, locked like its dataset. */
async function draftOf(ctx: Context, tx: Transaction, { id, tenantId }: Dataset): Promise<Dataset | null> {
  const [found] = await tx.query<{ id: string }>({
    text: `select id from dws.dataset where tenant_id = $1 and parent_id = $2 and owner_id = $3 and is_draft`,
    values: [tenantId, id, `user:${ctx.viewer.userId}`],
  });
  return found ? loadForRefresh(ctx, tx, found.id, 'dataset:read') : null;
}

async function ownDraft(ctx: Context, tx: Transaction, parent: Dataset): Promise<Dataset> {
  const draft = await draftOf(ctx, tx, parent);
  if (!draft) throw notFound({ what: 'draft of dataset', id: parent.id });
  return draft;
}

/** Takes a draft away and stops its refresh. Its rows are dropped by the janitor. */
async function discard(tx: Transaction, draft: Dataset): Promise<void> {
  await stopRefresh(tx, draft);
  tx.em.remove(draft);
  await tx.em.flush();
}

async function make(ctx: Context, tx: Transaction, parent: Dataset): Promise<Dataset> {
  const { tenantId } = parent;
  const rows = await cloned(ctx, tx, parent);
  const {
    name,
    description,
    queryId,
    datasourceId,
    query,
    params,
    flow,
    fields,
    settings,
    fieldSecurityEnabled,
    lastRefresh,
    dataUpdatedAt,
  } = parent;
  const draft = await createOwned(
    ctx,
    tx,
    DATASET,
    { name, description },
    {
      queryId,
      datasourceId,
      query,
      params,
      flow,
      fields,
      settings,
      fieldSecurityEnabled,
      lastRefresh,
      dataUpdatedAt,
      parentId: parent.id,
      isDraft: true,
      draftBase: await baseOf(tx, tenantId, parent.id),
      generationId: rows?.id ?? null,
      records: rows?.records ?? 0,
      size: rows?.size ?? 0,
    },
  );
  if (rows) await insertGeneration(tx, tenantId, draft.id, rows);
  return draft;
}

/** The rows that readers see now, under an id of their own, at a cost independent of them; null before the first refresh. */
async function cloned(
  { platform: { index, config } }: Context,
  tx: Transaction,
  { tenantId, generationId }: Dataset,
): Promise<IndexedRows | null> {
  const rows = generationId ? await tx.em.findOneOrFail(Generation, { id: generationId }) : null;
  if (!rows) return null;
  await checkQuota(tx, tenantId, config.TENANT_QUOTA_BYTES, rows.size);
  const id = newId();
  // The janitor spares them until the transaction ends, which names them or leaves them to it.
  await tx.query({ text: `select pg_advisory_xact_lock(${GENERATION_LOCK})`, values: [id] });
  return index.clone({ id: rows.id, fields: rows.fields, records: rows.records, size: rows.size, warnings: [] }, id);
}
