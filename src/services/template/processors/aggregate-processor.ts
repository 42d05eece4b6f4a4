import type { GroupInput, MeasureInput } from '../../../../entities/dataset-aggregate-input.ts';
import type { AggregateResult } from '../../../core/dataset-index.ts';
import { aggregate } from '../../dataset/dataset-aggregate.ts';
import { findRefusedInFilter } from './criteria-bindings.ts';
import { ID_SCHEMA, loadDataset, ROW_SCHEMAS } from './dataset-processor.ts';
import type { Processor } from './processor.ts';

const MAX_GROUPS = 10_000;
const DEFAULT_GROUPS = 1000;
const NAME_SCHEMA = { type: 'string', minLength: 1, maxLength: 200 };

interface AggregateConfig {
  datasetId: string;
  filter?: Record<string, unknown> | string | null;
  q?: string | null;
  sort?: string | null;
  groupBy?: GroupInput[] | null;
  measures?: MeasureInput[] | null;
  limit?: number | null;
}

/** Returns rows of values as objects by the names of their columns. */
export const toObjects = ({ columns, rows }: Pick<AggregateResult, 'columns' | 'rows'>): Record<string, unknown>[] =>
  rows.map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index]])));

/** Groups the rows of a dataset and computes measures of each group. */
export const AGGREGATE_PROCESSOR: Processor<AggregateConfig> = {
  schema: {
    type: 'object',
    properties: {
      datasetId: ID_SCHEMA,
      ...ROW_SCHEMAS,
      sort: { type: ['string', 'null'], maxLength: 500 },
      groupBy: {
        type: ['array', 'null'],
        maxItems: 20,
        items: {
          type: 'object',
          properties: {
            field: { type: 'string' },
            interval: { enum: ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year', null] },
            timezone: { type: ['string', 'null'], maxLength: 100 },
          },
          required: ['field'],
          additionalProperties: false,
        },
      },
      measures: {
        type: ['array', 'null'],
        maxItems: 20,
        items: {
          type: 'object',
          properties: {
            fn: { enum: ['count', 'sum', 'avg', 'min', 'max', 'countDistinct'] },
            field: { type: ['string', 'null'] },
            as: NAME_SCHEMA,
          },
          required: ['fn', 'as'],
          additionalProperties: false,
        },
      },
      limit: { type: ['integer', 'null'], minimum: 1, maximum: MAX_GROUPS },
    },
    required: ['datasetId'],
    additionalProperties: false,
  },
  names: { datasetId: 'dataset' },
  async read(ctx, { datasetId, measures, limit, ...query }, { previewRows, take }) {
    const dataset = await loadDataset(ctx, datasetId);
    const max = Math.min(limit ?? DEFAULT_GROUPS, previewRows ?? MAX_GROUPS);
    const result = await aggregate(ctx, dataset, { ...query, measures: measures ?? [], limit: max });
    const rows = toObjects(result);
    for (const row of rows) take(row);
    return { ...result, rows };
  },
  async findRefused(ctx, { datasetId }, bindings) {
    return findRefusedInFilter(ctx, await loadDataset(ctx, datasetId), bindings);
  },
};
