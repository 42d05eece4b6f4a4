import type { Aggregation } from '../dataset-index.ts';
import type { FieldType } from '../fields.ts';
import { invalid } from '../input-checks.ts';
import { componentOf, type VisualComponent } from './component.ts';
import type { VisualConfig } from './config.ts';

/** The groups that a visual shows. */
export interface GroupPlan {
  kind: 'groups';
  groupBy: Aggregation['groupBy'];
  measure: Aggregation['measures'][number];
  /** Order of the groups where it is not that of their values. */
  sort?: string;
}

/** The rows that a visual shows; no fields are all fields. */
export interface RowPlan {
  kind: 'rows';
  fields: string[];
  sort?: string;
  /** Rows unless the caller wants fewer or more. */
  limit: number;
}

export type VisualPlan = GroupPlan | RowPlan;
type Types = ReadonlyMap<string, FieldType>;

/** Points of a scatter plot, and rows of a table without a page size, unless more are asked for. */
const MAX_POINTS = 2000;
const USUAL_ROWS = 100;

/** What to ask of the rows for a visual; `types` are the fields that exist for the viewer. 400 naming the key of the config that is missing. */
export function planOf(component: VisualComponent, config: VisualConfig, types: Types): VisualPlan {
  const missing = componentOf(component).needs.find((key) => !config[key]);
  if (missing) throw invalid(`config.${missing}`, `is required to show a ${component}`);
  return PLANS[component](config, types);
}

/** Only plans of components that need the keys ask for them. */
const needed = (name: string | null | undefined): string => name!;

const PLANS: Record<VisualComponent, (config: VisualConfig, types: Types) => VisualPlan> = {
  'bar-chart'(config, types) {
    const groupBy = groupsOf(types, 'day', config.xAxis, config.groupBy);
    const measure = measureOf(config, 'yAxis', groupBy);
    // Dates and numbers have an order of their own; of names the largest come first.
    const ordered = groupBy.length > 1 || types.get(needed(config.xAxis)) !== 'string';
    return { kind: 'groups', groupBy, measure, ...(!ordered && { sort: `-${measure.as}` }) };
  },
  'line-chart'(config, types) {
    const groupBy = groupsOf(types, config.dateInterval ?? 'day', config.xAxis, config.groupBy);
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
    limit: pageSize ?? USUAL_ROWS,
    ...(sortBy && { sort: `${sortOrder === 'desc' ? '-' : ''}${sortBy}` }),
  }),
  'scatter-plot': ({ xAxis, yAxis, sizeField, groupBy }) => ({
    kind: 'rows',
    fields: [...new Set([xAxis, yAxis, sizeField, groupBy].filter((name) => typeof name === 'string'))],
    limit: MAX_POINTS,
  }),
};

function groupsOf(
  types: Types,
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

/** The measure's column is called like its function, unless a group is called so. */
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

const WORDS: Record<GroupPlan['measure']['fn'], string> = {
  count: 'Count',
  sum: 'Sum',
  avg: 'Average',
  min: 'Least',
  max: 'Greatest',
  countDistinct: 'Different values',
};

/** What a measure is called for people, e.g. `Sum of Amount`. */
export const measureLabel = ({ fn, field }: GroupPlan['measure'], labelOf: (field: string) => string): string =>
  field ? `${WORDS[fn]} of ${labelOf(field)}` : WORDS[fn];
