import { DATE_INTERVALS, VISUAL_AGGREGATIONS, type VisualConfig } from './config.ts';

/** What a visual can be drawn as (specification, "Visual"). */
export type VisualComponent =
  | 'bar-chart'
  | 'line-chart'
  | 'pie-chart'
  | 'table'
  | 'scatter-plot'
  | 'heatmap'
  | 'gauge'
  | 'card';

type Schema = Readonly<Record<string, unknown>>;
type Key = keyof VisualConfig;

/** A component with what its config may hold. */
export interface ComponentDefinition {
  id: VisualComponent;
  /** Name to show, and that of a visual that gets none. */
  name: string;
  /** JSON Schema of the config. Texts of the format `field` name a field of the dataset. */
  schema: { type: 'object'; properties: Readonly<Partial<Record<Key, Schema>>>; additionalProperties: false };
  /** Keys without which there is nothing to show: they may be saved empty and are asked for with the data. */
  needs: readonly Key[];
}

const field = (description: string): Schema => ({
  type: ['string', 'null'],
  format: 'field',
  minLength: 1,
  maxLength: 500,
  description,
});
const text = (description: string, maxLength = 100): Schema => ({ type: ['string', 'null'], maxLength, description });
const flag = (description: string): Schema => ({ type: ['boolean', 'null'], description });
const number = (description: string, bounds: Schema = {}): Schema => ({
  type: ['number', 'null'],
  ...bounds,
  description,
});
const whole = (description: string, minimum: number, maximum: number): Schema => ({
  type: ['integer', 'null'],
  minimum,
  maximum,
  description,
});
const oneOf = (values: readonly string[], description: string): Schema => ({
  type: ['string', 'null'],
  enum: [...values, null],
  description,
});

