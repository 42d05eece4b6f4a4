/** Aggregations of a measured field. `count` without a field counts rows. */
export const VISUAL_AGGREGATIONS = ['sum', 'avg', 'count', 'min', 'max', 'countDistinct'] as const;
type VisualAggregation = (typeof VISUAL_AGGREGATIONS)[number];

/** Time intervals of one point of a line. */
export const DATE_INTERVALS = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
type DateInterval = (typeof DATE_INTERVALS)[number];

/** Color of a gauge’s scale, from this value up to the next threshold. */
interface Threshold {
  value: number;
  color: string;
}

/** Settings of a visual. The JSON Schema of its component lists the keys that it supports. Null means absent. */
export interface VisualConfig {
  xAxis?: string | null;
  yAxis?: string | null;
  groupBy?: string | null;
  aggregation?: VisualAggregation | null;
  categoryField?: string | null;
  valueField?: string | null;
  sizeField?: string | null;
  columns?: string[] | null;
  sortBy?: string | null;
  sortOrder?: 'asc' | 'desc' | null;
  dateInterval?: DateInterval | null;
  dateFormat?: string | null;
  orientation?: 'vertical' | 'horizontal' | null;
  colorScheme?: string | null;
  chartTitle?: string | null;
  width?: number | null;
  height?: number | null;
  showLegend?: boolean | null;
  showDataLabels?: boolean | null;
  stacked?: boolean | null;
  smooth?: boolean | null;
  showPoints?: boolean | null;
  showArea?: boolean | null;
  showPercentages?: boolean | null;
  innerRadius?: number | null;
  pageSize?: number | null;
  showFilters?: boolean | null;
  showPagination?: boolean | null;
  showTrendline?: boolean | null;
  showValues?: boolean | null;
  min?: number | null;
  max?: number | null;
  thresholds?: Threshold[] | null;
  showValue?: boolean | null;
  format?: string | null;
  icon?: string | null;
}
