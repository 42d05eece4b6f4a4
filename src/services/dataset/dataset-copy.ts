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
import { load } from '../resource/load-resource.ts';
import { DATASET } from '../resource/owned-kinds.ts';
import { checkQuota } from '../resource/quota.ts';

export interface CopyOptions extends CopyParts {
  /** The caller's own name for it. */
  progress?: string | number | null;
}

/** Makes an independent dataset of the caller's with the rows as they are. Answers the operation, finished when `wait` says so. */
export async function copy(
  ctx: Context,
  id: string,
  { name }: { name: string },
  { progress, ...parts }: CopyOptions,
  wait: boolean,
): Promise<OperationRecord> {
  const checked = checkText(name, 'name');
  return startInTransaction(ctx, wait, async (tx) => {
    const dataset = await load(ctx, tx, DATASET, id, 'dataset:copy');
    if (dataset.isDraft) throw conflict('A draft cannot be copied: commit it first');
    if (parts.data) await checkRoom(tx, ctx.viewer.tenantId, ctx.platform.config, dataset);
    const input: DatasetCopyInput = { datasetId: dataset.id, newId: newId(), name: checked, ...parts };
    return operations.start(ctx, tx, {
      operation: 'dataset.copy',
      resource: { kind: 'dataset', id: dataset.id },
      input,
      progress: progress ?? null,
      unit: 'rows',
    });
  });
}

/** 413 when a copy of the rows would be more than a dataset or its tenant may have. */
export async function checkRoom(
  tx: Transaction,
  tenantId: string,
  { MAX_DATASET_ROWS: most, TENANT_QUOTA_BYTES: quota }: Config,
  { records, size }: { records: number; size: number },
): Promise<void> {
  if (most > 0 && records > most) throw tooLarge(`The dataset has more than the ${most} rows that are allowed`);
  await checkQuota(tx, tenantId, quota, size);
}
