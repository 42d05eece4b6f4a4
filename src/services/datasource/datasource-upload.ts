import type { Datasource } from '../../../entities/datasource.ts';
import type { UpdateOwnedInput } from '../../../entities/owned-input.ts';
import { DATASOURCE } from '../../../entities/owned-kinds.ts';
import type { UploadDatasourceInput } from '../../../entities/upload-input.ts';
import type { Context } from '../../core/context.ts';
import { titleOf } from '../../core/files.ts';
import type { Transaction } from '../../core/platform.ts';
import { createOwned } from '../resource/owned-kind.ts';
import { checkQuota } from '../resource/quota.ts';
import { insertStoredFile } from '../resource/stored-file.ts';
import { receiveFile, type ReceivedFile } from './upload.ts';

/** Creates a datasource from a file. Its name defaults to the file name without extension. Returns the id. */
export const upload = (ctx: Context, input: UploadDatasourceInput): Promise<string> =>
  receiveFile(ctx, input, (file, common) =>
    ctx.transaction(async (tx) => (await createUploaded(ctx, tx, file, common, false)).id),
  );

/**
 * Creates the records of an uploaded file and of its datasource. `embedded` marks a datasource that is part of an
 * uploaded dataset. Throws PAYLOAD_TOO_LARGE past the tenant's quota.
 */
export async function createUploaded(
  ctx: Context,
  tx: Transaction,
  file: ReceivedFile,
  common: UpdateOwnedInput,
  embedded: boolean,
): Promise<Datasource> {
  const { tenantId } = ctx.viewer;
  await checkQuota(tx, tenantId, ctx.platform.config.TENANT_QUOTA_BYTES, file.size);
  insertStoredFile(tx, tenantId, file);
  return createOwned(
    ctx,
    tx,
    DATASOURCE,
    { ...common, name: common.name ?? titleOf(file.filename) },
    { type: file.driver.id, config: file.config, problems: file.problems, fileId: file.id, embedded },
  );
}
