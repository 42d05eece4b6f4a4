import type { CreateJobInput, UpdateJobInput } from '../../../entities/job-input.ts';
import type { Job } from '../../../entities/job.ts';
import { JOB } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { forbidden } from '../../core/errors.ts';
import { checkOptionalText, checkText, invalid } from '../../core/input-checks.ts';
import { levelAllows } from '../../core/permissions.ts';
import type { Transaction } from '../../core/platform.ts';
import { idOfPrincipal, isOtherUser } from '../../core/viewer.ts';
import { accessLevelInTransaction } from '../resource/access-level.ts';
import { loadResource } from '../resource/load-resource.ts';
import { createOwned, updateOwned } from '../resource/owned-kind.ts';
import { resolvePrincipal } from '../resource/resolve-ids.ts';
import { setMonthlyBudget } from '../usage/monthly-budget.ts';
import { jobDriverOf } from './drivers/driver-registry.ts';
import { requireAccepted } from './job-acceptance.ts';
import { addAction } from './job-action.ts';
import { checkData } from './job-data.ts';
import { addDatasets } from './job-dataset.ts';
import { setLock } from './job-lock.ts';
import { loadForRun, stopRuns } from './job-run-start.ts';
import { changeSchedule } from './job-schedule.ts';
import { singleActionOf } from './job-type-alias.ts';

const DEFAULT_TIMEZONE = 'UTC';

/**
 * Creates a job, by default disabled. Returns its id. Some types stand for a job with one action, whose settings are `data`.
 */
export function create(
  ctx: Context,
  { type: name, datasets, source, sourceId, lockedAt, notes, monthlyBudget, ...input }: CreateJobInput,
): Promise<string> {
  if (lockedAt) throw invalid('lockedAt', 'must be absent or null for a new job');
  const actionType = singleActionOf(name);
  const type = actionType ? 'actions' : name;
  const { data: settings, ...given } = input;
  const data = actionType ? {} : (settings ?? {});
  const content: Partial<Job> = {
    type,
    data: checkData(jobDriverOf(type), data),
    notes: checkOptionalText(notes ?? null, 'notes'),
    source: source ? checkText(source, 'source') : null,
    sourceId: sourceId ? checkText(sourceId, 'sourceId') : null,
  };
  setMonthlyBudget(ctx, content, monthlyBudget);
  const { interval, intervalType, timezone, startOn, endOn, enabled, ...owned } = given;
  return ctx.transaction(async (tx) => {
    const ownerId = owned.ownerId ? await resolvePrincipal(tx, ctx.viewer.tenantId, owned.ownerId) : undefined;
    content.accepted = !ownerId || !isOtherUser(ctx.viewer, ownerId);
    if (enabled && !content.accepted) throw notEnabled();
    const zone = timezone ?? (await loadTimezone(ctx, tx, ownerId));
    changeSchedule(content as Job, { interval, intervalType, timezone: zone, startOn, endOn, enabled });
    const job = await createOwned(ctx, tx, JOB, { ...owned, ownerId }, content);
    await addDatasets(ctx, tx, job, datasets ?? []);
    if (actionType) await addAction(ctx, tx, job, { type: actionType, name: job.name, data: settings ?? {} });
    return job.id;
  });
}

/** Creates the error of a job that is given to a user and enabled in one call. */
const notEnabled = () => invalid('enabled', 'must be set by the new owner');

/** Returns the time zone of the owner, by default the caller. Teams and users without one have UTC. */
async function loadTimezone({ viewer }: Context, tx: Transaction, ownerId?: string): Promise<string> {
  const principal = ownerId ?? `user:${viewer.userId}`;
  if (!principal.startsWith('user:')) return DEFAULT_TIMEZONE;
  const [user] = await tx.query<{ timezone: string | null }>({
    text: `select timezone from dws.app_user where tenant_id = $1 and id = $2`,
    values: [viewer.tenantId, idOfPrincipal(principal)],
  });
  return user?.timezone || DEFAULT_TIMEZONE;
}

/** Updates a job or a draft. Returns its id. */
export function update(
  ctx: Context,
  id: string,
  { data, notes, lockedAt, monthlyBudget, ...input }: UpdateJobInput,
): Promise<string> {
  const { interval, intervalType, timezone, startOn, endOn, enabled, ...owned } = input;
  return ctx.transaction(async (tx) => {
    const job = await loadResource(ctx, tx, JOB, id, 'job:edit', { ifMatch: ctx.ifMatch });
    if (lockedAt !== undefined) await setLock(ctx, tx, job, lockedAt);
    if (data !== undefined) job.data = checkData(jobDriverOf(job.type), data ?? {});
    setMonthlyBudget(ctx, job, monthlyBudget);
    if (notes !== undefined) job.notes = checkOptionalText(notes, 'notes');
    const enables = Boolean(enabled) && !job.enabled;
    if (enables) {
      requireAccepted(ctx, job);
      job.accepted = true;
    }
    changeSchedule(job, { interval, intervalType, timezone, startOn, endOn, enabled });
    const former = job.ownerId;
    await updateOwned(ctx, tx, JOB, job, owned);
    if (enables && job.ownerId !== former && job.ownerId.startsWith('user:')) throw notEnabled();
    return job.id;
  });
}

/**
 * Deletes a job with its draft and its history, or a draft alone. A job is deleted by its owner, a draft by every user
 * who may edit the job.
 */
export async function remove(ctx: Context, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const job = await loadForRun(ctx, tx, id, 'job:read', { ifMatch: ctx.ifMatch });
    const permission = job.parentId ? 'job:edit' : 'job:delete';
    if (!levelAllows(await accessLevelInTransaction(ctx, tx, job), permission)) throw forbidden({ permission });
    await stopRuns(tx, job);
    tx.remove(job);
  });
}
