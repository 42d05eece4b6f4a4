import { isDeepStrictEqual } from 'node:util';
import type { CreateJobActionInput, UpdateJobActionInput } from '../../../entities/job-action-input.ts';
import { JobAction } from '../../../entities/job-action.ts';
import type { Job } from '../../../entities/job.ts';
import type { Context } from '../../core/context.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { checkText, invalid } from '../../core/input-checks.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import { jobActionDriverOf } from './drivers/driver-registry.ts';
import { resolveActionData } from './job-action-data.ts';
import { loadForPart, loadJobAction } from './job-part.ts';
import { actionTypeOf } from './job-type-alias.ts';
import { checkMailedExports } from './mailed-exports.ts';

/** Maximum number of actions of one job. */
const MAX_ACTIONS = 100;

/** Adds an action to the end of a job. Returns its id. */
export const create = (ctx: Context, jobId: string, input: CreateJobActionInput): Promise<string> =>
  ctx.transaction(async (tx) => addAction(ctx, tx, await loadForPart(ctx, tx, jobId), input));

/** Adds an action to the end of a job, which is locked or new. Returns its id. */
export async function addAction(
  ctx: Context,
  tx: Transaction,
  job: Job,
  { type: name, data, ...input }: Pick<CreateJobActionInput, 'type' | 'name' | 'data'>,
): Promise<string> {
  const type = actionTypeOf(name);
  jobActionDriverOf(type);
  const order = await tx.count(JobAction, { jobId: job.id });
  if (order >= MAX_ACTIONS) throw conflict(`A job has at most ${MAX_ACTIONS} actions`);
  const columns = await resolveActionData({ ctx, tx, jobId: job.id, ownerId: job.ownerId }, type, data ?? {});
  const { tenantId } = job;
  return tx.insert(
    newRow(JobAction, { tenantId, jobId: job.id, type, name: checkText(input.name, 'name'), order, ...columns }),
  ).id;
}

/** Updates an action. Masked secrets stay unchanged. Returns its id. */
export function update(ctx: Context, jobId: string, id: string, { name, data }: UpdateJobActionInput): Promise<string> {
  return ctx.transaction(async (tx) => {
    const job = await loadForPart(ctx, tx, jobId);
    const action = await loadJobAction(ctx, tx, job, id);
    if (name !== undefined) action.name = checkText(name, 'name');
    if (data !== undefined) {
      const saved = { ctx, tx, jobId: job.id, ownerId: job.ownerId, actionId: action.id };
      const former = action.data;
      const columns = await resolveActionData(saved, action.type, data ?? {}, action);
      if (namesOtherSource(action, columns)) action.fileId = action.exportedDatasetId = null;
      Object.assign(action, columns);
      if (!isDeepStrictEqual(action.data, former))
        await checkMailedExports(ctx, tx, job, (changed) => changed.id === action.id);
    }
    return action.id;
  });
}

/**
 * Returns whether an export gets another dataset, or a rendering another template: its file, which has the rows of the
 * former one, is then deleted.
 */
const namesOtherSource = ({ type, data }: JobAction, { data: next = {} }: Partial<JobAction>): boolean =>
  ['export', 'render-template'].includes(type) &&
  ['alias', 'datasetId', 'templateId'].some((key) => data[key] !== next[key]);

/** Deletes an action and closes the gap in the order. Throws CONFLICT while other actions attach its file. */
export async function remove(ctx: Context, jobId: string, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const job = await loadForPart(ctx, tx, jobId);
    const action = await loadJobAction(ctx, tx, job, id);
    const users = (await tx.find(JobAction, { jobId: job.id })).filter(({ data }) => attaches(data, action.id));
    if (users.length > 0)
      throw conflict(`The action is attached by ${users.map(({ name }) => `"${name}"`).join(', ')}`);
    tx.remove(action);
    tx.execute({
      text: `
        update dws.job_action
        set position = position - 1
        where tenant_id = $1 and job_id = $2 and position > $3`,
      values: [job.tenantId, job.id, action.order],
    });
  });
}

const attaches = ({ attach }: Record<string, unknown>, id: string): boolean =>
  Array.isArray(attach) && attach.includes(id);

/**
 * Reorders the actions of a job. Throws NOT_FOUND for an id that does not belong to an action of the job, and
 * BAD_USER_INPUT unless `ids` names each action once.
 */
export async function reorder(ctx: Context, jobId: string, ids: readonly string[]): Promise<string> {
  return ctx.transaction(async (tx) => {
    const job = await loadForPart(ctx, tx, jobId);
    const actions = new Map((await tx.find(JobAction, { jobId: job.id })).map((action) => [action.id, action]));
    const wanted = ids.map((id) => id.toLowerCase());
    const unknown = ids.find((id) => !actions.has(id.toLowerCase()));
    if (unknown !== undefined) throw notFound({ what: 'job action', id: unknown });
    if (wanted.length !== actions.size || new Set(wanted).size !== actions.size)
      throw invalid('actions', 'must contain the id of every action of the job exactly once');
    setOrder(tx, job, wanted);
    return job.id;
  });
}

/** Sets the positions of all actions by one statement. Actions that stay in place keep their version. */
function setOrder(tx: Transaction, { tenantId, id }: Job, ids: readonly string[]): void {
  tx.execute({
    text: `
      update dws.job_action a
      set position = n.position, version = version + 1, updated_at = now()
      from (
        select id, (position - 1)::int as position
        from unnest($3::uuid[]) with ordinality as o(id, position)
      ) n
      where a.tenant_id = $1 and a.job_id = $2 and a.id = n.id and a.position <> n.position`,
    values: [tenantId, id, ids],
  });
}
