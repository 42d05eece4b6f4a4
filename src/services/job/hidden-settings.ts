import { isDeepStrictEqual } from 'node:util';
import { Dataset } from '../../../entities/dataset.ts';
import type { JobAction } from '../../../entities/job-action.ts';
import type { Job } from '../../../entities/job.ts';
import type { Context } from '../../core/context.ts';
import { refused } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import type { JobData, SavedAction } from '../../core/job-drivers.ts';
import { isRestricted } from '../../core/permissions.ts';
import { accessLevel, accessLevelInTransaction, type AccessColumns } from '../resource/access-level.ts';
import { ownsJob } from './job-part.ts';

/** Keys of `data` that can name fields and values of a dataset. */
const HIDDEN_KEYS = ['filter', 'criteria', 'params'];

/** Relations and columns of the dataset that decide whether a viewer sees all settings. */
export const USED_DATASET_COLUMNS = ['id', 'ownerId', 'parent.id', 'parent.ownerId'].map(
  (column) => `usedDataset.${column}`,
);

/** Settings of an action or a run condition, as stored. */
interface StoredSettings {
  data: JobData;
  settingsOwnerId?: string | null;
  job: Pick<Job, 'ownerId'>;
  /** Null if the viewer may not read it, and without one. */
  usedDataset: AccessColumns | null;
}

const hasHiddenKeys = (data: JobData): boolean => HIDDEN_KEYS.some((key) => key in data);

/** Returns whether the viewer owns a job and, unless it changed hands since, its settings. */
const ownsSettings = (
  ctx: Pick<Context, 'viewer'>,
  { ownerId }: Pick<Job, 'ownerId'>,
  settingsOwnerId: string | null | undefined,
): boolean => ownsJob(ctx, { ownerId }) && (settingsOwnerId == null || settingsOwnerId === ownerId);

/**
 * Returns the settings that a viewer may see: without the keys that name fields and values, if they neither own the job
 * and these settings nor may read the whole dataset.
 */
export async function visibleSettings(ctx: Context, stored: StoredSettings): Promise<JobData> {
  const { data, settingsOwnerId, job, usedDataset } = stored;
  if (!hasHiddenKeys(data) || ownsSettings(ctx, job, settingsOwnerId)) return data;
  if (usedDataset && !isRestricted(await accessLevel(ctx, usedDataset))) return data;
  return Object.fromEntries(Object.entries(data).filter(([key]) => !HIDDEN_KEYS.includes(key)));
}

/**
 * Returns whether the caller of a change sees all settings that belong to a dataset; empty for settings of a template.
 */
async function seesSettings(
  { ctx, tx, ownerId }: Pick<SavedAction, 'ctx' | 'tx' | 'ownerId'>,
  datasetId: string,
  settingsOwnerId: string | null | undefined,
): Promise<boolean> {
  if (ownsSettings(ctx, { ownerId }, settingsOwnerId)) return true;
  if (!datasetId) return false;
  const dataset = await tx.findOne(Dataset, { id: datasetId });
  return dataset !== null && !isRestricted(await accessLevelInTransaction(ctx, tx, dataset));
}

/** Settings before a change. */
type FormerSettings = Pick<JobAction, 'data' | 'settingsOwnerId'>;

/**
 * Returns the owner of changed settings. It stays the former owner while a value is theirs that the current owner may
 * not see.
 */
export const settingsOwner = (data: JobData, former?: FormerSettings): string | null =>
  HIDDEN_KEYS.some((key) => key in data && isDeepStrictEqual(data[key], former?.data[key]))
    ? (former?.settingsOwnerId ?? null)
    : null;

/**
 * Returns new settings with the stored values of keys that the caller does not see and so did not send. Throws
 * BAD_USER_INPUT naming such a key when another dataset is named, where the caller would see the value.
 */
export async function keepHiddenSettings(
  action: SavedAction,
  input: JobData,
  { data: former, settingsOwnerId }: FormerSettings = { data: {} },
  formerDataset: () => Promise<string>,
): Promise<JobData> {
  const missing = HIDDEN_KEYS.filter((key) => key in former && !(key in input));
  if (missing.length === 0 || (await seesSettings(action, await formerDataset(), settingsOwnerId))) return input;
  if (['alias', 'datasetId', 'templateId'].some((key) => input[key] !== former[key]))
    throw invalid(
      `data.${missing[0]}`,
      'is required with another dataset or template, because you do not see the stored value',
    );
  return { ...input, ...Object.fromEntries(missing.map((key) => [key, former[key]])) };
}

/** Throws FORBIDDEN if an alias would name another dataset, where the caller would see settings that they do not see now. */
export async function checkHiddenSettings(
  change: Pick<SavedAction, 'ctx' | 'tx' | 'ownerId'>,
  parts: readonly FormerSettings[],
  formerDatasetId: string,
): Promise<void> {
  for (const { data, settingsOwnerId } of parts)
    if (hasHiddenKeys(data) && !(await seesSettings(change, formerDatasetId, settingsOwnerId)))
      throw refused('Actions or run conditions have settings for the dataset, which you may not read in full');
}
