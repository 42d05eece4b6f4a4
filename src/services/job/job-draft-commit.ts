import type { JobActionCondition } from '../../../entities/job-action-condition.ts';
import { JobAction } from '../../../entities/job-action.ts';
import type { JobDataset } from '../../../entities/job-dataset.ts';
import type { Job } from '../../../entities/job.ts';
import type { Transaction } from '../../core/platform.ts';
import { deleteMissing, draftPart, moveNew, replaceContent } from '../resource/draft-parts.ts';
import { usedDatasetIn } from './used-dataset.ts';

/** Returns `data` of an action with other ids of attached actions. */
export const replaceAttached = (
  data: Record<string, unknown>,
  ids: ReadonlyMap<string, string>,
): Record<string, unknown> =>
  Array.isArray(data['attach']) ? { ...data, attach: data['attach'].map((id: string) => ids.get(id) ?? id) } : data;

/**
 * Replaces the datasets, actions and run conditions of a job by the parts of its draft. Both are locked. Copies replace
 * the content of their originals; the draft keeps the copies, which are deleted with it. The file of an action is
 * replaced only if the draft's file has changed since its creation: the job may have written a newer one since.
 */
export async function commitParts(tx: Transaction, job: Job, draft: Job): Promise<void> {
  await restoreAttached(tx, draft);
  const values = [job.tenantId, job.id, draft.id];
  for (const text of [REPLACE_FILES, ...DATASETS, deleteMissing(JOB_ACTION), DELETE_CONDITIONS, ...REPLACE, ...MOVE])
    tx.execute({ text, values });
}

/** Replaces the ids of copied actions that actions of the draft attach by the ids of their originals. */
async function restoreAttached(tx: Transaction, draft: Job): Promise<void> {
  const actions = await tx.find(JobAction, { jobId: draft.id });
  const originals = new Map(actions.flatMap(({ id, originalId }) => (originalId ? [[id, originalId] as const] : [])));
  for (const action of actions) {
    const data = replaceAttached(action.data, originals);
    if (data !== action.data) action.data = data;
  }
}

/* Statements with the tenant $1, the job $2 and its draft $3. */

const JOB_DATASET = draftPart<JobDataset, 'jobId'>({
  table: 'job_dataset',
  parent: 'job_id',
  columns: { datasetId: 'dataset_id', alias: 'alias', position: 'position', snapshotTime: 'snapshot_time' },
});
/** Types do not change, and `REPLACE_FILES` replaces files. */
export const JOB_ACTION = draftPart<JobAction, 'jobId' | 'type' | 'fileId' | 'exportedDatasetId' | 'originalFileId'>({
  table: 'job_action',
  parent: 'job_id',
  columns: {
    name: 'name',
    order: 'position',
    data: 'data',
    settingsOwnerId: 'settings_owner_id',
    secrets: 'secrets',
    datasetId: 'dataset_id',
    templateId: 'template_id',
    libraryId: 'library_id',
  },
});
export const JOB_CONDITION = draftPart<JobActionCondition, 'jobActionId'>({
  table: 'job_action_condition',
  parent: 'job_action_id',
  columns: { type: 'type', data: 'data', settingsOwnerId: 'settings_owner_id', datasetId: 'dataset_id' },
});

/**
 * Moves the files of copies to the originals. Includes the file of an export that now has another dataset: it would
 * have the rows of the former one. Runs before the datasets are replaced.
 */
const REPLACE_FILES = `
  update dws.job_action o
  set file_id = c.file_id, exported_dataset_id = c.exported_dataset_id, version = o.version + 1, updated_at = now()
  from dws.job_action c
  where o.tenant_id = $1 and c.original_id = o.id and o.job_id = $2 and c.job_id = $3
    and o.file_id is distinct from c.file_id
    and (
      c.file_id is distinct from c.original_file_id
      or o.type = 'export' and ${usedDatasetIn('o')} is distinct from ${usedDatasetIn('c')}
      or o.template_id is distinct from c.template_id
    )`;

/** Selects the snapshots of a dataset. */
const snapshotsOf = (row: string): string =>
  `array(select s.dataset_id from dws.job_dataset_snapshot s where s.reference_id = ${row}.id order by s.position)`;

const DELETE_SNAPSHOTS = `
  delete from dws.job_dataset_snapshot s
  using dws.job_dataset o, dws.job_dataset c
  where o.tenant_id = $1 and o.job_id = $2 and c.job_id = $3 and c.original_id = o.id and s.reference_id = o.id`;

/** Moves the snapshots of copies to the originals. */
const MOVE_SNAPSHOTS = `
  update dws.job_dataset_snapshot s
  set reference_id = o.id
  from dws.job_dataset c
  join dws.job_dataset o on o.id = c.original_id and o.job_id = $2
  where c.tenant_id = $1 and c.job_id = $3 and s.reference_id = c.id`;

/** Deletes the conditions that have no copy in the draft. */
const DELETE_CONDITIONS = `
  delete from dws.job_action_condition o
  using dws.job_action a
  where o.tenant_id = $1 and a.id = o.job_action_id and a.job_id = $2
    and not exists (
      select
      from dws.job_action_condition c
      join dws.job_action b on b.id = c.job_action_id
      where b.job_id = $3 and c.original_id = o.id
    )`;

/** Replaces the datasets of the job. New ones are moved with their snapshots. */
const DATASETS = [
  deleteMissing(JOB_DATASET),
  replaceContent(JOB_DATASET, { more: snapshotsOf }),
  DELETE_SNAPSHOTS,
  MOVE_SNAPSHOTS,
  moveNew(JOB_DATASET),
];

const REPLACE = [
  replaceContent(JOB_CONDITION, {
    parentOf: (row) => `(select job_id from dws.job_action where id = ${row}.job_action_id)`,
  }),
  replaceContent(JOB_ACTION),
];

/** Moves the new conditions of copied actions to the original actions. */
const MOVE_CONDITIONS = `
  update dws.job_action_condition c
  set job_action_id = o.id
  from dws.job_action a
  join dws.job_action o on o.id = a.original_id and o.job_id = $2
  where a.tenant_id = $1 and a.job_id = $3 and c.job_action_id = a.id and c.original_id is null`;

/** Moves new actions, with their conditions. */
const MOVE = [MOVE_CONDITIONS, moveNew(JOB_ACTION)];
