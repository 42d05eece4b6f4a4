import type { RefreshPreview } from '../../../entities/refresh-preview.ts';
import type { Context } from '../../core/context.ts';
import type { Generation, GenerationId } from '../../core/dataset-index.ts';
import { conflict, notFound } from '../../core/errors.ts';
import type { Field, FieldType } from '../../core/fields.ts';
import { isUuid } from '../../core/id.ts';
import type { PromoteRefreshInput, RefreshPreviewInput } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import {
  runnableQuery,
  refreshInputOf,
  concurrencyKeyOf,
  loadForRefresh,
  type RefreshOptions,
} from './dataset-refresh.ts';
import { definitionDigest, readPreviewedDataset, type PreviewBase } from './refresh-preview-base.ts';

/** How long the rows of a preview are stored, as a SQL interval. */
const PREVIEW_LIFETIME = '1 hour';

/**
 * Starts a refresh preview: loads the rows of a refresh without publishing them, with the access of the dataset's
 * owner to the datasource. Returns the operation, which has finished if `wait` is true.
 */
export async function preview(
  ctx: Context,
  id: string,
  options: RefreshOptions,
  wait: boolean,
): Promise<OperationRecord> {
  return startInTransaction(ctx, wait, async (tx) => {
    const dataset = await loadForRefresh(ctx, tx, id, 'dataset:refresh');
    const source = await runnableQuery(tx, ctx.viewer.tenantId, dataset);
    const input: RefreshPreviewInput = { ...refreshInputOf(dataset, source, options), definitions: source.params };
    return operations.start(ctx, tx, {
      operation: 'dataset.preview',
      resource: { kind: 'dataset', id: dataset.id },
      input,
      progress: options.progress ?? null,
      unit: 'rows',
      concurrencyKey: concurrencyKeyOf(dataset.id),
    });
  });
}

/**
 * Starts to publish the rows of a preview. Throws NOT_FOUND when the preview does not exist or has expired, and
 * CONFLICT when the dataset has changed since. Returns the operation, which has finished if `wait` is true.
 */
export async function promote(
  ctx: Context,
  id: string,
  previewId: string,
  progress: string | number | null | undefined,
  wait: boolean,
): Promise<OperationRecord> {
  return startInTransaction(ctx, wait, async (tx) => {
    const dataset = await loadForRefresh(ctx, tx, id, 'dataset:refresh');
    await loadPromotable(tx, ctx.viewer.tenantId, dataset.id, previewId);
    const input = { previewId } satisfies PromoteRefreshInput;
    return operations.start(ctx, tx, {
      operation: 'dataset.promoteRefresh',
      resource: { kind: 'dataset', id: dataset.id },
      input,
      progress,
      unit: 'rows',
      concurrencyKey: concurrencyKeyOf(dataset.id),
    });
  });
}

/** Returns the fields that are added, removed, or change their type. */
export function compareFields(
  before: readonly Field[],
  after: readonly Field[],
): Pick<RefreshPreview, 'fieldsAdded' | 'fieldsRemoved' | 'fieldsRetyped'> {
  const [old, current] = [typesByName(before), typesByName(after)];
  const only = (fields: Map<string, FieldType>, others: Map<string, FieldType>) =>
    [...fields].filter(([name]) => !others.has(name)).map(([name, type]) => ({ name, type }));
  return {
    fieldsAdded: only(current, old),
    fieldsRemoved: only(old, current),
    fieldsRetyped: [...current].flatMap(([name, to]) => {
      const from = old.get(name);
      return from && from !== to ? [{ name, from, to }] : [];
    }),
  };
}

const typesByName = (fields: readonly Field[]): Map<string, FieldType> =>
  new Map(fields.map(({ name, type }) => [name, type]));

/**
 * Saves a generation as the only preview of a dataset. Returns its expiry time, and the generation of the former
 * preview, which is no longer used.
 */
export async function replacePreview(
  { query }: Pick<Transaction, 'query'>,
  tenantId: string,
  datasetId: string,
  { id, fields, records, size }: Generation,
  base: PreviewBase,
): Promise<{ expiresAt: Date; former: GenerationId | null }> {
  const [former] = await query<{ id: GenerationId }>({
    text: `delete from dws.refresh_preview where tenant_id = $1 and dataset_id = $2 returning id`,
    values: [tenantId, datasetId],
  });
  const [saved] = await query<{ expiresAt: Date }>({
    text: `
      insert into dws.refresh_preview
        (id, tenant_id, dataset_id, fields, records, size, base_generation_id, base_definition, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, now() + interval '${PREVIEW_LIFETIME}')
      returning expires_at as "expiresAt"`,
    values: [id, tenantId, datasetId, JSON.stringify(fields), records, size, base.generationId, base.definition],
  });
  return { expiresAt: saved!.expiresAt, former: former?.id ?? null };
}

/** Deletes a preview and returns its generation, which the caller must publish in the same transaction. */
export async function consumePreview(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  previewId: string,
): Promise<Generation> {
  const generation = await loadPromotable(tx, tenantId, datasetId, previewId);
  await tx.query({
    text: `delete from dws.refresh_preview where tenant_id = $1 and id = $2`,
    values: [tenantId, previewId],
  });
  return generation;
}

/**
 * Locks a preview and its dataset, and returns the generation. Throws NOT_FOUND when the preview does not exist or
 * has expired, FORBIDDEN when the dataset's owner may not use the datasource, and CONFLICT when the dataset has
 * changed.
 */
async function loadPromotable(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  previewId: string,
): Promise<Generation> {
  const dataset = await readPreviewedDataset(tx.query, tenantId, datasetId, 'for update');
  const [found] = isUuid(previewId)
    ? await tx.query<StoredPreview>({
        text: `
          select id, fields, records, size, base_generation_id as base, base_definition as definition
          from dws.refresh_preview
          where tenant_id = $1 and dataset_id = $2 and id = $3 and expires_at > now()
          for update`,
        values: [tenantId, datasetId, previewId],
      })
    : [];
  if (!found) throw notFound({ what: 'refresh preview', id: previewId });
  const { base, definition, ...generation } = found;
  if (base !== dataset.generationId)
    throw conflict('The rows of the dataset were replaced since the preview; preview the refresh again');
  if (definition !== definitionDigest(await runnableQuery(tx, tenantId, dataset), dataset))
    throw conflict('The definition of the dataset was changed since the preview; preview the refresh again');
  return { ...generation, warnings: [] };
}

interface StoredPreview extends Omit<Generation, 'warnings'>, Record<string, unknown> {
  base: GenerationId | null;
  definition: string;
}
