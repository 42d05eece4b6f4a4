import { DATASOURCE } from '../../entities/owned-kinds.ts';
import type { Generation } from '../core/dataset-index.ts';
import { forbidden, notFound } from '../core/errors.ts';
import type { DatasetRefreshInput } from '../core/operations.ts';
import { levelAllows } from '../core/permissions.ts';
import type { Transaction } from '../core/platform.ts';
import type { NewFile } from '../core/row-source.ts';
import { concurrencyKeyOf } from '../services/dataset/dataset-refresh.ts';
import { replaceFileEnd } from '../services/dataset/datasource-replace.ts';
import { lockConcurrencyKey } from '../services/operation/operation-queue.ts';
import type { Claim } from '../services/operation/operation-repository.ts';
import { cancelRunning } from '../services/operation/operation.ts';
import { accessLevelInTransaction } from '../services/resource/access-level.ts';
import { recordActivities } from '../services/resource/activity.ts';
import { deleteStoredFiles } from '../services/resource/stored-file.ts';
import { loadRows, publishRefresh } from './dataset-refresh.ts';
import type { Handler } from './handler.ts';
import type { LoaderOptions } from './load-job.ts';
import type { LoadProcess } from './load-process.ts';
import { findCaller } from './operation-caller.ts';

type ReplaceClaim = Claim<'datasource.replaceFile'>;

/** Rows of the new file that no reader sees yet. */
interface LoadedDataset {
  datasetId: string;
  generation: Generation;
  load: LoadProcess;
}

/**
 * Puts a new file of a datasource in place, together with the rows of its datasets, if the request demands them. Readers see
 * the former file and rows until all rows are loaded.
 */
export const datasourceReplaceFile = (options: LoaderOptions): Handler<'datasource.replaceFile'> => ({
  takeover: true,
  async run(job, platform) {
    const { newFile, refreshes } = job.input;
    const loaded: LoadedDataset[] = [];
    let isPublished = false;
    const release = async () => {
      for (const { generation, load } of loaded) await load.release(isPublished ? generation : undefined);
    };
    try {
      for (const refresh of refreshes)
        loaded.push({
          datasetId: refresh.datasetId,
          ...(await loadRows(options, platform, job, refresh, newFile)),
        });
    } catch (error) {
      await release();
      throw error;
    }
    return {
      async publish(tx) {
        stopRefreshes(tx, job, refreshes);
        const refreshed = [];
        for (const { datasetId, generation } of loaded)
          refreshed.push(await publishRefresh(tx, { ...job, resourceId: datasetId }, generation, platform.config));
        await putInPlace(tx, job, newFile);
        isPublished = true;
        return { id: job.resourceId, refreshed };
      },
      warnings: loaded.flatMap(({ generation }) => generation.warnings),
      release,
    };
  },
  onFailure: (claim, _failure, tx) => replaceFileEnd.cancelled(tx, claim),
});

/** Cancels running refreshes of the datasets: they read the former file, and would replace the new rows. */
function stopRefreshes(tx: Transaction, { tenantId }: ReplaceClaim, refreshes: readonly DatasetRefreshInput[]): void {
  // In one order, so that two replacements do not wait for each other.
  for (const key of refreshes.map(({ datasetId }) => concurrencyKeyOf(datasetId)).toSorted()) {
    lockConcurrencyKey(tx, key);
    cancelRunning(tx, tenantId, key);
  }
}

/**
 * Gives the datasource its new file and deletes the row of the former one, whose bytes the janitor deletes when nothing reads
 * them. Checks the caller's access again, which may have changed since the request. Throws NOT_FOUND and FORBIDDEN.
 */
async function putInPlace(
  tx: Transaction,
  { tenantId, userId, resourceId }: ReplaceClaim,
  file: NewFile,
): Promise<void> {
  const [datasource] = await tx.query<{ id: string; name: string; ownerId: string; fileId: string }>({
    text: `
      select id, name, owner_id as "ownerId", file_id as "fileId"
      from dws.datasource
      where tenant_id = $1 and id = $2 and file_id is not null
      for update`,
    values: [tenantId, resourceId],
  });
  const caller = await findCaller(tx, tenantId, userId);
  if (!datasource || !caller) throw notFound({ what: 'datasource', id: resourceId });
  const level = await accessLevelInTransaction({ viewer: caller }, tx, datasource);
  if (!levelAllows(level, 'datasource:write')) throw forbidden({ permission: 'datasource:write' });
  await tx.query({
    text: `
      update dws.datasource
      set type = $3, config = $4, problems = $5, file_id = $6, updated_at = now(), version = version + 1
      where tenant_id = $1 and id = $2`,
    values: [tenantId, resourceId, file.type, JSON.stringify(file.config), JSON.stringify(file.problems), file.id],
  });
  deleteStoredFiles(tx, tenantId, [datasource.fileId]);
  const message = (name: string) => `${caller.username} changed the file of ${name}`;
  recordActivities(caller, tx, DATASOURCE, 'updated', [datasource], message, { fields: ['file'] });
}
