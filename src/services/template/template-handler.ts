import type { Template } from '../../../entities/template.ts';
import { checkJsonBounds, invalid } from '../../core/input-checks.ts';
import type { Platform } from '../../core/platform.ts';
import type { TemplateEngine, TemplateHandler } from '../../core/template-engine.ts';
import { checkAgainstSchema } from '../resource/schema-validation.ts';

/** Engine of a new template that names none. */
export const DEFAULT_TEMPLATE_TYPE = 'nunjucks';
const OPTIONS_BOUNDS = { maxBytes: 16 * 1024, maxDepth: 20 };

/**
 * Returns the engine of a template and one of its handlers, by default the first. Throws BAD_USER_INPUT for an unknown
 * engine and for a handler of another one.
 */
export function findHandler(
  { templateEngines }: Pick<Platform, 'templateEngines'>,
  { type }: Pick<Template, 'type'>,
  handlerId?: string,
): { engine: TemplateEngine; handler: TemplateHandler } {
  const engine = templateEngines.get(type);
  if (!engine) throw invalid('type', `must be one of ${[...templateEngines.keys()].join(', ')}`);
  const { handlers } = engine;
  const handler = handlerId === undefined ? handlers[0] : handlers.find(({ id }) => id === handlerId);
  if (!handler)
    throw invalid('handler', `must be one of ${handlers.map(({ id }) => id).join(', ')} for the type ${type}`);
  return { engine, handler };
}

/** Returns the options of a handler. Throws BAD_USER_INPUT naming the key that its JSON Schema refuses. */
export function checkHandlerOptions(
  { optionsSchema }: Pick<TemplateHandler, 'optionsSchema'>,
  options: Record<string, unknown>,
): Record<string, unknown> {
  checkJsonBounds(options, 'handlerOptions', OPTIONS_BOUNDS);
  return checkAgainstSchema(optionsSchema, options, 'handlerOptions');
}
