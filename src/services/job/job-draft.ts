import type { JobActionCondition } from '../../../entities/job-action-condition.ts';
import { JobAction } from '../../../entities/job-action.ts';
import { JobDataset } from '../../../entities/job-dataset.ts';
import { Job } from '../../../entities/job.ts';
import { JOB } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { conflict } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import { recordActivities } from '../resource/activity.ts';
import { copyRow } from '../resource/copy-row.ts';
import type { DraftedField } from '../resource/draft-parts.ts';
import { findResourceId, loadResource } from '../resource/load-resource.ts';
import { setSlug } from '../resource/resource-slug.ts';
import { commitParts, JOB_ACTION, JOB_CONDITION, replaceAttached } from './job-draft-commit.ts';
import { loadConditions } from './job-part.ts';
import { loadForRun, stopRuns } from './job-run-start.ts';
import { reschedule } from './job-schedule.ts';

/** The fields that a job and its draft have each for itself, or that both get together. */
type OwnField =
  | 'slug'
  | 'tags'
  | 'folderId'
  | 'type'
  | 'ownerId'
  | 'accepted'
  | 'nextRunAt'
  | 'scheduledAt'
  | 'lockedAt'
  | 'adminLockedAt'
  | 'heartbeat'
  | 'source'
  | 'sourceId'
  | 'monthlyBudget'
  | 'parentId';

/** The fields that a draft copies from its job, and a commit back. A new field is either here or an `OwnField`. */
const DRAFTED_FIELDS: Record<DraftedField<Job, OwnField>, true> = {
  name: true,
  description: true,
  interval: true,
  intervalType: true,
  timezone: true,
  enabled: true,
  startOn: true,
  endOn: true,
  data: true,
  notes: true,
};
const DRAFTED = Object.keys(DRAFTED_FIELDS) as (keyof typeof DRAFTED_FIELDS)[];
type DraftedFields = Pick<Job, keyof typeof DRAFTED_FIELDS>;

const draftedFields = (job: Job): DraftedFields =>
  Object.fromEntries(DRAFTED.map((key) => [key, job[key] ?? null])) as unknown as DraftedFields;

/**
 * Returns the draft of a job, and whether it was created as a copy. Of two concurrent calls, the second
 * returns the draft of the first.
 */
export function edit(
  ctx: Context,
  id: string,
): Promise<{ id: string; name: string; editingId: string; created: boolean }> {
  return ctx.transaction(async (tx) => {
    const job = await loadResource(ctx, tx, JOB, id, 'job:edit');
    if (job.parentId) throw conflict('A draft has no draft');
    const [present] = await tx.query<{ id: string; name: string }>({
      text: `select id, name from dws.job where tenant_id = $1 and parent_id = $2`,
      values: [job.tenantId, job.id],
    });
    const { id: draftId, name } = present ?? (await createDraft(tx, job));
    return { id: draftId, name, editingId: job.id, created: !present };
  });
}

async function createDraft(tx: Transaction, job: Job): Promise<Job> {
  const { tenantId, type, ownerId, accepted, source, sourceId, monthlyBudget } = job;
  const draft = newRow(Job, {
    ...draftedFields(job),
    tenantId,
    type,
    ownerId,
    accepted,
    source,
    sourceId,
    monthlyBudget,
    slug: '',
    parentId: job.id,
  });
  await setSlug(tx, JOB, draft);
  tx.insert(draft);
  const [datasets, actions, conditions] = await Promise.all([
    tx.find(JobDataset, { jobId: job.id }, { orderBy: ['position'] }),
    tx.find(JobAction, { jobId: job.id }, { orderBy: ['order'] }),
    loadConditions(tx, job.id),
  ]);
  for (const dataset of datasets) copyDataset(tx, dataset, draft);
  const copies = copyActions(tx, actions, draft);
  copyConditions(tx, draft, conditions, copies);
  return draft;
}

function copyConditions(
  tx: Transaction,
  { tenantId }: Job,
  conditions: readonly JobActionCondition[],
  actionCopies: ReadonlyMap<string, string>,
): void {
  tx.execute({
    text: `
      insert into dws.job_action_condition
        (id, tenant_id, job_action_id, original_id, created_at, ${JOB_CONDITION.columns.join(', ')})
      select n.id, c.tenant_id, n.action_id, c.id, c.created_at, ${JOB_CONDITION.columns.map((name) => `c.${name}`).join(', ')}
      from unnest($2::uuid[], $3::uuid[], $4::uuid[]) as n(id, original_id, action_id)
      join dws.job_action_condition c on c.tenant_id = $1 and c.id = n.original_id`,
    values: [
      tenantId,
      conditions.map(() => newId()),
      conditions.map(({ id }) => id),
      conditions.map(({ jobActionId }) => actionCopies.get(jobActionId)!),
    ],
  });
}

