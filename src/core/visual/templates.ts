import type { VisualComponent } from './component.ts';
import type { VisualConfig } from './config.ts';

/** A visual to begin with: null keys of its config are for the user to fill (specification, "Visual template"). */
export interface VisualTemplate {
  id: string;
  name: string;
  component: VisualComponent;
  description: string;
  /** Name of an icon of the front-end. */
  icon: string;
  /** What it is good for. */
  category: 'comparison' | 'trend' | 'proportion' | 'relation' | 'indicator' | 'detail';
  config: VisualConfig;
}

/** At least one of each component. */
export const TEMPLATES: readonly VisualTemplate[] = [
  {
    id: 'compare-categories',
    name: 'Compare categories',
    component: 'bar-chart',
    category: 'comparison',
    icon: 'bar-chart',
    description: 'A bar for each category, the largest first.',
    config: {
      xAxis: null,
      yAxis: null,
      aggregation: 'sum',
      orientation: 'vertical',
      colorScheme: 'default',
      showLegend: false,
      showDataLabels: true,
      stacked: false,
    },
  },
  {
    id: 'stacked-comparison',
    name: 'Stacked comparison',
    component: 'bar-chart',
    category: 'comparison',
    icon: 'stacked-bar-chart',
    description: 'Bars that show what each category is made of.',
    config: {
      xAxis: null,
      yAxis: null,
      groupBy: null,
      aggregation: 'sum',
      orientation: 'vertical',
      colorScheme: 'default',
      showLegend: true,
      stacked: true,
    },
  },
  {
    id: 'ranking',
    name: 'Ranking',
    component: 'bar-chart',
    category: 'comparison',
    icon: 'horizontal-bar-chart',
    description: 'Lying bars for categories with long names.',
    config: {
      xAxis: null,
      yAxis: null,
      aggregation: 'sum',
      orientation: 'horizontal',
      colorScheme: 'default',
      showLegend: false,
      showDataLabels: true,
    },
  },
  {
    id: 'trend-over-time',
    name: 'Trend over time',
    component: 'line-chart',
    category: 'trend',
    icon: 'line-chart',
    description: 'How a number moves from month to month.',
    config: {
      xAxis: null,
      yAxis: null,
      groupBy: null,
      aggregation: 'sum',
      dateInterval: 'month',
      smooth: false,
      showPoints: true,
      showArea: false,
      colorScheme: 'default',
      showLegend: true,
    },
  },
  {
    id: 'volume-over-time',
    name: 'Volume over time',
    component: 'line-chart',
    category: 'trend',
    icon: 'area-chart',
    description: 'How many rows there are from day to day.',
    config: {
      xAxis: null,
      yAxis: null,
      aggregation: 'count',
      dateInterval: 'day',
      smooth: true,
      showPoints: false,
      showArea: true,
      colorScheme: 'default',
      showLegend: false,
    },
  },
  {
    id: 'share-of-whole',
    name: 'Share of the whole',
    component: 'pie-chart',
    category: 'proportion',
    icon: 'pie-chart',
    description: 'What part of the whole each category has.',
    config: {
      categoryField: null,
      valueField: null,
      aggregation: 'sum',
      showPercentages: true,
      showLegend: true,
      innerRadius: 0,
      sortBy: 'value',
    },
  },
  {
    id: 'ring',
    name: 'Ring',
    component: 'pie-chart',
    category: 'proportion',
    icon: 'donut-chart',
    description: 'The same as a ring.',
    config: {
      categoryField: null,
      valueField: null,
      aggregation: 'sum',
      showPercentages: true,
      showLegend: true,
      innerRadius: 60,
      sortBy: 'value',
    },
  },
  {
    id: 'rows',
    name: 'Rows',
    component: 'table',
    category: 'detail',
    icon: 'table',
    description: 'The rows themselves, in columns of your choice.',
    config: { columns: null, sortBy: null, sortOrder: 'asc', pageSize: 20, showFilters: true, showPagination: true },
  },
  {
    id: 'correlation',
    name: 'Correlation',
    component: 'scatter-plot',
    category: 'relation',
    icon: 'scatter-plot',
    description: 'Whether two numbers go together.',
    config: { xAxis: null, yAxis: null, groupBy: null, sizeField: null, colorScheme: 'default', showTrendline: true },
  },
  {
    id: 'concentration',
    name: 'Concentration',
    component: 'heatmap',
    category: 'relation',
    icon: 'heatmap',
    description: 'Where two categories meet most.',
    config: {
      xAxis: null,
      yAxis: null,
      valueField: null,
      aggregation: 'count',
      colorScheme: 'blues',
      showValues: true,
    },
  },
  {
    id: 'target',
    name: 'Target',
    component: 'gauge',
    category: 'indicator',
    icon: 'gauge',
    description: 'How far a sum is on its way.',
    config: { valueField: null, min: 0, max: null, thresholds: null, showValue: true },
  },
  {
    id: 'key-figure',
    name: 'Key figure',
    component: 'card',
    category: 'indicator',
    icon: 'card',
    description: 'One number, large.',
    config: { valueField: null, aggregation: 'sum', format: 'number', icon: null },
  },
];
