import { isDeepStrictEqual } from 'node:util';
import type { JobAction } from '../../../entities/job-action.ts';
import { JobDataset } from '../../../entities/job-dataset.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { parseCriteria } from '../../core/criteria/parse.ts';
import { isObject } from '../../core/criteria/value.ts';
import { at, invalid } from '../../core/input-checks.ts';
import type { JobData, SavedAction } from '../../core/job-drivers.ts';
import type { Transaction } from '../../core/platform.ts';
import { visibleFields } from '../dataset/dataset-view.ts';
import { loadUsedResource } from '../resource/load-resource.ts';
import { jobActionDriverOf } from './drivers/driver-registry.ts';
import { keepHiddenSettings, settingsOwner } from './hidden-settings.ts';
import { usedDataset } from './job-alias.ts';
import { checkData, splitSecrets, type JobSecrets } from './job-data.ts';
import { resolveDataset } from './job-dataset.ts';
import { checkMayUse } from './job-part.ts';

/** The columns of an action that its `data` determines. */
type DataColumns = Partial<
  Pick<JobAction, 'data' | 'settingsOwnerId' | 'datasetId' | 'templateId' | 'libraryId' | 'secrets'>
>;

/**
 * Returns the columns that store `data` of an action. Secrets are sealed apart from it. Throws BAD_USER_INPUT naming
 * the invalid key, NOT_FOUND for an unknown id.
 */
export async function resolveActionData(
  action: SavedAction,
  type: string,
  input: JobData,
  former?: JobAction,
): Promise<DataColumns> {
  const { ctx, tx } = action;
  const driver = jobActionDriverOf(type);
  const stored = await loadSecrets(ctx, tx, former);
  const checked = checkData(driver, await keepHiddenSettings(action, input, former, () => datasetOf(action, former!)));
  const prepared = (await driver.prepare?.(checked, action)) ?? checked;
  const changedKey = driver.secretsFor && former && prepared[driver.secretsFor] !== former.data[driver.secretsFor];
  const { data, secrets } = splitSecrets(
    driver.secrets ?? [],
    prepared,
    stored,
    changedKey ? driver.secretsFor! : null,
  );
  const columns = driver.uses === 'dataset' ? await resolveDatasetKeys(action, data, former) : { data };
  if (driver.datasetPermission && 'datasetId' in columns && changesWork(columns.data!, former?.data))
    await checkMayUse(ctx, tx, action, await datasetOf(action, columns), [driver.datasetPermission]);
  if (driver.criteria && 'datasetId' in columns) await checkDatasetCriteria(action, columns, driver.criteria, former);
  return {
    ...columns,
    settingsOwnerId: settingsOwner(columns.data!, former),
    ...(driver.uses === 'template' && { templateId: prepared['templateId'] as string }),
    ...(driver.uses === 'library' && { libraryId: prepared['libraryId'] as string }),
    // Each encryption of equal secrets differs, which would count as a change.
    ...(!isDeepStrictEqual(secrets, stored) && { secrets: sealSecrets(ctx, secrets) }),
  };
}

/** Returns whether an action does something else than before, apart from how often and how long it is tried. */
function changesWork(data: JobData, former: JobData = {}): boolean {
  const work = ({ retry: _retry, timeout: _timeout, ...rest }: JobData) => rest;
  return !isDeepStrictEqual(work(data), work(former));
}

/** Returns the id of the dataset that `data` names, by an alias of the job too. */
export const datasetOf = ({ ctx, tx, jobId }: SavedAction, columns: FormerData): Promise<string> =>
  usedDataset({ query: tx.query, viewer: ctx.viewer }, jobId, columns);

/** `data` before a change. */
type FormerData = Pick<JobAction, 'data' | 'datasetId'>;

/**
 * Returns `data` with the canonical id of the dataset that it names by `alias` or `datasetId`. A dataset that was named
 * before is not checked again: the caller may be unable to read it.
 */
export async function resolveDatasetKeys(
  { ctx, tx, jobId }: SavedAction,
  data: JobData,
  former?: FormerData,
): Promise<{ data: JobData; datasetId: string | null }> {
  const { alias, datasetId } = data as { alias?: string; datasetId?: string };
  if ((alias === undefined) === (datasetId === undefined))
    throw invalid('data.alias', 'is required, or datasetId instead of it');
  if (alias !== undefined) {
    if ((await tx.count(JobDataset, { jobId, alias })) === 0)
      throw invalid('data.alias', 'is not an alias of a dataset of the job');
    return { data, datasetId: null };
  }
  const id = datasetId === former?.datasetId ? datasetId! : await resolveDataset(ctx, tx, datasetId!, 'data.datasetId');
  return { data: { ...data, datasetId: id }, datasetId: id };
}

/**
 * Checks the criteria in a key of `data` against the fields of the dataset that the caller can see. Throws
 * BAD_USER_INPUT naming the criteria that do not fit. Before its first refresh a dataset has no fields to compare with.
 */
export async function checkDatasetCriteria(
  action: SavedAction,
  columns: FormerData,
  key: string,
  former?: FormerData,
): Promise<void> {
  const { ctx, tx } = action;
  const criteria = columns.data[key];
  const isSame = (name: string) => isDeepStrictEqual(columns.data[name], former?.data[name]);
  if (!isObject(criteria) || [key, 'alias', 'datasetId'].every(isSame)) return;
  const dataset = await loadUsedResource(ctx, tx, DATASET, await datasetOf(action, columns), 'dataset:read');
  if (dataset.fields.length === 0) return;
  const fields = await visibleFields(ctx, dataset);
  at(['data', key], () => parseCriteria(criteria, fields));
}

/** Returns the secrets of an action; none for a new one. */
async function loadSecrets({ platform, viewer }: Context, tx: Transaction, action?: JobAction): Promise<JobSecrets> {
  const [row] = action
    ? await tx.query<{ secrets: string | null }>({
        text: `select secrets from dws.job_action where tenant_id = $1 and id = $2`,
        values: [viewer.tenantId, action.id],
      })
    : [];
  return openSecrets(platform, { name: action?.name ?? '', secrets: row?.secrets ?? null });
}

/** Returns the sealed secrets of an action by their path in `data`. */
export const openSecrets = (
  { secrets }: Pick<Context['platform'], 'secrets'>,
  { name, secrets: sealed }: { name: string; secrets: string | null },
): JobSecrets =>
  new Map(
    sealed === null ? [] : (JSON.parse(secrets.open(sealed, `the secrets of action "${name}"`)) as [string, string][]),
  );

const sealSecrets = ({ platform }: Context, secrets: JobSecrets): string | null =>
  secrets.size > 0 ? platform.secrets.seal(JSON.stringify([...secrets])) : null;
