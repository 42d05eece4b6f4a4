import type { Sandbox } from '../../core/sandbox.ts';
import type { TemplateEngine } from '../../core/template-engine.ts';
import { createDocxEngine } from './docx-engine.ts';
import { createNunjucksEngine } from './nunjucks-engine.ts';

/** Creates all template engines, by their id. */
export const createTemplateEngines = (sandbox: Sandbox): ReadonlyMap<string, TemplateEngine> =>
  new Map([createNunjucksEngine(sandbox), createDocxEngine(sandbox)].map((engine) => [engine.id, engine]));
