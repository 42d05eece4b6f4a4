import { Dataset } from '../../../../entities/dataset.ts';
import type { Context } from '../../../core/context.ts';
import type { Field } from '../../../core/fields.ts';
import { readFirstRows } from '../../dataset/dataset-rows.ts';
import { VIEW_COLUMNS, type ViewedDataset } from '../../dataset/dataset-view.ts';
import { findRefusedInFilter } from './criteria-bindings.ts';
import type { Processor } from './processor.ts';

const DEFAULT_ROWS = 10_000;
const MAX_ROWS = 50_000;

/** Schema of the id of a dataset or query. */
export const ID_SCHEMA = { type: 'string', minLength: 1, maxLength: 200 };
/** Schemas of the keys that select rows. */
export const ROW_SCHEMAS = {
  filter: { type: ['object', 'string', 'null'], maxLength: 10_000 },
  q: { type: ['string', 'null'], maxLength: 1000 },
};

interface DatasetConfig {
  datasetId: string;
  filter?: Record<string, unknown> | string | null;
  q?: string | null;
  sort?: string | null;
  fields?: string[] | null;
  limit?: number | null;
}

/** Returns a dataset that the viewer may read, in whole or in part. Throws NOT_FOUND. */
export const loadDataset = (ctx: Context, id: string): Promise<ViewedDataset> =>
  ctx.read.one(Dataset, id, [...VIEW_COLUMNS]) as Promise<ViewedDataset>;

/** Reads rows of a dataset. */
export const DATASET_PROCESSOR: Processor<DatasetConfig> = {
  schema: {
    type: 'object',
    properties: {
      datasetId: ID_SCHEMA,
      ...ROW_SCHEMAS,
      sort: { type: ['string', 'null'], maxLength: 500 },
      fields: { type: ['array', 'null'], items: { type: 'string' }, maxItems: 2000 },
      limit: { type: ['integer', 'null'], minimum: 1, maximum: MAX_ROWS },
    },
    required: ['datasetId'],
    additionalProperties: false,
  },
  names: { datasetId: 'dataset' },
  async read(ctx, { datasetId, limit, ...query }, { previewRows, take }) {
    const dataset = await loadDataset(ctx, datasetId);
    const max = Math.min(limit ?? DEFAULT_ROWS, previewRows ?? MAX_ROWS);
    const { rows, fields, total, truncated } = await readFirstRows(ctx, dataset, query, max, take);
    return { rows, fields: fields.map(printField), total, truncated };
  },
  async findRefused(ctx, { datasetId }, bindings) {
    return findRefusedInFilter(ctx, await loadDataset(ctx, datasetId), bindings);
  },
};

/** Returns the keys of a field that documents use. */
export const printField = ({ name, label, type, format }: Field) => ({ name, label, type, format: format ?? null });
