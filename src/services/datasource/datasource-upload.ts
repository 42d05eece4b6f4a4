import type { Datasource } from '../../../entities/datasource.ts';
import type { Context } from '../../core/context.ts';
import { titleOf } from '../../core/files.ts';
import type { Transaction } from '../../core/platform.ts';
import { createOwned, type OwnedInput } from '../resource/owned-kind.ts';
import { DATASOURCE } from '../resource/owned-kinds.ts';
import { checkQuota } from '../resource/quota.ts';
import { receiveFile, type ReceivedFile, type UploadInput } from './upload.ts';

/** Makes a datasource of a file. Its name is the file's unless the input says otherwise. Answers the id. */
export const upload = (ctx: Context, input: UploadInput & OwnedInput): Promise<string> =>
  receiveFile(ctx, input, (file, common) =>
    ctx.transaction(async (tx) => (await createUploaded(ctx, tx, file, common, false)).id),
  );

/** The rows of an uploaded file: its own and its datasource's. `embedded` says that nobody asked for the datasource as such. */
export async function createUploaded(
  ctx: Context,
  tx: Transaction,
  file: ReceivedFile,
  common: OwnedInput,
  embedded: boolean,
): Promise<Datasource> {
  const { tenantId } = ctx.viewer;
  await checkQuota(tx, tenantId, ctx.platform.config.TENANT_QUOTA_BYTES, file.size);
  await tx.query({
    text: `insert into dws.stored_file (id, tenant_id, filename, content_type, size, sha256) values ($1, $2, $3, $4, $5, $6)`,
    values: [file.id, tenantId, file.filename, file.contentType, file.size, file.sha256],
  });
  return createOwned(
    ctx,
    tx,
    DATASOURCE,
    { ...common, name: common.name ?? titleOf(file.filename) },
    { type: file.driver.id, config: file.config, fileId: file.id, embedded },
  );
}
