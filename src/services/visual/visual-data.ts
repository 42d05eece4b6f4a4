import type { VisualDataArgs, VisualImageArgs } from '../../../entities/visual-input.ts';
import { drawPicture } from '../../adapters/chart/draw.ts';
import type { Context } from '../../core/context.ts';
import type { AggregateResult } from '../../core/dataset-index.ts';
import { invalid } from '../../core/input-checks.ts';
import type { VisualComponent } from '../../core/visual/component.ts';
import type { VisualConfig } from '../../core/visual/config.ts';
import { incompletePeriods, type IncompletePeriods } from '../../core/visual/incomplete-periods.ts';
import {
  measureLabel,
  planVisual,
  type GroupPlan,
  type RowPlan,
  readableName,
  intervalOf,
} from '../../core/visual/plan.ts';
import { findHiddenKey, visibleConfig } from '../../core/visual/visible-config.ts';
import { aggregate } from '../dataset/dataset-aggregate.ts';
import { search } from '../dataset/dataset-data.ts';
import { viewOf, type ViewedDataset } from '../dataset/dataset-view.ts';
import { fieldVisibility } from './visual-config.ts';

/** A visual and its dataset, with the columns that its data requires. */
export interface VisualWithDataset {
  name: string;
  component: VisualComponent;
  config: VisualConfig;
  dataset: ViewedDataset;
}

const NO_DATA: AggregateResult = { columns: [], rows: [], total: 0, truncated: false };

/**
 * Returns the data of a visual, from the rows and fields that the viewer may see. `toLabel` converts the labels of its
 * columns. Throws BAD_USER_INPUT naming the config key that is missing or contains an unknown field.
 */
export async function loadVisualData(
  ctx: Context,
  { component, config, dataset }: VisualWithDataset,
  query: VisualDataArgs,
  toLabel = (label: string) => label,
): Promise<AggregateResult> {
  const view = await viewOf(ctx, dataset);
  const plan = planVisual(
    component,
    await queryableConfig(ctx, dataset, component, config),
    new Map(view.fields.map(({ name, type }) => [name, type])),
  );
  if (!view.generation) return NO_DATA;
  const labels = new Map(view.fields.map(({ name, label }) => [name, toLabel(label)]));
  const labelOf = (field: string) => labels.get(field) ?? field;
  const data =
    plan.kind === 'rows'
      ? await loadVisualRows(ctx, dataset, plan, query)
      : await loadVisualGroups(ctx, dataset, plan, query);
  const columns = data.columns.map((column) => ({
    ...column,
    label:
      plan.kind === 'groups' && column.name === plan.measure.as
        ? measureLabel(plan.measure, labelOf)
        : labelOf(column.name),
  }));
  return { ...data, columns };
}

/**
 * Returns a config without the hidden columns of a table. Throws BAD_USER_INPUT when another key contains a hidden field,
 * without naming the field.
 */
async function queryableConfig(
  ctx: Context,
  dataset: ViewedDataset,
  component: VisualComponent,
  config: VisualConfig,
): Promise<VisualConfig> {
  const isVisible = await fieldVisibility(ctx, dataset);
  if (!isVisible) return config;
  const hidden = findHiddenKey(component, config, isVisible);
  if (hidden) throw invalid(`config.${hidden}`, 'names an unknown field');
  return visibleConfig(component, config, isVisible);
}

const loadVisualGroups = (
  ctx: Context,
  dataset: ViewedDataset,
  { groupBy, measure, sort }: GroupPlan,
  { filter, q, limit }: VisualDataArgs,
): Promise<AggregateResult> => aggregate(ctx, dataset, { groupBy, measures: [measure], sort, filter, q, limit });

async function loadVisualRows(
  ctx: Context,
  dataset: ViewedDataset,
  plan: RowPlan,
  { filter, q, limit }: VisualDataArgs,
): Promise<AggregateResult> {
  const page = await search(ctx, dataset, {
    fields: plan.fields,
    sort: plan.sort,
    limit: limit ?? plan.limit,
    filter,
    q,
  });
  const total = await page.countAll();
  const rows = page.items.map((item) => page.fields.map(({ name }) => item[name] ?? null));
  return {
    columns: page.fields.map(({ name, label, type, format }) => ({ name, label, type, format })),
    rows,
    total,
    truncated: total > rows.length,
  };
}

/** Maximum number of groups or rows in an image. More are not legible and slow to draw. */
const MAX_DRAWN = 1000;
/** Maximum number of points in an image of a scatter plot. */
const MAX_DRAWN_POINTS = 2000;
/** Size of an image in pixels. */
const DEFAULT_SIZE = { width: 800, height: 450 };

/** Returns an SVG image of a visual with the data that the viewer may see. */
export const renderVisual = async (ctx: Context, visual: VisualWithDataset, args: VisualImageArgs): Promise<string> =>
  (await renderVisualWithData(ctx, visual, args)).svg;

/** Returns an SVG image of a visual, and the data in it, which the viewer may see. */
export async function renderVisualWithData(
  ctx: Context,
  visual: VisualWithDataset,
  { width, height, ...query }: VisualImageArgs,
): Promise<{ svg: string; data: AggregateResult }> {
  const { name, component, config } = visual;
  const size = {
    width: checkSize('width', width ?? config.width ?? DEFAULT_SIZE.width),
    height: checkSize('height', height ?? config.height ?? DEFAULT_SIZE.height),
  };
  const max = component === 'scatter-plot' ? MAX_DRAWN_POINTS : MAX_DRAWN;
  const limit = Math.min(query.limit ?? (component === 'table' ? config.pageSize : null) ?? max, max);
  const data = await loadVisualData(ctx, visual, { ...query, limit }, readableName);
  const incomplete = await findIncompletePeriods(ctx, visual, query, data);
  const picture = {
    component,
    config,
    title: config.chartTitle || name,
    data,
    ...(incomplete && { incomplete }),
    ...size,
  };
  return { svg: await drawPicture(picture, ctx.viewer, ctx.request.signal), data };
}

/** Returns the periods of a line chart that are incomplete; undefined for other charts. */
async function findIncompletePeriods(
  ctx: Context,
  { component, config, dataset }: VisualWithDataset,
  { filter, q }: VisualDataArgs,
  { columns: [x], rows }: AggregateResult,
): Promise<IncompletePeriods | undefined> {
  const { xAxis } = config;
  if (component !== 'line-chart' || !xAxis || (x?.type !== 'date' && x?.type !== 'datetime')) return undefined;
  const interval = intervalOf(config);
  // A date has no time of the day.
  if (interval === 'day' && x.type === 'date') return undefined;
  const measures = (['min', 'max'] as const).map((fn) => ({ fn, field: xAxis, as: fn }));
  const { rows: extent } = await aggregate(ctx, dataset, { groupBy: [], measures, filter, q });
  const [earliest, latest] = extent[0] ?? [];
  return incompletePeriods(
    rows.map(([period]) => period),
    interval,
    { earliest, latest },
  );
}

function checkSize(key: 'width' | 'height', pixels: number): number {
  if (!Number.isInteger(pixels) || pixels < 100 || pixels > 4000)
    throw invalid(key, 'must be a whole number from 100 to 4000');
  return pixels;
}
