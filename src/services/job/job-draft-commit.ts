import { JobAction } from '../../../entities/job-action.ts';
import type { Job } from '../../../entities/job.ts';
import type { Transaction } from '../../core/platform.ts';

/** Returns `data` of an action with other ids of attached actions. */
export const replaceAttached = (
  data: Record<string, unknown>,
  ids: ReadonlyMap<string, string>,
): Record<string, unknown> =>
  Array.isArray(data['attach']) ? { ...data, attach: data['attach'].map((id: string) => ids.get(id) ?? id) } : data;

/**
 * Replaces the datasets, actions and run conditions of a job by those of its draft. Both are locked. Copies replace the
 * content of their originals; the draft keeps the copies, which are deleted with it.
 */
export async function commitParts(tx: Transaction, job: Job, draft: Job): Promise<void> {
  await restoreAttached(tx, draft);
  const values = [job.tenantId, job.id, draft.id];
  tx.execute({ text: `delete from dws.job_dataset where tenant_id = $1 and job_id = $2`, values: values.slice(0, 2) });
  for (const text of [MOVE_DATASETS, DELETE_ACTIONS, DELETE_CONDITIONS, ...REPLACE, MOVE_CONDITIONS, MOVE_ACTIONS])
    tx.execute({ text, values });
}

/** Replaces the ids of copied actions that actions of the draft attach by those of their originals. */
async function restoreAttached(tx: Transaction, draft: Job): Promise<void> {
  const actions = await tx.find(JobAction, { jobId: draft.id });
  const originals = new Map(actions.flatMap(({ id, originalId }) => (originalId ? [[id, originalId] as const] : [])));
  for (const action of actions) {
    const data = replaceAttached(action.data, originals);
    if (data !== action.data) action.data = data;
  }
}

/* Statements with the tenant $1, the job $2 and its draft $3. */

const MOVE_DATASETS = `
  update dws.job_dataset
  set job_id = $2
  where tenant_id = $1 and job_id = $3`;

/** Deletes the actions that the draft has no copy of. */
const DELETE_ACTIONS = `
  delete from dws.job_action o
  where o.tenant_id = $1 and o.job_id = $2
    and not exists (select from dws.job_action c where c.job_id = $3 and c.original_id = o.id)`;

/** Deletes the conditions that the draft has no copy of. */
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

/** Returns the statement that gives originals the content of their copies. `rows` selects the rows of a job `$n`. */
const replaceContent = (table: string, columns: readonly string[], rowsOf: (job: string) => string): string => `
  update dws.${table} o
  set ${columns.map((column) => `${column} = c.${column}`).join(', ')}, version = o.version + 1, updated_at = now()
  from dws.${table} c
  where o.tenant_id = $1 and c.original_id = o.id and ${rowsOf('o')} = $2 and ${rowsOf('c')} = $3
    and (${columns.map((column) => `o.${column}`).join(', ')})
      is distinct from (${columns.map((column) => `c.${column}`).join(', ')})`;

const REPLACE = [
  replaceContent(
    'job_action_condition',
    ['type', 'data', 'dataset_id'],
    (row) => `(select job_id from dws.job_action where id = ${row}.job_action_id)`,
  ),
  replaceContent(
    'job_action',
    ['name', 'position', 'data', 'secrets', 'dataset_id', 'file_id', 'exported_dataset_id'],
    (row) => `${row}.job_id`,
  ),
];

/** Moves the new conditions of copied actions to the originals of these. */
const MOVE_CONDITIONS = `
  update dws.job_action_condition c
  set job_action_id = o.id
  from dws.job_action a
  join dws.job_action o on o.id = a.original_id and o.job_id = $2
  where a.tenant_id = $1 and a.job_id = $3 and c.job_action_id = a.id and c.original_id is null`;

/** Moves new actions, with their conditions. */
const MOVE_ACTIONS = `
  update dws.job_action
  set job_id = $2
  where tenant_id = $1 and job_id = $3 and original_id is null`;
