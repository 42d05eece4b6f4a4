import { createNunjucksEngine } from '../../src/adapters/template-engine/nunjucks-engine.ts';
import { ENGINE_LIMITS } from '../../src/adapters/template-engine/sandboxed-engine.ts';
import type { Sandbox } from '../../src/core/sandbox.ts';
import {
  TemplateError,
  type CheckTask,
  type RenderTask,
  type TemplateEngine,
  type TemplateMistake,
  type TemplateSource,
} from '../../src/core/template-engine.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

/** Changes of a test to a task. Files are named with their content. */
export interface TaskOptions extends Partial<Omit<RenderTask, 'templates' | 'dataFiles' | 'settings'>> {
  dataFiles?: Files;
  settings?: Partial<RenderTask['settings']>;
}

const CALLER = { tenantId: 'tenant', userId: 'user' };
const ASSETS: Readonly<Record<string, TemplateSource>> = {
  'logo.svg': { contentType: 'image/svg+xml', content: Buffer.from('<svg onload="alert(1)"/>') },
  'odd.bin': { contentType: '"><script>', content: Buffer.from('a') },
};

const sourcesOf = (files: Files): Map<string, TemplateSource> =>
  new Map(
    Object.entries(files).map(([name, content]) => [
      name,
      { contentType: 'text/plain', content: typeof content === 'string' ? Buffer.from(content) : content },
    ]),
  );

/** Returns a task that renders `main.njk`, or the only file. */
export const renderTaskOf = (files: Files, options: TaskOptions = {}): RenderTask => ({
  caller: CALLER,
  filename: 'main.njk' in files ? 'main.njk' : Object.keys(files)[0]!,
  asset: async (name) => ASSETS[name] ?? null,
  data: {},
  handler: 'text',
  handlerOptions: {},
  signal: new AbortController().signal,
  ...options,
  templates: sourcesOf(files),
  dataFiles: sourcesOf(options.dataFiles ?? {}),
  settings: { locale: 'en-GB', timezone: 'Europe/Berlin', strict: false, ...options.settings },
});

/** Returns a task that checks files. */
export const checkTaskOf = (files: Files, options: TaskOptions = {}): CheckTask => renderTaskOf(files, options);

/** Renders text. */
export async function renderText(
  engine: TemplateEngine,
  files: Files | string,
  options?: TaskOptions,
): Promise<string> {
  const { content } = await engine.render(
    renderTaskOf(typeof files === 'string' ? { 'main.njk': files } : files, options),
  );
  return Buffer.from(content).toString();
}

/** Renders what has mistakes. Returns them. */
export async function mistakesOf(
  engine: TemplateEngine,
  files: Files | string,
  options?: TaskOptions,
): Promise<readonly TemplateMistake[]> {
  try {
    await renderText(engine, files, options);
  } catch (error) {
    if (error instanceof TemplateError) return error.mistakes;
    throw error;
  }
  throw new Error('The template has no mistakes');
}

/** Creates the engine with a shorter time limit. */
export const quickEngine = (sandbox: Sandbox): TemplateEngine =>
  createNunjucksEngine(sandbox, { ...ENGINE_LIMITS, timeoutMs: 1000 });
