import { setImmediate } from 'node:timers/promises';
import type { TemplateInputInput } from '../../../entities/template-input-input.ts';
import { TemplateInput } from '../../../entities/template-input.ts';
import { TemplateProcessor } from '../../../entities/template-processor.ts';
import type { Context } from '../../core/context.ts';
import { checkJsonBounds, checkOptionalText, invalid } from '../../core/input-checks.ts';
import { checkNames } from './template-data-names.ts';
import { loadAtVersion, replaceList } from './template-data-parts.ts';
import { checkSchema } from './template-input-schema.ts';
import { checkDefault } from './template-input-values.ts';

const MAX_DEPTH = 20;
const SCHEMA_BOUNDS = { maxBytes: 32 * 1024, maxDepth: MAX_DEPTH };
const DEFAULT_BOUNDS = { maxBytes: 64 * 1024, maxDepth: MAX_DEPTH };

/** Limits the time to compile the schemas of a template. */
const MAX_KEYWORDS = 1000;

/** Replaces the inputs of a template or draft. Returns the id of the template. */
export async function setInputs(
  ctx: Context,
  templateId: string,
  inputs: readonly TemplateInputInput[],
): Promise<string> {
  const items = await checkInputs(inputs);
  return ctx.transaction(async (tx) => {
    const template = await loadAtVersion(ctx, tx, templateId);
    const [former, processors] = await Promise.all([
      tx.find(TemplateInput, { templateId: template.id }, { orderBy: ['position'] }),
      tx.find(TemplateProcessor, { templateId: template.id }),
    ]);
    checkNames(
      'inputs',
      inputs.map(({ name }) => name),
      processors,
    );
    replaceList(tx, template, { type: TemplateInput, what: 'template input', list: 'inputs' }, former, items);
    return template.id;
  });
}

/** Returns inputs in their stored form. Each is checked in a turn of its own, so that other requests do not wait. */
async function checkInputs(inputs: readonly TemplateInputInput[]) {
  const items = [];
  let keywords = 0;
  for (const [index, input] of inputs.entries()) {
    const { validator, ...item } = checkInput(input, index);
    keywords += validator.keywords;
    if (keywords > MAX_KEYWORDS) throw invalid('inputs', `must have at most ${MAX_KEYWORDS} keywords in all schemas`);
    items.push(item);
    await setImmediate();
  }
  return items;
}

/** Returns an input in its stored form. Throws BAD_USER_INPUT naming the invalid key. */
function checkInput(input: TemplateInputInput, index: number) {
  const path = ['inputs', index];
  const place = (key: string) => [...path, key].join('.');
  const { id, name, label, description, required, defaultValue, schema } = input;
  const checked = {
    id: id ?? null,
    name,
    label: checkOptionalText(label ?? null, place('label'), 255),
    description: checkOptionalText(description ?? null, place('description')),
    required: required ?? false,
    defaultValue: defaultValue ?? null,
    schema: checkJsonBounds(schema ?? {}, place('schema'), SCHEMA_BOUNDS),
  };
  const validator = checkSchema(checked.schema, [...path, 'schema']);
  checkJsonBounds([checked.defaultValue], place('defaultValue'), DEFAULT_BOUNDS);
  checkDefault(checked, [...path, 'defaultValue']);
  return { ...checked, validator };
}