function copyDataset(tx: Transaction, dataset: JobDataset, draft: Job): void {
  const copy = copyRow(tx, dataset, { jobId: draft.id, originalId: dataset.id });
  tx.execute({
    text: `
      insert into dws.job_dataset_snapshot (tenant_id, reference_id, dataset_id, position)
      select tenant_id, $3, dataset_id, position
      from dws.job_dataset_snapshot
      where tenant_id = $1 and reference_id = $2`,
    values: [draft.tenantId, dataset.id, copy.id],
  });
}

/**
 * Copies actions into a draft. Attached actions become their copies. Returns the ids of the copies by the ids of the
 * originals.
 */
function copyActions(tx: Transaction, actions: readonly JobAction[], draft: Job): Map<string, string> {
  const copies = new Map(actions.map(({ id }) => [id, newId()]));
  // By one statement, because sealed secrets are not loaded.
  tx.execute({
    text: `
      insert into dws.job_action
        (id, tenant_id, job_id, type, file_id, exported_dataset_id, original_id, original_file_id,
          ${JOB_ACTION.columns.join(', ')})
      select n.id, a.tenant_id, $2, a.type, a.file_id, a.exported_dataset_id, a.id, a.file_id,
        ${JOB_ACTION.columns.map((name) => (name === 'data' ? 'n.data' : `a.${name}`)).join(', ')}
      from unnest($3::uuid[], $4::uuid[], $5::jsonb[]) as n(id, original_id, data)
      join dws.job_action a on a.tenant_id = $1 and a.id = n.original_id`,
    values: [
      draft.tenantId,
      draft.id,
      [...copies.values()],
      [...copies.keys()],
      actions.map(({ data }) => JSON.stringify(replaceAttached(data, copies))),
    ],
  });
  return copies;
}

/**
 * Replaces the fields, datasets, actions and run conditions of a job by the contents of its draft, and deletes the
 * draft. Kept datasets, actions and conditions keep their ids. Returns the id of the job. Throws CONFLICT for a job
 * that is not a draft.
 */
export function commit(ctx: Context, id: string): Promise<string> {
  return ctx.transaction(async (tx) => {
    // Locked before its draft, as by `edit` and by a deletion.
    const parentId = await findParent(ctx, tx, id);
    const job = parentId ? await loadResource(ctx, tx, JOB, parentId, 'job:edit') : null;
    const draft = await loadForRun(ctx, tx, id, 'job:edit');
    if (!job) throw conflict('Only a draft can be committed');
    const changes = changedColumns(job, draft);
    // A draft that is enabled is accepted.
    const accepted = job.accepted || draft.accepted;
    // Not as a change of the unit of work, which would record an update in addition to `draft.committed`.
    tx.writeUnrecorded(job, { ...changes, accepted, updatedAt: new Date() });
    await commitParts(tx, job, draft);
    recordActivities(
      ctx.viewer,
      tx,
      JOB,
      'draft.committed',
      [job],
      (name) => `${ctx.viewer.username} committed a draft of ${name}`,
      { fields: Object.keys(changes).filter((key) => (DRAFTED as readonly string[]).includes(key)) },
    );
    await stopRuns(tx, draft);
    tx.remove(draft);
    return job.id;
  });
}

/** Returns the id of the job whose draft has this id or slug; undefined for a job that is not a draft. */
async function findParent(ctx: Context, tx: Transaction, key: string): Promise<string | null | undefined> {
  const id = await findResourceId(ctx, tx, JOB.table, key);
  if (id === undefined) return undefined;
  const [draft] = await tx.query<{ parentId: string | null }>({
    text: `select parent_id as "parentId" from dws.job where tenant_id = $1 and id = $2`,
    values: [ctx.viewer.tenantId, id],
  });
  return draft?.parentId;
}

/** Returns the columns of a job that its draft changes, with the next run of a changed schedule. */
function changedColumns(job: Job, draft: Job): Partial<Job> {
  const [former, drafted] = [draftedFields(job), draftedFields(draft)];
  const changed = DRAFTED.filter((key) => JSON.stringify(former[key]) !== JSON.stringify(drafted[key]));
  const changes = Object.fromEntries(changed.map((key) => [key, drafted[key]])) as Partial<Job>;
  const isRescheduled = ['interval', 'intervalType', 'timezone', 'enabled', 'startOn', 'endOn'].some(
    (key) => key in changes,
  );
  if (!isRescheduled) return changes;
  const next = newRow(Job, { ...drafted, parentId: null });
  reschedule(next);
  return { ...changes, scheduledAt: next.scheduledAt, nextRunAt: next.nextRunAt };
}
