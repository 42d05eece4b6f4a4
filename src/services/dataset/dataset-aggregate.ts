import type { GroupInput, MeasureInput } from '../../../entities/dataset-aggregate-input.ts';
import type { Context } from '../../core/context.ts';
import type { Aggregation, AggregateResult } from '../../core/dataset-index.ts';
import { at, invalid } from '../../core/input-checks.ts';
import { isTimezone } from '../../core/time-zone.ts';
import { auditRows } from '../resource/audit-read.ts';
import { visibleField, parseRowFilter, type RowQuery } from './dataset-data.ts';
import { parseSortTerms } from './dataset-sort.ts';
import { viewOf, type DatasetView, type ViewedDataset } from './dataset-view.ts';
import { queryIndex } from './index-query.ts';

interface AggregateQuery extends Pick<RowQuery, 'filter' | 'q' | 'sort'> {
  groupBy?: GroupInput[] | null;
  measures: MeasureInput[];
  limit?: number | null;
}

const MAX_GROUPS = 10_000;
const DEFAULT_LIMIT = 1000;
const MAX_COLUMNS = 20;

/**
 * Groups the rows that the viewer sees and computes the measures of each group. A missing value forms a group of its
 * own. Throws 400 for a query that does not fit the visible fields.
 */
export async function aggregate(ctx: Context, dataset: ViewedDataset, query: AggregateQuery): Promise<AggregateResult> {
  const view = await viewOf(ctx, dataset);
  const plan = { ...(await parseRowFilter(ctx, view, query)), ...parseAggregation(view, query) };
  const { generation } = view;
  if (!generation) return { columns: [], rows: [], total: 0, truncated: false };
  const result = await queryIndex(ctx, (index, signal) => index.aggregate({ ...plan, generation }, signal));
  await auditRows(ctx, { action: 'datasetAggregate', datasetId: dataset.id, query, rows: result.rows.length });
  const labels = new Map(plan.groupBy.map(({ field }) => [field, visibleField(view, field).label]));
  return {
    ...result,
    columns: result.columns.map((column) => ({ ...column, label: labels.get(column.name) ?? column.name })),
  };
}

/** Returns the groups, measures, order and limit of a query. Throws 400 where they do not fit the fields. */
export function parseAggregation(
  view: Pick<DatasetView, 'fields'>,
  { groupBy, measures, sort, limit }: AggregateQuery,
): Pick<Aggregation, 'groupBy' | 'measures' | 'sort' | 'limit'> {
  const groups = (groupBy ?? []).map((group, index) => parseGroup(view, group, index));
  if (measures.length === 0 && groups.length === 0)
    throw invalid('measures', 'must not be empty when groupBy is empty');
  if (groups.length + measures.length > MAX_COLUMNS)
    throw invalid('measures', `and groupBy must not have more than ${MAX_COLUMNS} columns together`);
  const checked = measures.map((measure, index) => parseMeasure(view, measure, index));
  const columns = [...groups.map(({ field }) => field), ...checked.map(({ as }) => as)];
  const repeated = columns.find((name, i) => columns.indexOf(name) !== i);
  if (repeated !== undefined) throw invalid('measures', `must not repeat the column name ${JSON.stringify(repeated)}`);
  const maxGroups = limit ?? DEFAULT_LIMIT;
  if (!Number.isInteger(maxGroups) || maxGroups < 1 || maxGroups > MAX_GROUPS)
    throw invalid('limit', `must be a whole number from 1 to ${MAX_GROUPS}`);
  return { groupBy: groups, measures: checked, sort: parseSort(columns, sort), limit: maxGroups };
}

function parseGroup(
  view: Pick<DatasetView, 'fields'>,
  { field, interval, timezone }: GroupInput,
  index: number,
): Aggregation['groupBy'][number] {
  const { type } = at(['groupBy', index, 'field'], () => visibleField(view, field));
  if (type === 'json') throw invalid('groupBy', `must not name ${JSON.stringify(field)}, which is of type json`);
  if (interval && type !== 'date' && type !== 'datetime')
    throw invalid('groupBy', `must not set an interval for ${JSON.stringify(field)}, which is not a date`);
  if (timezone && !isTimezone(timezone))
    throw invalid('groupBy', `names the unknown time zone ${JSON.stringify(timezone)}`);
  return { field, ...(interval && { interval }), ...(timezone && { timezone }) };
}

const NUMERIC_FUNCTIONS: readonly string[] = ['sum', 'avg'];

function parseMeasure(
  view: Pick<DatasetView, 'fields'>,
  { fn, field, as }: MeasureInput,
  index: number,
): Aggregation['measures'][number] {
  if (!as.trim() || as.length > 200) throw invalid('measures', 'must have an `as` of 1 to 200 characters');
  if (!field) {
    if (fn !== 'count') throw invalid('measures', `must name a field for ${fn}`);
    return { fn, as };
  }
  const { type } = at(['measures', index, 'field'], () => visibleField(view, field));
  if (NUMERIC_FUNCTIONS.includes(fn) && type !== 'integer' && type !== 'number')
    throw invalid('measures', `cannot apply ${fn} to ${JSON.stringify(field)}, which is not a number`);
  if (type === 'json' && fn !== 'count')
    throw invalid('measures', `cannot apply ${fn} to ${JSON.stringify(field)}, which is of type json`);
  return { fn, field, as };
}

function parseSort(columns: readonly string[], sort: string | null | undefined): Aggregation['sort'] {
  return parseSortTerms(sort, columns).map(({ name: column, descending }) => {
    if (!columns.includes(column))
      throw invalid('sort', `names ${JSON.stringify(column)}, which is not a column of the result`);
    return { column, descending };
  });
}
