import { DATE_INTERVALS, VISUAL_AGGREGATIONS, type VisualConfig } from './config.ts';

/** Chart types and the table. */
export type VisualComponent =
  | 'bar-chart'
  | 'line-chart'
  | 'pie-chart'
  | 'table'
  | 'scatter-plot'
  | 'heatmap'
  | 'gauge'
  | 'card';

export type ConfigSchema = Readonly<Record<string, unknown>>;
export type ConfigKey = keyof VisualConfig;

/** A component and the JSON Schema of its config. */
export interface ComponentDefinition {
  id: VisualComponent;
  /** Display name, and the default name of a visual. */
  name: string;
  /** JSON Schema of the config. Strings of the format `field` are names of dataset fields. */
  schema: {
    type: 'object';
    properties: Readonly<Partial<Record<ConfigKey, ConfigSchema>>>;
    additionalProperties: false;
  };
  /** Keys that the data requires. They may be saved empty. */
  needs: readonly ConfigKey[];
}

const field = (description: string): ConfigSchema => ({
  type: ['string', 'null'],
  format: 'field',
  minLength: 1,
  maxLength: 500,
  description,
});
const text = (description: string, maxLength = 100): ConfigSchema => ({
  type: ['string', 'null'],
  maxLength,
  description,
});
const flag = (description: string): ConfigSchema => ({ type: ['boolean', 'null'], description });
const number = (description: string, bounds: ConfigSchema = {}): ConfigSchema => ({
  type: ['number', 'null'],
  ...bounds,
  description,
});
const integer = (description: string, minimum: number, maximum: number): ConfigSchema => ({
  type: ['integer', 'null'],
  minimum,
  maximum,
  description,
});
const oneOf = (values: readonly string[], description: string): ConfigSchema => ({
  type: ['string', 'null'],
  enum: [...values, null],
  description,
});

const aggregation = oneOf(
  VISUAL_AGGREGATIONS,
  'Aggregation of the values. Default `sum`; `count` of rows when no field is measured.',
);
const colorScheme = text(
  'Palette: `default`, `cool`, `warm`, `pastel`, `earth`, `blues`, `greens`, `oranges`, `purples`, `reds` or ' +
    '`viridis`. Unknown names are drawn as `default`.',
);
const showLegend = flag('Whether to show a legend. By default, only when there are several colors.');
const groupBy = field('Field whose values are distinguished by color.');
const thresholds: ConfigSchema = {
  type: ['array', 'null'],
  maxItems: 50,
  description: 'Colors of the scale. Each applies from its value up to the next threshold.',
  items: {
    type: 'object',
    properties: {
      value: { type: 'number' },
      color: { type: 'string', pattern: '^(#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})|[a-zA-Z]{1,30})$' },
    },
    required: ['value', 'color'],
    additionalProperties: false,
  },
};
const columns: ConfigSchema = {
  type: ['array', 'null'],
  maxItems: 200,
  uniqueItems: true,
  items: { type: 'string', format: 'field', minLength: 1, maxLength: 500 },
  description: 'Field names in display order. Default: all fields.',
};

const component = (
  id: VisualComponent,
  name: string,
  needs: readonly ConfigKey[],
  properties: ComponentDefinition['schema']['properties'],
): ComponentDefinition => ({ id, name, needs, schema: { type: 'object', properties, additionalProperties: false } });

/** All components. */
export const COMPONENTS: readonly ComponentDefinition[] = [
  component('bar-chart', 'Bar chart', ['xAxis'], {
    xAxis: field('Field with one bar per value. Dates are grouped by day.'),
    yAxis: field('Measured field. Without one, rows are counted.'),
    aggregation,
    orientation: oneOf(['vertical', 'horizontal'], 'Direction of the bars. Default `vertical`.'),
    colorScheme,
    showLegend,
    showDataLabels: flag('Whether to print values on the bars.'),
    stacked: flag('Whether to stack the bars of one value.'),
    groupBy,
    chartTitle: text('Title of the image. Default: the name of the visual.', 200),
    width: integer('Width of the image in pixels.', 100, 4000),
    height: integer('Height of the image in pixels.', 100, 4000),
  }),
  component('line-chart', 'Line chart', ['xAxis'], {
    xAxis: field('Field on the horizontal axis, usually a date.'),
    yAxis: field('Measured field. Without one, rows are counted.'),
    groupBy,
    aggregation,
    smooth: flag('Whether to smooth the lines.'),
    showPoints: flag('Whether to mark the points. By default, only when there are few.'),
    showArea: flag('Whether to fill the area below the lines.'),
    colorScheme,
    showLegend,
    dateInterval: oneOf(DATE_INTERVALS, 'Time interval of one point. Default `day`.'),
    dateFormat: text('Date format, e.g. `DD.MM.YYYY`. Tokens: YYYY YY MMMM MMM MM M DD D HH mm ss.'),
  }),
  component('pie-chart', 'Pie chart', ['categoryField'], {
    categoryField: field('Field with one slice per value.'),
    valueField: field('Measured field. Without one, rows are counted.'),
    aggregation,
    showPercentages: flag('Whether to print percentages on the slices. Default true.'),
    showLegend,
    innerRadius: number('Radius of the hole, in percent of the outer radius.', { minimum: 0, maximum: 95 }),
    sortBy: oneOf(['value', 'category'], 'Sort order of the slices. Default `value`: the largest first.'),
  }),
  component('table', 'Table', [], {
    columns,
    sortBy: field('Field to sort the rows by.'),
    sortOrder: oneOf(['asc', 'desc'], 'Sort direction. Default `asc`.'),
    pageSize: integer('Number of rows per page.', 1, 1000),
    showFilters: flag('Whether to offer filters.'),
    showPagination: flag('Whether to offer pagination.'),
  }),
  component('scatter-plot', 'Scatter plot', ['xAxis', 'yAxis'], {
    xAxis: field('Field on the horizontal axis.'),
    yAxis: field('Field on the vertical axis.'),
    groupBy,
    sizeField: field('Numeric field that sets the size of the points.'),
    colorScheme,
    showTrendline: flag('Whether to draw a linear trend line.'),
  }),
  component('heatmap', 'Heatmap', ['xAxis', 'yAxis'], {
    xAxis: field('Field with one column per value. Dates are grouped by day.'),
    yAxis: field('Field with one row per value. Dates are grouped by day.'),
    valueField: field('Measured field. Without one, rows are counted.'),
    aggregation,
    colorScheme,
    showValues: flag('Whether to print values in the cells.'),
  }),
  component('gauge', 'Gauge', ['valueField'], {
    valueField: field('Field whose sum is shown.'),
    min: number('Start of the scale. Default 0.'),
    max: number('End of the scale. Default: a round number above the value.'),
    thresholds,
    showValue: flag('Whether to print the value. Default true.'),
  }),
  component('card', 'Card', [], {
    valueField: field('Measured field. Without one, rows are counted.'),
    aggregation,
    format: text('Number format: `number`, `integer`, `compact`, `percent`, or a currency code such as `EUR`.'),
    icon: text('Icon name, as defined by the front-end.'),
  }),
];

const byId = new Map<string, ComponentDefinition>(COMPONENTS.map((definition) => [definition.id, definition]));

/** Returns the definition of a component. */
export const componentOf = (id: VisualComponent): ComponentDefinition => byId.get(id)!;
