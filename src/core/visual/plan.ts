import { capitalize } from '../capitalize.ts';
import type { Aggregation } from '../dataset-index.ts';
import type { FieldType } from '../fields.ts';
import { invalid } from '../input-checks.ts';
import { componentOf, type VisualComponent } from './component.ts';
import type { VisualConfig } from './config.ts';

/** An aggregation whose groups a visual shows. */
export interface GroupPlan {
  kind: 'groups';
  groupBy: Aggregation['groupBy'];
  measure: Aggregation['measures'][number];
  /** Sort order of the groups. Default: by their values. */
  sort?: string;
}

/** A search whose rows a visual shows. */
export interface RowPlan {
  kind: 'rows';
  /** Empty for all fields. */
  fields: string[];
  sort?: string;
  /** Default number of rows. */
  limit: number;
}

type VisualPlan = GroupPlan | RowPlan;
type FieldTypes = ReadonlyMap<string, FieldType>;

const DEFAULT_POINTS = 2000;
const DEFAULT_ROWS = 100;

/**
 * Returns the query that a visual's data requires. `types` are the fields that the viewer may see.
 * Throws BAD_USER_INPUT naming the config key that is missing.
 */
export function planVisual(component: VisualComponent, config: VisualConfig, types: FieldTypes): VisualPlan {
  const missing = componentOf(component).needs.find((key) => !config[key]);
  if (missing) throw invalid(`config.${missing}`, `is required to show a ${component}`);
  return PLANS[component](config, types);
}

/** Returns the interval by which a line chart groups dates. */
export const intervalOf = ({ dateInterval }: VisualConfig) => dateInterval ?? 'day';

const PLANS: Record<VisualComponent, (config: VisualConfig, types: FieldTypes) => VisualPlan> = {
  'bar-chart'(config, types) {
    const groupBy = groupsOf(types, 'day', config.xAxis, config.groupBy);
    const measure = measureOf(config, 'yAxis', groupBy);
    // Dates and numbers are sorted by value, strings by measure, the largest first.
    const sortedByValue = groupBy.length > 1 || types.get(config.xAxis!) !== 'string';
    return { kind: 'groups', groupBy, measure, ...(!sortedByValue && { sort: `-${measure.as}` }) };
  },
  'line-chart'(config, types) {
    const groupBy = groupsOf(types, intervalOf(config), config.xAxis, config.groupBy);
    return { kind: 'groups', groupBy, measure: measureOf(config, 'yAxis', groupBy) };
  },
  'pie-chart'(config, types) {
    const groupBy = groupsOf(types, 'day', config.categoryField);
    const measure = measureOf(config, 'valueField', groupBy);
    return { kind: 'groups', groupBy, measure, ...(config.sortBy !== 'category' && { sort: `-${measure.as}` }) };
  },
  heatmap(config, types) {
    const groupBy = groupsOf(types, 'day', config.xAxis, config.yAxis);
    return { kind: 'groups', groupBy, measure: measureOf(config, 'valueField', groupBy) };
  },
  gauge: (config) => ({ kind: 'groups', groupBy: [], measure: measureOf(config, 'valueField', []) }),
  card: (config) => ({ kind: 'groups', groupBy: [], measure: measureOf(config, 'valueField', []) }),
  table: ({ columns, sortBy, sortOrder, pageSize }) => ({
    kind: 'rows',
    fields: columns ?? [],
    limit: pageSize ?? DEFAULT_ROWS,
    ...(sortBy && { sort: `${sortOrder === 'desc' ? '-' : ''}${sortBy}` }),
  }),
  'scatter-plot': ({ xAxis, yAxis, sizeField, groupBy }) => ({
    kind: 'rows',
    fields: [...new Set([xAxis, yAxis, sizeField, groupBy].filter((name) => typeof name === 'string'))],
    limit: DEFAULT_POINTS,
  }),
};

function groupsOf(
  types: FieldTypes,
  interval: NonNullable<Aggregation['groupBy'][number]['interval']>,
  ...names: (string | null | undefined)[]
): Aggregation['groupBy'] {
  return names
    .filter((name) => typeof name === 'string')
    .map((field) => {
      const type = types.get(field);
      return { field, ...((type === 'date' || type === 'datetime') && { interval }) };
    });
}

/** Returns the measure. Its column has the name of the function, followed by `_` as often as a group has that name. */
function measureOf(
  config: VisualConfig,
  key: 'yAxis' | 'valueField',
  groups: Aggregation['groupBy'],
): GroupPlan['measure'] {
  const field = config[key];
  const fn = config.aggregation ?? (field ? 'sum' : 'count');
  if (!field && fn !== 'count') throw invalid(`config.${key}`, `is required for ${fn}`);
  let as: string = fn;
  while (groups.some((group) => group.field === as)) as += '_';
  return { fn, ...(field && { field }), as };
}

const MEASURE_NAMES: Record<GroupPlan['measure']['fn'], string> = {
  count: 'Count',
  sum: 'Sum',
  avg: 'Average',
  min: 'Minimum',
  max: 'Maximum',
  countDistinct: 'Distinct values',
};

/** Returns the display name of a measure, e.g. `Sum of Amount`. */
export const measureLabel = ({ fn, field }: GroupPlan['measure'], labelOf: (field: string) => string): string =>
  field ? `${MEASURE_NAMES[fn]} of ${labelOf(field)}` : MEASURE_NAMES[fn];

/** Returns a field's name as words, e.g. `Ordered at` for `ordered_at`. Names that users have spelled stay. */
export function readableName(name: string): string {
  if (!/^[a-z][\w-]*$/.test(name) || /[_-](?:[_-]|$)/.test(name)) return name;
  const words = name
    .replaceAll(/[_-]+/g, ' ')
    .replaceAll(/([a-z0-9])([A-Z])(?=[a-z])/g, (_, end, begin) => `${end} ${begin.toLowerCase()}`);
  return capitalize(words);
}
