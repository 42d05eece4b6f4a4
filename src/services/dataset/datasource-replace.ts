import type { Datasource } from '../../../entities/datasource.ts';
import { DATASOURCE } from '../../../entities/owned-kinds.ts';
import type { ReplaceDatasourceFileInput } from '../../../entities/upload-input.ts';
import type { Context } from '../../core/context.ts';
import { badInput, conflict } from '../../core/errors.ts';
import type { OperationEnd } from '../../core/operation-ends.ts';
import type { Transaction } from '../../core/platform.ts';
import type { FileProblem } from '../../core/row-source.ts';
import { findDifferences } from '../datasource/datasource-differences.ts';
import { receiveFile, type ReceivedFile } from '../datasource/upload.ts';
import { lockConcurrencyKey } from '../operation/operation-queue.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { wait as waitFor } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { loadResource } from '../resource/load-resource.ts';
import { checkQuota } from '../resource/quota.ts';
import { deleteStoredFiles, insertStoredFile } from '../resource/stored-file.ts';
import { refreshesOfSource } from './dataset-refresh.ts';

/** Maximum number of datasets whose rows are published with a file. */
const MAX_REFRESHED = 10;

interface ReplacementInput extends ReplaceDatasourceFileInput {
  /** The client's name for the operation. */
  progress?: string | number | null;
}

/** A started replacement. The datasource has the new file after the operation succeeded. */
export interface DatasourceReplacement {
  datasourceId: string;
  operation: OperationRecord;
  /** Doubtful points of the file. */
  problems: FileProblem[];
  /** Ids of the datasets that the caller can read, but not refresh. */
  notRefreshed: string[];
}

/**
 * Replaces the file of a datasource and, with `refresh`, the rows of its datasets. Everything is replaced in one step
 * when all rows are loaded. Until then, and on failure, the former file and rows stay. Throws BAD_USER_INPUT for a
 * datasource without a file. Without `force` throws CONFLICT with the differences if the file lacks columns of the
 * former one.
 */
export async function replaceFile(
  ctx: Context,
  id: string,
  input: ReplacementInput,
  wait: boolean,
): Promise<DatasourceReplacement> {
  const former = await ctx.transaction((tx) => loadUploaded(ctx, tx, id));
  return receiveFile(
    ctx,
    input,
    async (file, { force, refresh, progress }) => {
      if (!force) await checkFits(ctx, former, file);
      const { operationId, notRefreshed } = await ctx.transaction((tx) =>
        startReplacement(ctx, tx, former.id, file, { refresh, progress }),
      );
      const operation = await (wait ? waitFor : operations.get)(ctx, operationId);
      return { datasourceId: former.id, operation, problems: file.problems, notRefreshed };
    },
    former,
  );
}

async function loadUploaded(ctx: Context, tx: Transaction, id: string): Promise<UploadedDatasource> {
  const datasource = await loadResource(ctx, tx, DATASOURCE, id, 'datasource:write', { ifMatch: ctx.ifMatch });
  if (!hasFile(datasource)) throw badInput(`The datasource has no uploaded file: its type is "${datasource.type}"`);
  return datasource;
}

type UploadedDatasource = Datasource & { fileId: string };
const hasFile = (datasource: Datasource): datasource is UploadedDatasource => Boolean(datasource.fileId);

/** Throws CONFLICT with the differences of a file that does not have the columns of the former one. */
async function checkFits(
  ctx: Context,
  { name, type, config, fileId }: UploadedDatasource,
  file: ReceivedFile,
): Promise<void> {
  const validation = await findDifferences(
    ctx,
    { name, type, config, secrets: null, fileId },
    { name, type: file.driver.id, config: file.config, secrets: null, fileId: file.id },
  );
  if (validation.length === 0) return;
  const differences = validation.map(({ message }) => message).join(', ');
  throw conflict(`The file does not fit the former one: ${differences}. Set force to replace it all the same`, {
    validation,
  });
}

/**
 * Stores the file and starts the operation that replaces the former file. Operations on a datasource end in their
 * order.
 */
async function startReplacement(
  ctx: Context,
  tx: Transaction,
  id: string,
  file: ReceivedFile,
  { refresh, progress }: Pick<ReplacementInput, 'refresh' | 'progress'>,
): Promise<{ operationId: string; notRefreshed: string[] }> {
  const { tenantId } = ctx.viewer;
  const concurrencyKey = `datasource:${id}`;
  // Before the row of the datasource, in the order in which the operation ends.
  lockConcurrencyKey(tx, concurrencyKey);
  await loadUploaded(ctx, tx, id);
  const { refreshes, notRefreshed } = refresh
    ? await refreshesOfSource(ctx, tx, id)
    : { refreshes: [], notRefreshed: [] };
  if (refreshes.length > MAX_REFRESHED)
    throw conflict(
      `A file can be replaced together with the rows of ${MAX_REFRESHED} datasets, and ${refreshes.length} use it: ` +
        'replace it without refresh, and refresh them afterwards',
    );
  await checkQuota(tx, tenantId, ctx.platform.config.TENANT_QUOTA_BYTES, file.size);
  insertStoredFile(tx, tenantId, file);
  const operationId = await operations.start(ctx, tx, {
    operation: 'datasource.replaceFile',
    resource: { kind: 'datasource', id },
    input: {
      newFile: { id: file.id, type: file.driver.id, config: file.config, problems: file.problems },
      refreshes,
    },
    progress,
    unit: 'rows',
    concurrencyKey,
  });
  return { operationId, notRefreshed };
}

/** Deletes the row of a file whose replacement was cancelled. The former file stays. */
export const replaceFileEnd: OperationEnd<'datasource.replaceFile'> = {
  cancelled: async (tx, { tenantId, input: { newFile } }) => deleteStoredFiles(tx, tenantId, [newFile.id]),
};
