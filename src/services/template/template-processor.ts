import { Dataset } from '../../../entities/dataset.ts';
import { SavedQuery } from '../../../entities/saved-query.ts';
import { TemplateInput } from '../../../entities/template-input.ts';
import type { TemplateProcessorInput } from '../../../entities/template-processor-input.ts';
import { TemplateProcessor } from '../../../entities/template-processor.ts';
import type { Context } from '../../core/context.ts';
import { isUuid } from '../../core/id.ts';
import { checkJsonBounds } from '../../core/input-checks.ts';
import { processorOf } from './processors/processor-registry.ts';
import { checkNames } from './template-data-names.ts';
import { loadAtVersion, replaceList } from './template-data-parts.ts';
import { checkConfig } from './template-processor-config.ts';

const CONFIG_BOUNDS = { maxBytes: 64 * 1024, maxDepth: 20 };

/** Replaces the processors of a template or draft. Returns the id of the template. */
export async function setProcessors(
  ctx: Context,
  templateId: string,
  processors: readonly TemplateProcessorInput[],
): Promise<string> {
  const items = await Promise.all(processors.map((processor, index) => toItem(ctx, processor, index)));
  return ctx.transaction(async (tx) => {
    const template = await loadAtVersion(ctx, tx, templateId);
    const [former, inputs] = await Promise.all([
      tx.find(TemplateProcessor, { templateId: template.id }, { orderBy: ['position'] }),
      tx.find(TemplateInput, { templateId: template.id }),
    ]);
    checkNames(
      'processors',
      items.map(({ name }) => name),
      inputs,
    );
    const names = new Set(inputs.map(({ name }) => name));
    for (const [index, { type, config }] of items.entries())
      checkConfig(type, config, ['processors', index, 'config'], names);
    const list = { type: TemplateProcessor, what: 'template processor', list: 'processors' };
    replaceList(tx, template, list, former, items);
    return template.id;
  });
}

/** Returns a processor in its stored form: slugs and natural ids are replaced by the ids that they name. */
async function toItem(ctx: Context, { id, name, type, config }: TemplateProcessorInput, index: number) {
  const checked = { ...checkJsonBounds(config, `processors.${index}.config`, CONFIG_BOUNDS) };
  for (const [key, kind] of Object.entries(processorOf(type).names)) {
    const named = checked[key];
    if (typeof named !== 'string' || named === '' || isUuid(named)) continue;
    const { id: found } =
      kind === 'dataset' ? await ctx.read.one(Dataset, named, ['id']) : await ctx.read.one(SavedQuery, named, ['id']);
    checked[key] = found;
  }
  return { id: id ?? null, name, type, config: checked };
}
