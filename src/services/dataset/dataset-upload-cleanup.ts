import type { OperationEnd } from '../../core/operation-ends.ts';
import type { Transaction } from '../../core/platform.ts';
import { deleteStoredFiles } from '../resource/stored-file.ts';

type Queryable = Pick<Transaction, 'query' | 'execute'>;

/**
 * Deletes the datasource that the upload of a dataset created, and the row of its file, together with the dataset. Does
 * nothing if the datasource is in use elsewhere or has another owner by now. The janitor deletes the file itself.
 */
export async function dropEmbeddedUpload(
  tx: Queryable,
  tenantId: string,
  datasourceId: string,
  ownerId: string,
): Promise<void> {
  const values = [tenantId, datasourceId];
  const [found] = await tx.query<{ fileId: string }>({
    text: `
      select file_id as "fileId"
      from dws.datasource
      where tenant_id = $1 and id = $2 and embedded and file_id is not null and owner_id = $3
      for update`,
    values: [...values, ownerId],
  });
  if (!found) return;
  // The lock prevents new uses of the datasource; this statement sees the earlier ones.
  const deleted = await tx.query({
    text: `
      delete from dws.datasource d
      where tenant_id = $1 and id = $2
        and not exists (select from dws.dataset where tenant_id = $1 and datasource_id = d.id)
        and not exists (select from dws.saved_query where tenant_id = $1 and datasource_id = d.id)
      returning id`,
    values,
  });
  if (deleted.length > 0) deleteStoredFiles(tx, tenantId, [found.fileId]);
}

/** Deletes an uploaded dataset whose rows were never loaded, with its datasource. One that has rows is not deleted. */
async function discardUpload(tx: Queryable, tenantId: string, datasetId: string): Promise<void> {
  const [deleted] = await tx.query<{ datasourceId: string | null; ownerId: string }>({
    text: `
      delete from dws.dataset
      where tenant_id = $1 and id = $2 and generation_id is null
      returning datasource_id as "datasourceId", owner_id as "ownerId"`,
    values: [tenantId, datasetId],
  });
  if (deleted?.datasourceId) await dropEmbeddedUpload(tx, tenantId, deleted.datasourceId, deleted.ownerId);
}

/** Ends an upload whose refresh was cancelled. */
export const refreshEnd: OperationEnd<'dataset.refresh'> = {
  async cancelled(tx, { tenantId, resourceId, input }) {
    if (input.upload) await discardUpload(tx, tenantId, resourceId);
  },
};
