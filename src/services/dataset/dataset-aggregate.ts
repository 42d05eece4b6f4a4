import type { Context } from '../../core/context.ts';
import type { Aggregation, AggregateResult } from '../../core/dataset-index.ts';
import { invalid } from '../../core/input-checks.ts';
import { visibleField, matching, type RowQuery } from './dataset-data.ts';
import { viewOf, type DatasetView, type ViewedDataset } from './dataset-view.ts';

export interface AggregateQuery extends Pick<RowQuery, 'filter' | 'q' | 'sort'> {
  groupBy?: Aggregation['groupBy'] | null;
  measures: Aggregation['measures'];
  limit?: number | null;
}

const MAX_GROUPS = 10_000;
const DEFAULT_LIMIT = 1000;
const MAX_COLUMNS = 20;

/** Groups the rows that the viewer sees and measures them. Missing values are a group of their own. */
export async function aggregate(ctx: Context, dataset: ViewedDataset, query: AggregateQuery): Promise<AggregateResult> {
  const view = await viewOf(ctx, dataset);
  const plan = { ...(await matching(ctx, view, query)), ...aggregationOf(view, query) };
  if (!view.generation) return { columns: [], rows: [], total: 0, truncated: false };
  const result = await ctx.platform.index.aggregate({ ...plan, generation: view.generation }, ctx.request.signal);
  const labels = new Map(plan.groupBy.map(({ field }) => [field, visibleField(view, field).label]));
  return {
    ...result,
    columns: result.columns.map((column) => ({ ...column, label: labels.get(column.name) ?? column.name })),
  };
}

/** A question of groups, checked against the fields that exist. */
export function aggregationOf(
  view: Pick<DatasetView, 'fields'>,
  { groupBy, measures, sort, limit }: AggregateQuery,
): Pick<Aggregation, 'groupBy' | 'measures' | 'sort' | 'limit'> {
  const groups = (groupBy ?? []).map((group) => checkedGroup(view, group));
  if (measures.length === 0 && groups.length === 0) throw invalid('measures', 'is empty, and so is groupBy');
  if (groups.length + measures.length > MAX_COLUMNS)
    throw invalid('measures', `and groupBy make more than ${MAX_COLUMNS} columns`);
  const checked = measures.map((measure) => checkedMeasure(view, measure));
  const columns = [...groups.map(({ field }) => field), ...checked.map(({ as }) => as)];
  const repeated = columns.find((name, i) => columns.indexOf(name) !== i);
  if (repeated !== undefined) throw invalid('measures', `makes two columns called ${JSON.stringify(repeated)}`);
  const most = limit ?? DEFAULT_LIMIT;
  if (!Number.isInteger(most) || most < 1 || most > MAX_GROUPS)
    throw invalid('limit', `must be a whole number from 1 to ${MAX_GROUPS}`);
  return { groupBy: groups, measures: checked, sort: sortOf(columns, sort), limit: most };
}

function checkedGroup(
  view: Pick<DatasetView, 'fields'>,
  { field, interval, timezone }: Aggregation['groupBy'][number],
): Aggregation['groupBy'][number] {
  const { type } = visibleField(view, field);
  if (type === 'json') throw invalid('groupBy', `names ${JSON.stringify(field)}, which is of type json`);
  if (interval && type !== 'date' && type !== 'datetime')
    throw invalid('groupBy', `asks for intervals of ${JSON.stringify(field)}, which is no date`);
  if (timezone && !isTimezone(timezone))
    throw invalid('groupBy', `names ${JSON.stringify(timezone)}, which is no time zone`);
  return { field, ...(interval && { interval }), ...(timezone && { timezone }) };
}

const NUMERIC: readonly string[] = ['sum', 'avg'];

function checkedMeasure(
  view: Pick<DatasetView, 'fields'>,
  { fn, field, as }: Aggregation['measures'][number],
): Aggregation['measures'][number] {
  if (!as.trim() || as.length > 200)
    throw invalid('measures', 'holds an `as` of less than 1 or more than 200 characters');
  if (!field) {
    if (fn !== 'count') throw invalid('measures', `must name the field of ${fn}`);
    return { fn, as };
  }
  const { type } = visibleField(view, field);
  if (NUMERIC.includes(fn) && type !== 'integer' && type !== 'number')
    throw invalid('measures', `asks for the ${fn} of ${JSON.stringify(field)}, which is no number`);
  if (type === 'json' && fn !== 'count')
    throw invalid('measures', `asks for the ${fn} of ${JSON.stringify(field)}, which is of type json`);
  return { fn, field, as };
}

function sortOf(columns: readonly string[], sort: string | null | undefined): Aggregation['sort'] {
  const words =
    sort
      ?.split(',')
      .map((word) => word.trim())
      .filter(Boolean) ?? [];
  return words.map((word) => {
    const descending = word.startsWith('-') && !columns.includes(word);
    const column = descending ? word.slice(1) : word;
    if (!columns.includes(column))
      throw invalid('sort', `names ${JSON.stringify(column)}, which is no column of the answer`);
    return { column, descending };
  });
}

/** Whether a text names a time zone. Intl also takes offsets such as `+02:00`, which no index knows. */
function isTimezone(timezone: string): boolean {
  if (!/^[A-Za-z]/.test(timezone)) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: timezone }));
  } catch {
    return false;
  }
}
