import { Ajv, type ErrorObject, type JSONSchemaType, type ValidateFunction } from 'ajv';
import type { BlockRows } from '../../../entities/report-data.ts';
import { Visual } from '../../../entities/visual.ts';
import type { Context } from '../../core/context.ts';
import type { AggregateResult, Aggregation } from '../../core/dataset-index.ts';
import { notFound } from '../../core/errors.ts';
import { invalid } from '../../core/input-checks.ts';
import { COMPONENTS } from '../../core/visual/component.ts';
import { aggregate } from '../dataset/dataset-aggregate.ts';
import { search } from '../dataset/dataset-data.ts';
import type { ViewedDataset } from '../dataset/dataset-view.ts';
import { checkConfig } from '../visual/visual-config.ts';
import { loadVisualData } from '../visual/visual-data.ts';
import type { ReportBlock } from './report-definition.ts';

type JsonObject = Record<string, unknown>;

/**
 * The query of a block. It runs once on every dataset that the reference shows (the current rows and each snapshot):
 * for rows, at most `limit` of all datasets together, or for groups with their measures.
 */
type BlockQuery =
  | {
      kind: 'rows';
      limit: number;
      run(dataset: ViewedDataset, filter: JsonObject, limit: number): Promise<BlockRows>;
    }
  | { kind: 'groups'; run(dataset: ViewedDataset, filter: JsonObject): Promise<AggregateResult> };

const DEFAULT_ROWS = 100;
const MAX_BLOCK_ROWS = 1000;

interface TableBlock {
  fields?: string[] | null;
  sort?: string | null;
  q?: string | null;
  limit?: number | null;
}
interface GroupBlock {
  groupBy?: Aggregation['groupBy'] | null;
  measures: Aggregation['measures'];
  sort?: string | null;
  q?: string | null;
  limit?: number | null;
}

const FUNCTIONS: readonly Aggregation['measures'][number]['fn'][] = [
  'count',
  'sum',
  'avg',
  'min',
  'max',
  'countDistinct',
];
const INTERVALS: readonly NonNullable<Aggregation['groupBy'][number]['interval']>[] = [
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
];

const text = { type: 'string', nullable: true } as const;
const limit = { type: 'integer', minimum: 1, maximum: MAX_BLOCK_ROWS, nullable: true } as const;
const names = { type: 'array', items: { type: 'string' }, nullable: true } as const;
const tableSchema: JSONSchemaType<TableBlock> = {
  type: 'object',
  properties: { fields: names, sort: text, q: text, limit },
};
const groupSchema: JSONSchemaType<Aggregation['groupBy'][number]> = {
  type: 'object',
  required: ['field'],
  additionalProperties: false,
  properties: {
    field: { type: 'string' },
    interval: { type: 'string', enum: INTERVALS, nullable: true },
    timezone: text,
  },
};
const measureSchema: JSONSchemaType<Aggregation['measures'][number]> = {
  type: 'object',
  required: ['fn', 'as'],
  additionalProperties: false,
  properties: { fn: { type: 'string', enum: FUNCTIONS }, field: text, as: { type: 'string' } },
};
const groupsSchema: JSONSchemaType<GroupBlock> = {
  type: 'object',
  required: ['measures'],
  properties: {
    groupBy: { type: 'array', items: groupSchema, nullable: true },
    measures: { type: 'array', items: measureSchema },
    sort: text,
    q: text,
    limit,
  },
};

const ajv = new Ajv();
const isTableBlock = ajv.compile(tableSchema);
const isGroupBlock = ajv.compile(groupsSchema);

/** Returns the block with its checked type. Throws BAD_USER_INPUT naming the first invalid key. */
function checkBlock<T>(block: ReportBlock, isValid: ValidateFunction<T>): T {
  if (isValid(block)) return block;
  const { instancePath, keyword, params, message }: ErrorObject = isValid.errors![0]!;
  throw invalid(
    instancePath.slice(1).replaceAll('/', '.') || 'block',
    keyword === 'enum' ? `must be one of ${params.allowedValues.join(', ')}` : message!,
  );
}

/**
 * Returns the query of a block, by its form:
 * - `{measures, groupBy?, …}` aggregates like `_aggregate`;
 * - `{type: 'visual', visual}` runs a visual of the dataset;
 * - `{type: <visual component>, config}` runs an inline visual;
 * - `{type: 'table', fields?, sort?, limit?}` selects rows.
 *
 * Throws BAD_USER_INPUT for any other form, NOT_FOUND for an unknown visual.
 */
export async function blockQueryOf(ctx: Context, block: ReportBlock, datasetId: string): Promise<BlockQuery> {
  const { type, visual, config, measures } = block;
  if (measures !== undefined) return groupQuery(ctx, checkBlock(block, isGroupBlock));
  if (type === 'visual') return visualQuery(ctx, await loadVisual(ctx, visual, datasetId), block);
  const component = COMPONENTS.find(({ id }) => id === type)?.id;
  if (component && typeof config === 'object' && config !== null) {
    return visualQuery(ctx, { component, config: checkConfig(component, config as JsonObject) }, block);
  }
  if (type === 'table') return rowQuery(ctx, checkBlock(block, isTableBlock));
  throw invalid('block', 'with a dataset must be a table, or have measures, a visual or a config');
}

async function loadVisual(ctx: Context, id: unknown, datasetId: string): Promise<Pick<Visual, 'component' | 'config'>> {
  if (typeof id !== 'string') throw invalid('visual', 'must be the id of a visual');
  const visual = await ctx.read.find(Visual, { id, datasetId }, ['component', 'config']);
  if (!visual) throw notFound({ what: 'visual', id });
  return visual;
}

function visualQuery(
  ctx: Context,
  { component, config }: Pick<Visual, 'component' | 'config'>,
  block: ReportBlock,
): BlockQuery {
  const { q, limit: maxGroups } = checkBlock(block, isTableBlock);
  return {
    kind: 'groups',
    run: (dataset, filter) =>
      loadVisualData(ctx, { name: '', component, config, dataset }, { filter, q, limit: maxGroups }),
  };
}

const groupQuery = (ctx: Context, { groupBy, measures, sort, q, limit: maxGroups }: GroupBlock): BlockQuery => ({
  kind: 'groups',
  run: (dataset, filter) =>
    aggregate(ctx, dataset, { groupBy, measures, sort, q, filter, limit: maxGroups ?? MAX_BLOCK_ROWS }),
});

const rowQuery = (ctx: Context, { fields, sort, q, limit: maxRows }: TableBlock): BlockQuery => ({
  kind: 'rows',
  limit: maxRows ?? DEFAULT_ROWS,
  async run(dataset, filter, remaining) {
    // A search requires a limit of at least 1. With none remaining, only the fields and the total are used.
    const page = await search(ctx, dataset, { fields, sort, q, filter, limit: Math.max(remaining, 1) });
    return { fields: page.fields, rows: page.items.slice(0, remaining), total: await page.countAll() };
  },
});
