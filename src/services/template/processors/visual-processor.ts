import { Visual } from '../../../../entities/visual.ts';
import type { Context } from '../../../core/context.ts';
import { notFound } from '../../../core/errors.ts';
import { isUuid } from '../../../core/id.ts';
import { VIEW_COLUMNS } from '../../dataset/dataset-view.ts';
import { renderVisualWithData, type VisualWithDataset } from '../../visual/visual-data.ts';
import { toObjects } from './aggregate-processor.ts';
import { ID_SCHEMA, loadDataset } from './dataset-processor.ts';
import type { Processor } from './processor.ts';

const SIZE_SCHEMA = { type: ['integer', 'null'], minimum: 100, maximum: 4000 };

interface VisualConfig {
  datasetId: string;
  visualId: string;
  width?: number | null;
  height?: number | null;
}

/** Draws a visual of a dataset. */
export const VISUAL_PROCESSOR: Processor<VisualConfig> = {
  schema: {
    type: 'object',
    properties: { datasetId: ID_SCHEMA, visualId: ID_SCHEMA, width: SIZE_SCHEMA, height: SIZE_SCHEMA },
    required: ['datasetId', 'visualId'],
    additionalProperties: false,
  },
  names: { datasetId: 'dataset' },
  async read(ctx, { datasetId, visualId, width, height }, { previewRows, take }) {
    const visual = await loadVisual(ctx, datasetId, visualId);
    const { svg, data } = await renderVisualWithData(ctx, visual, { width, height, limit: previewRows });
    const rows = toObjects(data);
    take(svg);
    for (const row of rows) take(row);
    return { svg, rows };
  },
};

async function loadVisual(ctx: Context, datasetId: string, visualId: string): Promise<VisualWithDataset> {
  const { id } = await loadDataset(ctx, datasetId);
  const columns = ['name', 'component', 'config', ...VIEW_COLUMNS.map((column) => `dataset.${column}`)];
  const visual = isUuid(visualId) ? await ctx.read.find(Visual, { id: visualId, datasetId: id }, columns) : null;
  if (!visual) throw notFound({ what: 'visual', id: visualId });
  return visual as unknown as VisualWithDataset;
}
