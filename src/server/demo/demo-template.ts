import type { TemplateFile } from '../../../entities/template-file.ts';
import type { TemplateInputInput } from '../../../entities/template-input-input.ts';
import type { TemplateProcessorInput } from '../../../entities/template-processor-input.ts';
import { Template } from '../../../entities/template.ts';
import type { Context } from '../../core/context.ts';
import { yieldOnce } from '../../core/files.ts';
import { upload } from '../../services/template/template-file-contents.ts';
import { setInputs } from '../../services/template/template-input.ts';
import { setProcessors } from '../../services/template/template-processor.ts';
import * as templates from '../../services/template/template.ts';
import { DEMO_TEMPLATE_FILES, LETTERHEAD_FILE, REPORT_FILE } from './demo-template-files.ts';

/** The template of the demo. */
export const DEMO_TEMPLATE = {
  name: 'Sales report',
  slug: 'sales-report',
  description: 'The orders of a country with their total and a chart, as PDF, HTML or, by `report.csv.njk`, as CSV.',
  type: 'nunjucks',
  handler: 'pdf',
  settings: {
    locale: 'en-GB',
    timezone: 'UTC',
    page: { size: 'A4', margin: { top: '36mm', right: '20mm', bottom: '26mm', left: '20mm' } },
    footer:
      `<div style="display:flex;justify-content:space-between;width:100%;color:#6b7d7b;font:8pt sans-serif">` +
      `<span>{{ template.name }}: {{ inputs.country }}, since {{ inputs.since | date('medium') }}</span>` +
      `<span>Page {{ page }} of {{ pages }}</span></div>`,
  },
} as const;

/** Countries of the shop. */
const COUNTRIES = [
  'Austria',
  'Belgium',
  'Czechia',
  'Denmark',
  'France',
  'Germany',
  'Ireland',
  'Norway',
  'Poland',
  'Portugal',
  'Spain',
  'Sweden',
  'Switzerland',
  'United Kingdom',
];

/** Maximum number of orders in the table. */
const MAX_ORDERS = 500;
const DAY_MS = 86_400_000;
/** Days before the creation of the demo from which orders are listed by default. */
const LISTED_DAYS = 3;

const inputsAt = (now: number): TemplateInputInput[] => [
  {
    name: 'country',
    label: 'Country',
    description: 'Country of the customers.',
    required: true,
    defaultValue: 'Germany',
    schema: { type: 'string', enum: COUNTRIES },
  },
  {
    name: 'since',
    label: 'Since',
    description: 'First date of the orders.',
    required: true,
    defaultValue: new Date(now - LISTED_DAYS * DAY_MS).toISOString().slice(0, 10),
    schema: { type: 'string', format: 'date' },
  },
];

/** Returns the data sources of the template. `chartId` is the visual of all countries. */
function processorsOf(datasetId: string, chartId: string): TemplateProcessorInput[] {
  const filter = { country: { $input: 'country' }, ordered_at: { $gte: { $input: 'since' } } };
  const fields = ['id', 'ordered_at', 'customer', 'city', 'channel', 'status', 'total'];
  return [
    { name: 'orders', type: 'dataset', config: { datasetId, filter, fields, sort: '-ordered_at', limit: MAX_ORDERS } },
    {
      name: 'totals',
      type: 'aggregate',
      config: {
        datasetId,
        filter,
        measures: [
          { fn: 'count', as: 'orders' },
          { fn: 'sum', field: 'total', as: 'amount' },
          { fn: 'avg', field: 'total', as: 'average' },
        ],
      },
    },
    { name: 'countries', type: 'visual', config: { datasetId, visualId: chartId, width: 900, height: 380 } },
  ];
}

/**
 * Creates the template of the demo. Completes one that was interrupted. Returns whether there was anything to do.
 */
export async function createDemoTemplate(
  ctx: Context,
  folderId: string,
  { ordersId, chartId }: { ordersId: string; chartId: string },
): Promise<boolean> {
  const found = await ctx.read.find(Template, DEMO_TEMPLATE.slug, ['id', 'letterheadId']);
  if (found?.letterheadId) return false;
  const id = found?.id ?? (await templates.create(ctx, { ...DEMO_TEMPLATE, folderId }));
  await setInputs(ctx, id, inputsAt(Date.now()));
  await setProcessors(ctx, id, processorsOf(ordersId, chartId));
  const files = await addFiles(ctx, id);
  // Last, because it marks the template as complete.
  await templates.update(ctx, id, {
    templateFileId: files.get(REPORT_FILE)!,
    letterheadId: files.get(LETTERHEAD_FILE)!,
  });
  return true;
}

/** Adds the missing files. Returns the ids of all by their names. */
async function addFiles(ctx: Context, templateId: string): Promise<Map<string, string>> {
  const present = (await ctx.read.children(Template, 'files', { id: templateId }, ['filename'])) as Pick<
    TemplateFile,
    'id' | 'filename'
  >[];
  const ids = new Map(present.map(({ id, filename }) => [filename, id]));
  for (const { filename, role, content, embedded = false } of DEMO_TEMPLATE_FILES)
    if (!ids.has(filename)) {
      const bytes = Buffer.from(content);
      const file = { filename, contentType: 'text/plain', minSize: bytes.length, content: yieldOnce(bytes) };
      ids.set(filename, await upload(ctx, templateId, { file, filename, role, embedded }));
    }
  return ids;
}
