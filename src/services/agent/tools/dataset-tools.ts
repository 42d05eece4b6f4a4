import type { GroupInput, MeasureInput } from '../../../../entities/dataset-aggregate-input.ts';
import { Dataset } from '../../../../entities/dataset.ts';
import type { Context } from '../../../core/context.ts';
import { invalid } from '../../../core/input-checks.ts';
import { aggregate } from '../../dataset/dataset-aggregate.ts';
import { search } from '../../dataset/dataset-data.ts';
import { VIEW_COLUMNS, viewOf, type ViewedDataset } from '../../dataset/dataset-view.ts';
import type { AgentTool, AgentTools } from './agent-tool.ts';

/** Rows of one call, groups of one call. More do not fit a result. */
const MAX_ROWS = 200;
const DEFAULT_ROWS = 20;
const MAX_GROUPS = 500;
/** Maximum number of characters of the description of a dataset within the descriptions of tools. */
const MAX_DESCRIPTION = 200;

const COLUMNS = [...VIEW_COLUMNS, 'name', 'description'];
type ReadDataset = ViewedDataset & { name: string; description?: string | null };

/** Loads datasets by their ids, null for one that the viewer may not read. */
const loadDatasets = (ctx: Context, ids: readonly string[]): Promise<(ReadDataset | null)[]> =>
  ctx.read.many(Dataset, [...ids], COLUMNS) as unknown as Promise<(ReadDataset | null)[]>;

const FILTER_SCHEMA = {
  type: 'object',
  description:
    'Criteria: {"field": value} or {"field": {"$gt": 5}}. Operators: $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, ' +
    '$regex; {"$and": […]}, {"$or": […]} and {"$not": {…}} combine criteria.',
};
const Q_SCHEMA = { type: 'string', maxLength: 1000, description: 'Words that a row must contain.' };
const textSchema = (description: string) => ({ type: 'string', maxLength: 500, description });

const objectSchema = (properties: Record<string, unknown>, required: readonly string[]): Record<string, unknown> => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

/**
 * Returns the tools by which a model reads the datasets of an assistant: fields, rows and groups of rows. At each call
 * they show what the viewer, who owns the agent, may see.
 */
export async function createDatasetTools(ctx: Context, ids: readonly string[]): Promise<AgentTools> {
  const found = await loadDatasets(ctx, ids);
  const datasets = found.filter((dataset) => dataset !== null);
  const missing = found.length - datasets.length;
  const notes = missing > 0 ? [`${missing} dataset(s) are left out: the owner of the agent cannot read them`] : [];
  if (datasets.length === 0) return { tools: [], notes };
  return { tools: [describeTool(datasets), searchTool(datasets), aggregateTool(datasets)], notes };
}

/** The argument that names a dataset. */
const datasetArgument = (datasets: readonly ReadDataset[]) => ({
  enum: datasets.map(({ id }) => id),
  description: `Id of the dataset. ${datasets
    .map(({ id, name, description }) => `${id}: ${name}${description ? ` (${shorten(description)})` : ''}`)
    .join('; ')}`,
});

const shorten = (description: string): string =>
  description.replaceAll(/\s+/g, ' ').slice(0, MAX_DESCRIPTION).toWellFormed();

/** Loads the dataset that a call names. The schema of the tool has checked that it is one of the assistant. */
async function loadDataset(ctx: Context, { dataset: id }: Record<string, unknown>): Promise<ReadDataset> {
  const [dataset] = await loadDatasets(ctx, [String(id)]);
  if (!dataset) throw invalid('dataset', 'is a dataset that the owner of the agent can no longer read');
  return dataset;
}

const describeTool = (datasets: readonly ReadDataset[]): AgentTool => ({
  name: 'describe_dataset',
  description: 'Returns the fields of a dataset with their types. Call it before you search or aggregate rows.',
  parameters: objectSchema({ dataset: datasetArgument(datasets) }, ['dataset']),
  async call(ctx, args) {
    const dataset = await loadDataset(ctx, args);
    const { fields, partial } = await viewOf(ctx, dataset);
    const { name, description = null } = dataset;
    const columns = fields.map((field) => ({ name: field.name, label: field.label, type: field.type }));
    return { text: JSON.stringify({ name, description, fields: columns, partial }) };
  },
});

const searchTool = (datasets: readonly ReadDataset[]): AgentTool => ({
  name: 'search_rows',
  description: `Returns rows of a dataset, at most ${MAX_ROWS}.`,
  parameters: objectSchema(
    {
      dataset: datasetArgument(datasets),
      filter: FILTER_SCHEMA,
      q: Q_SCHEMA,
      sort: textSchema('Fields to sort by, separated by commas; `-` means descending.'),
      fields: { type: 'array', maxItems: 200, items: textSchema('Name of a field.') },
      limit: { type: 'integer', minimum: 1, maximum: MAX_ROWS, description: `Default: ${DEFAULT_ROWS}.` },
      start: { type: 'integer', minimum: 0, maximum: 9000, description: 'Number of rows to skip.' },
    },
    ['dataset'],
  ),
  async call(ctx, args) {
    const { filter, q, sort, fields, limit = DEFAULT_ROWS, start } = args as SearchArguments;
    const page = await search(ctx, await loadDataset(ctx, args), { filter, q, sort, fields, limit, start });
    return { text: JSON.stringify({ rows: page.items, count: page.count, total: await page.countAll() }) };
  },
});

interface SearchArguments {
  filter?: unknown;
  q?: string;
  sort?: string;
  fields?: string[];
  limit?: number;
  start?: number;
}

const aggregateTool = (datasets: readonly ReadDataset[]): AgentTool => ({
  name: 'aggregate_rows',
  description: `Groups rows of a dataset and computes measures of each group. Returns at most ${MAX_GROUPS} groups.`,
  parameters: objectSchema(
    {
      dataset: datasetArgument(datasets),
      groupBy: {
        type: 'array',
        maxItems: 10,
        items: objectSchema(
          {
            field: textSchema('Name of a field.'),
            interval: { enum: ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] },
            timezone: textSchema('IANA time zone of the interval.'),
          },
          ['field'],
        ),
      },
      measures: {
        type: 'array',
        maxItems: 10,
        items: objectSchema(
          {
            fn: { enum: ['count', 'sum', 'avg', 'min', 'max', 'countDistinct'] },
            field: textSchema('Name of a field; absent to count rows.'),
            as: { type: 'string', minLength: 1, maxLength: 200, description: 'Name of the column in the result.' },
          },
          ['fn', 'as'],
        ),
      },
      filter: FILTER_SCHEMA,
      q: Q_SCHEMA,
      sort: textSchema('Columns of the result to sort by, separated by commas; `-` means descending.'),
      limit: { type: 'integer', minimum: 1, maximum: MAX_GROUPS },
    },
    ['dataset', 'measures'],
  ),
  async call(ctx, args) {
    const { groupBy = [], measures, filter, q, sort, limit = MAX_GROUPS } = args as unknown as AggregateArguments;
    const dataset = await loadDataset(ctx, args);
    const { columns, rows, total, truncated } = await aggregate(ctx, dataset, {
      groupBy,
      measures,
      filter,
      q,
      sort,
      limit,
    });
    return { text: JSON.stringify({ columns: columns.map(({ name }) => name), rows, total, truncated }) };
  },
});

interface AggregateArguments {
  groupBy?: GroupInput[];
  measures: MeasureInput[];
  filter?: unknown;
  q?: string;
  sort?: string;
  limit?: number;
}