const aggregation = oneOf(
  VISUAL_AGGREGATIONS,
  'How values are put together: the sum by default, without a field the number of rows.',
);
const colorScheme = text(
  'Name of a palette: `default`, `cool`, `warm`, `pastel`, `earth`, or of one hue `blues`, `greens`, `oranges`, `purples`, `reds`, `viridis`. Others are drawn as `default`.',
);
const showLegend = flag('Whether to explain the colours. By default where there are several.');
const groupBy = field('Field whose values are told apart by colour.');
const thresholds: Schema = {
  type: ['array', 'null'],
  maxItems: 50,
  description: 'Colours of the scale, each from its value on.',
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
const columns: Schema = {
  type: ['array', 'null'],
  maxItems: 200,
  uniqueItems: true,
  items: { type: 'string', format: 'field', minLength: 1, maxLength: 500 },
  description: 'Fields in order; all by default.',
};

const component = (
  id: VisualComponent,
  name: string,
  needs: readonly Key[],
  properties: ComponentDefinition['schema']['properties'],
): ComponentDefinition => ({ id, name, needs, schema: { type: 'object', properties, additionalProperties: false } });

/** All of them. */
export const COMPONENTS: readonly ComponentDefinition[] = [
  component('bar-chart', 'Bar chart', ['xAxis'], {
    xAxis: field('Field with a bar for each of its values; dates by day.'),
    yAxis: field('Field that is measured; rows are counted without one.'),
    aggregation,
    orientation: oneOf(['vertical', 'horizontal'], 'Which way bars grow. Default `vertical`.'),
    colorScheme,
    showLegend,
    showDataLabels: flag('Whether bars carry their numbers.'),
    stacked: flag('Whether the bars of one value stand on each other.'),
    groupBy,
    chartTitle: text('Title of the picture; the visual’s name by default.', 200),
    width: whole('Width of the picture in pixels.', 100, 4000),
    height: whole('Its height.', 100, 4000),
  }),
  component('line-chart', 'Line chart', ['xAxis'], {
    xAxis: field('Field along which the line runs, as a rule a date.'),
    yAxis: field('Field that is measured; rows are counted without one.'),
    groupBy,
    aggregation,
    smooth: flag('Whether lines are curved.'),
    showPoints: flag('Whether points are marked. By default where there are few.'),
    showArea: flag('Whether the area below is filled.'),
    colorScheme,
    showLegend,
    dateInterval: oneOf(DATE_INTERVALS, 'The stretch of time that makes one point. Default `day`.'),
    dateFormat: text('How dates are written, e.g. `DD.MM.YYYY`, of YYYY YY MMMM MMM MM M DD D HH mm ss.'),
  }),
  component('pie-chart', 'Pie chart', ['categoryField'], {
    categoryField: field('Field with a slice for each of its values.'),
    valueField: field('Field that is measured; rows are counted without one.'),
    aggregation,
    showPercentages: flag('Whether slices carry their share. Default true.'),
    showLegend,
    innerRadius: number('Radius of the hole in per cent of the picture’s.', { minimum: 0, maximum: 95 }),
    sortBy: oneOf(['value', 'category'], 'Order of the slices. Default `value`, the largest first.'),
  }),
  component('table', 'Table', [], {
    columns,
    sortBy: field('Field that orders the rows.'),
    sortOrder: oneOf(['asc', 'desc'], 'Which way. Default `asc`.'),
    pageSize: whole('Rows on a page.', 1, 1000),
    showFilters: flag('Whether readers may filter.'),
    showPagination: flag('Whether readers may turn pages.'),
  }),
  component('scatter-plot', 'Scatter plot', ['xAxis', 'yAxis'], {
    xAxis: field('Field that places a row from left to right.'),
    yAxis: field('Field that places it from bottom to top.'),
    groupBy,
    sizeField: field('Number that makes points larger.'),
    colorScheme,
    showTrendline: flag('Whether to draw the straight line that fits best.'),
  }),
  component('heatmap', 'Heatmap', ['xAxis', 'yAxis'], {
    xAxis: field('Field with a column for each of its values; dates by day.'),
    yAxis: field('Field with a row for each of its values; dates by day.'),
    valueField: field('Field that is measured; rows are counted without one.'),
    aggregation,
    colorScheme,
    showValues: flag('Whether cells carry their numbers.'),
  }),
  component('gauge', 'Gauge', ['valueField'], {
    valueField: field('Field whose sum is shown.'),
    min: number('Where the scale begins. Default 0.'),
    max: number('Where it ends. By default a round number past the value.'),
    thresholds,
    showValue: flag('Whether to write the number. Default true.'),
  }),
  component('card', 'Card', [], {
    valueField: field('Field that is measured; rows are counted without one.'),
    aggregation,
    format: text('How the number is written: `number`, `integer`, `compact`, `percent`, or a currency such as `EUR`.'),
    icon: text('Name of an icon of the front-end.'),
  }),
];

const byId = new Map<string, ComponentDefinition>(COMPONENTS.map((definition) => [definition.id, definition]));

/** The definition of a component. */
export const componentOf = (id: VisualComponent): ComponentDefinition => byId.get(id)!;

/** Whether a field of the dataset exists for the viewer. */
export type IsVisible = (field: string) => boolean;

const isField = (schema: Schema | undefined): boolean => schema?.['format'] === 'field';

/** Of a config, the keys that name one field, and those that name several. */
function namingKeys(id: VisualComponent): { one: Key[]; several: Key[] } {
  const entries = Object.entries(componentOf(id).schema.properties) as [Key, Schema][];
  return {
    one: entries.filter(([, schema]) => isField(schema)).map(([key]) => key),
    several: entries.filter(([, schema]) => isField(schema['items'] as Schema | undefined)).map(([key]) => key),
  };
}

/** The first key that names a field which does not exist for the viewer. */
export const hiddenKey = (id: VisualComponent, config: VisualConfig, isVisible: IsVisible): Key | undefined =>
  namingKeys(id).one.find((key) => typeof config[key] === 'string' && !isVisible(config[key]));

/** A config as somebody sees it to whom only some fields of the dataset exist: what names others is empty. */
export function visibleConfig(id: VisualComponent, config: VisualConfig, isVisible: IsVisible): VisualConfig {
  const shown: Record<string, unknown> = { ...config };
  const { one, several } = namingKeys(id);
  for (const key of one) if (typeof shown[key] === 'string' && !isVisible(shown[key])) shown[key] = null;
  for (const key of several) if (Array.isArray(shown[key])) shown[key] = (shown[key] as string[]).filter(isVisible);
  return shown;
}

/** A config that such a person sends back: what they were not shown, and did not put anything in place of, stays. */
export function withHidden(
  id: VisualComponent,
  former: VisualConfig,
  sent: Readonly<Record<string, unknown>>,
  isVisible: IsVisible,
): Record<string, unknown> {
  const kept: Record<string, unknown> = { ...sent };
  const { one, several } = namingKeys(id);
  for (const key of one)
    if (typeof former[key] === 'string' && !isVisible(former[key]) && kept[key] == null) kept[key] = former[key];
  for (const key of several) {
    const hidden = ((former[key] ?? []) as string[]).filter((name) => !isVisible(name));
    const now = kept[key] ?? [];
    if (hidden.length > 0 && Array.isArray(now)) kept[key] = [...now, ...hidden.filter((name) => !now.includes(name))];
  }
  return kept;
}
