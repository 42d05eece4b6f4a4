import { Dataset } from '../../../entities/dataset.ts';
import type { JobActionCondition } from '../../../entities/job-action-condition.ts';
import type { Context } from '../../core/context.ts';
import { countRows } from '../dataset/dataset-data.ts';
import { VIEW_COLUMNS } from '../dataset/dataset-view.ts';

/** A run condition as far as it decides whether its action runs. */
export type RunCondition = Pick<JobActionCondition, 'type' | 'data' | 'datasetId'>;

/** The run so far. */
export interface ConditionedRun {
  /** Acts as the owner of the job, whose visible rows are counted. */
  ctx: Context;
  /** Whether a task of the run has failed. */
  hasFailed: boolean;
  /** Returns the id of the dataset that an alias of the job names. */
  datasetIdOf(alias: string): string;
}

/** `data` of a condition of the type `criteria`. */
interface CountData {
  alias?: string;
  criteria: Record<string, unknown>;
  op: keyof typeof COMPARE;
  count: number;
}

const COMPARE = {
  eq: (rows: number, count: number) => rows === count,
  ne: (rows: number, count: number) => rows !== count,
  gt: (rows: number, count: number) => rows > count,
  gte: (rows: number, count: number) => rows >= count,
  lt: (rows: number, count: number) => rows < count,
  lte: (rows: number, count: number) => rows <= count,
};

/**
 * Returns whether an action runs: all its conditions are met, or it has none and nothing has failed. Rows are counted
 * only if the other conditions are met. Throws the errors of a count, e.g. BAD_USER_INPUT for a vanished field.
 */
export async function meetsConditions(conditions: readonly RunCondition[], run: ConditionedRun): Promise<boolean> {
  if (conditions.length === 0) return !run.hasFailed;
  const counted = conditions.filter(({ type }) => type === 'criteria');
  const others = conditions.filter(({ type }) => type !== 'criteria');
  if (others.some(({ type }) => type !== 'always' && (type === 'failure') !== run.hasFailed)) return false;
  for (const condition of counted) if (!(await meetsCount(condition, run))) return false;
  return true;
}

async function meetsCount({ data, datasetId }: RunCondition, { ctx, datasetIdOf }: ConditionedRun): Promise<boolean> {
  const { alias, criteria, op, count } = data as unknown as CountData;
  const dataset = await ctx.read.one(Dataset, datasetId ?? datasetIdOf(alias!), VIEW_COLUMNS);
  return COMPARE[op](await countRows(ctx, dataset, { filter: criteria, isStored: true }), count);
}
