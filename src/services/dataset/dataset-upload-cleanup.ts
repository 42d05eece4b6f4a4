import type { Query } from '../../core/database.ts';

type Tx = { query: Query };

/**
 * Removes the datasource that the upload of a dataset made, and its file's row, with the dataset: nobody asked for it as such. One that something else
 * uses, or that belongs to somebody else by now, stays. The bytes are the janitor's.
 */
export async function dropEmbeddedUpload(
  tx: Tx,
  tenantId: string,
  datasourceId: string,
  ownerId: string,
): Promise<void> {
  const values = [tenantId, datasourceId];
  const [found] = await tx.query<{ fileId: string }>({
    text: `select file_id as "fileId" from dws.datasource where tenant_id = $1 and id = $2 and embedded and file_id is not null and owner_id = $3 for update`,
    values: [...values, ownerId],
  });
  if (!found) return;
  // The lock keeps others from beginning to use it; who did before is seen now.
  const gone = await tx.query({
    text: `delete from dws.datasource d where tenant_id = $1 and id = $2 and not exists (select from dws.dataset where tenant_id = $1 and datasource_id = d.id)
      and not exists (select from dws.saved_query where tenant_id = $1 and datasource_id = d.id) returning id`,
    values,
  });
  if (gone.length > 0) await dropFileRow(tx, tenantId, found.fileId);
}

/** Removes a file's row, after what named it. */
export async function dropFileRow(tx: Tx, tenantId: string, fileId: string): Promise<void> {
  await tx.query({ text: `delete from dws.stored_file where tenant_id = $1 and id = $2`, values: [tenantId, fileId] });
}

/** Takes an upload back whose rows could not be loaded, or were not to be: a file without its rows is no dataset. One that has rows stays. */
export async function discardUpload(tx: Tx, tenantId: string, datasetId: string): Promise<void> {
  const [gone] = await tx.query<{ datasourceId: string | null; ownerId: string }>({
    text: `delete from dws.dataset where tenant_id = $1 and id = $2 and generation_id is null returning datasource_id as "datasourceId", owner_id as "ownerId"`,
    values: [tenantId, datasetId],
  });
  if (gone?.datasourceId) await dropEmbeddedUpload(tx, tenantId, gone.datasourceId, gone.ownerId);
}
