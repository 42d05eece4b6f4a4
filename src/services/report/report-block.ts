import { Ajv, type ErrorObject, type JSONSchemaType, type ValidateFunction } from 'ajv';
import { Visual } from '../../../entities/visual.ts';
import type { Context } from '../../core/context.ts';
import type { AggregateResult, Aggregation } from '../../core/dataset-index.ts';
import { notFound } from '../../core/errors.ts';
import type { Field } from '../../core/fields.ts';
import { invalid } from '../../core/input-checks.ts';
import { COMPONENTS } from '../../core/visual/component.ts';
import { aggregate } from '../dataset/dataset-aggregate.ts';
import { search } from '../dataset/dataset-data.ts';
import type { ViewedDataset } from '../dataset/dataset-view.ts';
import { checkConfig } from '../visual/visual-config.ts';
import { loadVisualData } from '../visual/visual-data.ts';
import type { Block } from './report-definition.ts';

type Criteria = Record<string, unknown>;

/** Rows of a table. */
export interface BlockRows {
  fields: Field[];
  rows: Record<string, unknown>[];
  total: number;
}

/** What a block asks of rows: of each moment that its reference shows, rows (at most `limit` of all moments together), or groups and their measures. */
export type Question =
  | { kind: 'rows'; limit: number; ask(dataset: ViewedDataset, filter: Criteria, limit: number): Promise<BlockRows> }
  | { kind: 'groups'; ask(dataset: ViewedDataset, filter: Criteria): Promise<AggregateResult> };

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
const table: JSONSchemaType<TableBlock> = { type: 'object', properties: { fields: names, sort: text, q: text, limit } };
const group: JSONSchemaType<Aggregation['groupBy'][number]> = {
  type: 'object',
  required: ['field'],
  additionalProperties: false,
  properties: {
    field: { type: 'string' },
    interval: { type: 'string', enum: INTERVALS, nullable: true },
    timezone: text,
  },
};
const measure: JSONSchemaType<Aggregation['measures'][number]> = {
  type: 'object',
  required: ['fn', 'as'],
  additionalProperties: false,
  properties: { fn: { type: 'string', enum: FUNCTIONS }, field: text, as: { type: 'string' } },
};
const groups: JSONSchemaType<GroupBlock> = {
  type: 'object',
  required: ['measures'],
  properties: {
    groupBy: { type: 'array', items: group, nullable: true },
    measures: { type: 'array', items: measure },
    sort: text,
    q: text,
    limit,
  },
};

const ajv = new Ajv();
const [isTable, areGroups] = [ajv.compile(table), ajv.compile(groups)];

/** 400 naming the key of a block that holds something else. */
function checked<T>(block: Block, fits: ValidateFunction<T>): T {
  if (fits(block)) return block;
  const { instancePath, keyword, params, message }: ErrorObject = fits.errors![0]!;
  throw invalid(
    instancePath.slice(1).replaceAll('/', '.') || 'block',
    keyword === 'enum' ? `must be one of ${params.allowedValues.join(', ')}` : message!,
  );
}

/** What a block asks. `{measures, groupBy?, …}` asks as `_aggregate` does, `{type: 'visual', visual}` for a visual of the dataset, a visual's component with `config` for one that is kept nowhere else, `{type: 'table', fields?, sort?, limit?}` for rows. */
export async function questionOf(ctx: Context, block: Block, datasetId: string): Promise<Question> {
  const { type, visual, config, measures } = block;
  if (measures !== undefined) return groupsOf(ctx, checked(block, areGroups));
  if (type === 'visual') return visualOf(ctx, await storedVisual(ctx, visual, datasetId), block);
  const component = COMPONENTS.find(({ id }) => id === type)?.id;
  if (component && typeof config === 'object' && config !== null)
    return visualOf(ctx, { component, config: checkConfig(component, config as Criteria) }, block);
  if (type === 'table') return rowsOf(ctx, checked(block, isTable));
  throw invalid(
    'block',
    'asks nothing of its dataset: it has neither measures nor a visual or config, and is no table',
  );
}

async function storedVisual(
  ctx: Context,
  id: unknown,
  datasetId: string,
): Promise<Pick<Visual, 'component' | 'config'>> {
  if (typeof id !== 'string') throw invalid('visual', 'must be the id of a visual');
  const visual = await ctx.read.find(Visual, { id, datasetId }, ['component', 'config']);
  if (!visual) throw notFound({ what: 'visual', id });
  return visual;
}

const visualOf = (
  ctx: Context,
  { component, config }: Pick<Visual, 'component' | 'config'>,
  block: Block,
): Question => {
  const { q, limit: most } = checked(block, isTable);
  return {
    kind: 'groups',
    ask: (dataset, filter) => loadVisualData(ctx, { name: '', component, config, dataset }, { filter, q, limit: most }),
  };
};

const groupsOf = (ctx: Context, { groupBy, measures, sort, q, limit: most }: GroupBlock): Question => ({
  kind: 'groups',
  ask: (dataset, filter) =>
    aggregate(ctx, dataset, { groupBy, measures, sort, q, filter, limit: most ?? MAX_BLOCK_ROWS }),
});

const rowsOf = (ctx: Context, { fields, sort, q, limit: most }: TableBlock): Question => ({
  kind: 'rows',
  limit: most ?? DEFAULT_ROWS,
  async ask(dataset, filter, wanted) {
    // The index gives one row at least, the fields being the same for any number.
    const page = await search(ctx, dataset, { fields, sort, q, filter, limit: Math.max(wanted, 1) });
    return { fields: page.fields, rows: page.items.slice(0, wanted), total: await page.countAll() };
  },
});
