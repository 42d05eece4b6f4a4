import { createHash } from 'node:crypto';
import type { Context } from '../../core/context.ts';
import type { Query } from '../../core/database.ts';
import type { Generation, GenerationId } from '../../core/dataset-index.ts';
import { conflict, notFound } from '../../core/errors.ts';
import type { Field, FieldType } from '../../core/fields.ts';
import type { FlowStep } from '../../core/flow/flow.ts';
import { isUuid } from '../../core/id.ts';
import type { PromoteRefreshInput, RefreshPreviewInput } from '../../core/operations.ts';
import type { Transaction } from '../../core/platform.ts';
import type { OperationRecord } from '../operation/operation-record.ts';
import { startInTransaction } from '../operation/operation-wait.ts';
import * as operations from '../operation/operation.ts';
import { runnableQuery, type EffectiveQuery, type QuerySource } from './dataset-query.ts';
import { refreshInputOf, concurrencyKeyOf, loadForRefresh, type RefreshOptions } from './dataset-refresh.ts';
import type { Impact } from './refresh-impact.ts';

/** How long the rows of a rehearsed refresh are kept. */
const KEPT = '1 hour';

/** What a refresh would do to the fields of a dataset. */
export interface FieldDifferences {
  fieldsAdded: { name: string; type: FieldType }[];
  fieldsRemoved: { name: string; type: FieldType }[];
  fieldsRetyped: { name: string; from: FieldType; to: FieldType }[];
}

/** Answer of a rehearsed refresh. */
export interface RefreshPreviewResult extends FieldDifferences, Impact {
  previewId: string;
  records: number;
  previousRecordCount: number;
  expiresAt: string;
}

/** What the rows of a preview were loaded beside: the rows that readers see, and a digest of what the dataset is by definition. */
export interface PreviewBase {
  generationId: GenerationId | null;
  definition: string;
}

/** Rehearses a refresh, on its owner's right to the datasource: its rows are loaded and nobody sees them. Answers the operation, finished when `wait` says so. */
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

/** Publishes the rows of a rehearsed refresh. 404 when they are not kept (any more), 409 when the dataset is not what they were loaded for. Answers the operation. */
export async function promote(
  ctx: Context,
  id: string,
  previewId: string,
  progress: string | number | null,
  wait: boolean,
): Promise<OperationRecord> {
  return startInTransaction(ctx, wait, async (tx) => {
    const dataset = await loadForRefresh(ctx, tx, id, 'dataset:refresh');
    await promotable(tx, ctx.viewer.tenantId, dataset.id, previewId);
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

/** Which fields come, go, and change their type. */
export function differences(before: readonly Field[], after: readonly Field[]): FieldDifferences {
  const [had, has] = [before, after].map((fields) => new Map(fields.map(({ name, type }) => [name, type]))) as [
    Map<string, FieldType>,
    Map<string, FieldType>,
  ];
  const only = (fields: Map<string, FieldType>, others: Map<string, FieldType>) =>
    [...fields].filter(([name]) => !others.has(name)).map(([name, type]) => ({ name, type }));
  return {
    fieldsAdded: only(has, had),
    fieldsRemoved: only(had, has),
    fieldsRetyped: [...has].flatMap(([name, to]) => {
      const from = had.get(name);
      return from && from !== to ? [{ name, from, to }] : [];
    }),
  };
}

/** Keeps a generation as the dataset's only preview. Answers until when, and the generation of the former one, which nobody needs any more. */
export async function keep(
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
  const [kept] = await query<{ expiresAt: Date }>({
    text: `insert into dws.refresh_preview (id, tenant_id, dataset_id, fields, records, size, base_generation_id, base_definition, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, now() + interval '${KEPT}') returning expires_at as "expiresAt"`,
    values: [id, tenantId, datasetId, JSON.stringify(fields), records, size, base.generationId, base.definition],
  });
  return { expiresAt: kept!.expiresAt, former: former?.id ?? null };
}

/** Takes a preview to publish its generation, which is the publisher's from then on. */
export async function take(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  previewId: string,
): Promise<Generation> {
  const generation = await promotable(tx, tenantId, datasetId, previewId);
  await tx.query({
    text: `delete from dws.refresh_preview where tenant_id = $1 and id = $2`,
    values: [tenantId, previewId],
  });
  return generation;
}

/** The generation of a preview that may be published. 404 naming the preview that there is not, 403 without the owner's right to the datasource, 409 when the dataset is another by now. */
async function promotable(
  tx: Transaction,
  tenantId: string,
  datasetId: string,
  previewId: string,
): Promise<Generation> {
  const dataset = await readDataset(tx.query, tenantId, datasetId, 'for update');
  const found = isUuid(previewId)
    ? await tx.query<
        Omit<Generation, 'warnings'> & { base: GenerationId | null; definition: string } & Record<string, unknown>
      >({
        text: `select id, fields, records, size, base_generation_id as base, base_definition as definition from dws.refresh_preview
      where tenant_id = $1 and dataset_id = $2 and id = $3 and expires_at > now() for update`,
        values: [tenantId, datasetId, previewId],
      })
    : [];
  if (!found[0]) throw notFound({ what: 'refresh preview', id: previewId });
  const { base, definition, ...generation } = found[0];
  if (base !== dataset.generationId)
    throw conflict('The rows of the dataset were replaced since the preview; preview the refresh again');
  if (definition !== digestOf(await runnableQuery(tx, tenantId, dataset), dataset))
    throw conflict('The definition of the dataset was changed since the preview; preview the refresh again');
  return { ...generation, warnings: [] };
}

/** What a preview of this input stands on. Read before its rows are loaded: a change meanwhile then makes its promotion a conflict. */
export async function baseOf(
  query: Query,
  tenantId: string,
  { datasetId, datasourceId, query: text, definitions }: RefreshPreviewInput,
): Promise<PreviewBase> {
  const dataset = await readDataset(query, tenantId, datasetId);
  return {
    generationId: dataset.generationId,
    definition: digestOf({ datasourceId, query: text, params: definitions }, dataset),
  };
}

interface DatasetNow extends QuerySource, Record<string, unknown> {
  ownerId: string;
  isSnapshot: boolean;
  generationId: GenerationId | null;
  flow: FlowStep[];
  fields: Field[];
}

async function readDataset(
  query: Query,
  tenantId: string,
  id: string,
  lock: 'for update' | '' = '',
): Promise<DatasetNow> {
  const [dataset] = await query<DatasetNow>({
    text: `select owner_id as "ownerId", is_snapshot as "isSnapshot", generation_id as "generationId", query_id as "queryId", datasource_id as "datasourceId", query, params, flow, fields
      from dws.dataset where tenant_id = $1 and id = $2 ${lock}`,
    values: [tenantId, id],
  });
  if (!dataset) throw notFound({ what: 'dataset', id });
  return dataset;
}

/** Labels of fields and values of parameters that a caller chose are none of the definition. */
const digestOf = (
  { datasourceId, query, params }: EffectiveQuery,
  { flow, fields }: Pick<DatasetNow, 'flow' | 'fields'>,
): string =>
  createHash('sha256')
    .update(JSON.stringify([datasourceId, query, params, flow, fields.map(({ name, type }) => [name, type])]))
    .digest('base64url');
