import { isDeepStrictEqual } from 'node:util';
import { JobActionCondition, type JobActionConditionType } from '../../../entities/job-action-condition.ts';
import type {
  CreateJobActionConditionInput,
  UpdateJobActionConditionInput,
} from '../../../entities/job-action-input.ts';
import type { JobAction } from '../../../entities/job-action.ts';
import type { Context } from '../../core/context.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import type { JobData, SavedAction } from '../../core/job-drivers.ts';
import { newRow } from '../../core/new-row.ts';
import type { Transaction } from '../../core/platform.ts';
import { checkVersion } from '../resource/load-resource.ts';
import { DATASET_PROPERTIES } from './drivers/action-schema.ts';
import { keepHiddenSettings, settingsOwner } from './hidden-settings.ts';
import { checkDatasetCriteria, datasetOf, resolveDatasetKeys } from './job-action-data.ts';
import { checkData } from './job-data.ts';
import { checkMayCount, loadForPart, loadJobAction } from './job-part.ts';

/** Maximum number of run conditions of one action. */
const MAX_CONDITIONS = 20;

const NO_DATA = { schema: { type: 'object', additionalProperties: false } };
/** `data` of a condition of the type `criteria`. */
const CRITERIA_DATA = {
  schema: {
    type: 'object',
    properties: {
      ...DATASET_PROPERTIES,
      criteria: { type: 'object' },
      op: { enum: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'] },
      count: { type: 'integer', minimum: 0 },
    },
    required: ['criteria', 'op', 'count'],
    additionalProperties: false,
  },
};

/** Adds a run condition to an action. Returns its id. */
export function create(
  ctx: Context,
  jobId: string,
  actionId: string,
  { type, data }: CreateJobActionConditionInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const { saved, action } = await loadAction(ctx, tx, jobId, actionId);
    if ((await tx.count(JobActionCondition, { jobActionId: action.id })) >= MAX_CONDITIONS)
      throw conflict(`An action has at most ${MAX_CONDITIONS} run conditions`);
    const columns = await resolveData(saved, type, data ?? {});
    const { tenantId } = action;
    return tx.insert(newRow(JobActionCondition, { tenantId, jobActionId: action.id, type, ...columns })).id;
  });
}

/** Updates a run condition. Returns its id. */
export function update(
  ctx: Context,
  jobId: string,
  actionId: string,
  id: string,
  { type, data }: UpdateJobActionConditionInput,
): Promise<string> {
  return ctx.transaction(async (tx) => {
    const { saved, action } = await loadAction(ctx, tx, jobId, actionId);
    const condition = await loadCondition(ctx, tx, action, id);
    const newType = type ?? condition.type;
    // The data of another type would not fit.
    const newData = data === undefined && newType === condition.type ? condition.data : (data ?? {});
    Object.assign(condition, { type: newType, ...(await resolveData(saved, newType, newData, condition)) });
    return condition.id;
  });
}

/** Deletes a run condition. */
export async function remove(ctx: Context, jobId: string, actionId: string, id: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    const { action } = await loadAction(ctx, tx, jobId, actionId);
    tx.remove(await loadCondition(ctx, tx, action, id));
  });
}

async function loadAction(ctx: Context, tx: Transaction, jobId: string, actionId: string) {
  const job = await loadForPart(ctx, tx, jobId);
  const action = await loadJobAction(ctx, tx, job, actionId, false);
  return { action, saved: { ctx, tx, jobId: job.id, ownerId: job.ownerId, actionId: action.id } };
}

async function loadCondition(
  ctx: Context,
  tx: Transaction,
  { id: jobActionId }: JobAction,
  id: string,
): Promise<JobActionCondition> {
  const condition = isUuid(id) ? await tx.findOne(JobActionCondition, { id: id.toLowerCase(), jobActionId }) : null;
  if (!condition) throw notFound({ what: 'job action run condition', id });
  checkVersion(ctx, 'job action run condition', condition.version);
  return condition;
}

async function resolveData(
  saved: SavedAction,
  type: JobActionConditionType,
  input: JobData,
  former?: JobActionCondition,
): Promise<Pick<JobActionCondition, 'data' | 'datasetId' | 'settingsOwnerId'>> {
  if (type !== 'criteria') return { data: checkData(NO_DATA, input), datasetId: null, settingsOwnerId: null };
  const data = await keepHiddenSettings(saved, input, former, () => datasetOf(saved, former!));
  const columns = await resolveDatasetKeys(saved, checkData(CRITERIA_DATA, data), former);
  if (!isDeepStrictEqual(columns.data, former?.data)) {
    await checkDatasetCriteria(saved, columns, 'criteria', former);
    await checkMayCount(saved.ctx, saved.tx, saved, await datasetOf(saved, columns));
  }
  return { ...columns, settingsOwnerId: settingsOwner(columns.data, former) };
}
