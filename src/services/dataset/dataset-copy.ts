import type { CopyDatasetInput } from '../../../entities/dataset-copy-input.ts';
import { DATASET } from '../../../entities/owned-kinds.ts';
import type { Config } from '../../core/config.ts';
import type { Context } from '../../core/context.ts';
import { conflict, tooLarge } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { checkText } from '../../core/input-checks.ts';
import type { CopyParts, DatasetCopyInput } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { loadResource } from '../resource/load-resource.ts';
import { checkQuota } from '../resource/quota.ts';

interface CopyOptions extends CopyParts {
  /** The client's name for the operation. */
  progress?: string | number | null;
}

/**
 * Creates an independent dataset of the caller's with the current rows. Returns the operation; with `wait` after it
 * ended. Throws CONFLICT for a draft, 413 when the rows exceed a limit.
 */
export async function copy(
  ctx: Context,
  id: string,
  { name }: CopyDatasetInput,
  { progress, ...parts }: CopyOptions,
  wait: boolean,
): Promise<OperationRecord> {
  const copyName = checkText(name, 'name');
  return startInTransaction(ctx, wait, async (tx) => {
    const dataset = await loadResource(ctx, tx, DATASET, id, 'dataset:copy');
    if (dataset.isDraft) throw conflict('A draft cannot be copied: commit it first');
    if (parts.data) await checkCopySize(tx, ctx.viewer.tenantId, ctx.platform.config, dataset);
    const input: DatasetCopyInput = { datasetId: dataset.id, newId: newId(), name: copyName, ...parts };
    return operations.start(ctx, tx, {
      operation: 'dataset.copy',
      resource: { kind: 'dataset', id: dataset.id },
      input,
      progress: progress ?? null,
      unit: 'rows',
    });
  });
}

/** Throws 413 when a copy of the rows would exceed the maximum of a dataset or the quota of its tenant. */
export async function checkCopySize(
  tx: Transaction,
  tenantId: string,
  { MAX_DATASET_ROWS: maxRows, TENANT_QUOTA_BYTES: quota }: Config,
  { records, size }: { records: number; size: number },
): Promise<void> {
  if (maxRows > 0 && records > maxRows)
    throw tooLarge(`The dataset has more than the ${maxRows} rows that are allowed`);
  await checkQuota(tx, tenantId, quota, size);
}
