import { drawPicture } from '../../adapters/chart/draw.ts';
import type { Context } from '../../core/context.ts';
import type { AggregateResult } from '../../core/dataset-index.ts';
import { invalid } from '../../core/input-checks.ts';
import { hiddenKey, visibleConfig, type VisualComponent } from '../../core/visual/component.ts';
import type { VisualConfig } from '../../core/visual/config.ts';
import { measureLabel, planOf, type GroupPlan, type RowPlan } from '../../core/visual/plan.ts';
import { aggregate } from '../dataset/dataset-aggregate.ts';
import { search } from '../dataset/dataset-data.ts';
import { viewOf, type ViewedDataset } from '../dataset/dataset-view.ts';
import { fieldsSeen } from './visual-config.ts';

/** A visual with the dataset that it shows. */
export interface ShownVisual {
  name: string;
  component: VisualComponent;
  config: VisualConfig;
  dataset: ViewedDataset;
}

/** Which of the rows that the viewer sees. */
export interface VisualQuery {
  /** Criteria, or the id of a saved filter. */
  filter?: unknown;
  q?: string | null;
  /** Groups, or rows of tables and scatter plots. */
  limit?: number | null;
}

export interface VisualImageQuery extends VisualQuery {
  /** Pixels. */
  width?: number | null;
  height?: number | null;
}

const NOTHING: AggregateResult = { columns: [], rows: [], total: 0, truncated: false };

/** The numbers of a visual, of the rows and fields that the viewer sees. 400 naming the key of its config that is missing. */
export async function visualData(
  ctx: Context,
  { component, config, dataset }: ShownVisual,
  query: VisualQuery,
): Promise<AggregateResult> {
  const view = await viewOf(ctx, dataset);
  const plan = planOf(
    component,
    await askedConfig(ctx, dataset, component, config),
    new Map(view.fields.map(({ name, type }) => [name, type])),
  );
  if (!view.generation) return NOTHING;
  if (plan.kind === 'rows') return rowsOf(ctx, dataset, plan, query);
  const labels = new Map(view.fields.map(({ name, label }) => [name, label]));
  return groupsOf(ctx, dataset, plan, query, (field) => labels.get(field) ?? field);
}

/** The config that the viewer's numbers follow. What names a hidden field is refused without its name, which others may have written; columns of a table are left out. */
async function askedConfig(
  ctx: Context,
  dataset: ViewedDataset,
  component: VisualComponent,
  config: VisualConfig,
): Promise<VisualConfig> {
  const isVisible = await fieldsSeen(ctx, dataset);
  if (!isVisible) return config;
  const hidden = hiddenKey(component, config, isVisible);
  if (hidden) throw invalid(`config.${hidden}`, 'names an unknown field');
  return visibleConfig(component, config, isVisible);
}

async function groupsOf(
  ctx: Context,
  dataset: ViewedDataset,
  { groupBy, measure, sort }: GroupPlan,
  { filter, q, limit }: VisualQuery,
  labelOf: (field: string) => string,
): Promise<AggregateResult> {
  const result = await aggregate(ctx, dataset, { groupBy, measures: [measure], sort, filter, q, limit });
  return {
    ...result,
    columns: result.columns.map((column) =>
      column.name === measure.as ? { ...column, label: measureLabel(measure, labelOf) } : column,
    ),
  };
}

async function rowsOf(
  ctx: Context,
  dataset: ViewedDataset,
  plan: RowPlan,
  { filter, q, limit }: VisualQuery,
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
    columns: page.fields.map(({ name, label, type }) => ({ name, label, type })),
    rows,
    total,
    truncated: total > rows.length,
  };
}

/** More than that no picture shows, and drawing it takes long. */
const MAX_DRAWN = 1000;
const USUAL_SIZE = { width: 800, height: 450 };

/** A visual as the viewer sees it, drawn as SVG. */
export async function visualImage(
  ctx: Context,
  visual: ShownVisual,
  { width, height, ...query }: VisualImageQuery,
): Promise<string> {
  const { name, component, config } = visual;
  const size = {
    width: checkedSize('width', width ?? config.width ?? USUAL_SIZE.width),
    height: checkedSize('height', height ?? config.height ?? USUAL_SIZE.height),
  };
  const most = component === 'scatter-plot' ? 2 * MAX_DRAWN : MAX_DRAWN;
  const data = await visualData(ctx, visual, {
    ...query,
    limit: Math.min(query.limit ?? (component === 'table' ? config.pageSize : null) ?? most, most),
  });
  return drawPicture({ component, config, title: config.chartTitle || name, data, ...size });
}

function checkedSize(key: 'width' | 'height', pixels: number): number {
  if (!Number.isInteger(pixels) || pixels < 100 || pixels > 4000)
    throw invalid(key, 'must be a whole number from 100 to 4000');
  return pixels;
}
