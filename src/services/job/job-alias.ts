import type { JobActionCondition } from '../../../entities/job-action-condition.ts';
import { JobAction } from '../../../entities/job-action.ts';
import type { Context } from '../../core/context.ts';
import type { Transaction } from '../../core/platform.ts';
import { loadConditions } from './job-part.ts';

/** Returns the id of the dataset that an action names by its id or by an alias of the job. Empty if it names none. */
export async function usedDataset(
  { query, viewer }: Pick<Context, 'query' | 'viewer'>,
  jobId: string,
  { data, datasetId }: Pick<JobAction, 'data' | 'datasetId'>,
): Promise<string> {
  if (datasetId) return datasetId;
  const [found] = await query<{ id: string }>({
    text: `select dataset_id as id from dws.job_dataset where tenant_id = $1 and job_id = $2 and alias = $3`,
    values: [viewer.tenantId, jobId, data['alias']],
  });
  return found?.id ?? '';
}

/** Returns the actions and run conditions of a job that use an alias, the actions in their order. */
export async function loadAliasUses(
  tx: Transaction,
  jobId: string,
  alias: string,
): Promise<{ actions: JobAction[]; conditions: JobActionCondition[] }> {
  const [actions, conditions] = await loadParts(tx, jobId);
  const uses = ({ data }: JobAction | JobActionCondition) => data['alias'] === alias;
  return { actions: actions.filter(uses), conditions: conditions.filter(uses) };
}

/** Returns the actions of a job that use an alias, directly or in a run condition, in their order. */
export async function loadAliasUsers(tx: Transaction, jobId: string, alias: string): Promise<JobAction[]> {
  const [actions, conditions] = await loadParts(tx, jobId);
  const ids = new Set(conditions.filter((one) => one.data['alias'] === alias).map(({ jobActionId }) => jobActionId));
  return actions.filter(({ id, data }) => data['alias'] === alias || ids.has(id));
}

/** Replaces an alias in the actions and run conditions of a job. */
export async function renameAlias(tx: Transaction, jobId: string, from: string, to: string): Promise<void> {
  for (const part of (await loadParts(tx, jobId)).flat())
    if (part.data['alias'] === from) part.data = { ...part.data, alias: to };
}

/** Loads the actions and run conditions of a job, which is locked. */
const loadParts = (tx: Transaction, jobId: string): Promise<[JobAction[], JobActionCondition[]]> =>
  Promise.all([tx.find(JobAction, { jobId }, { orderBy: ['order'] }), loadConditions(tx, jobId)]);
