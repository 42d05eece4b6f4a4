import type { Sandbox } from '../../core/sandbox.ts';
import {
  TemplateError,
  type CheckTask,
  type RenderedTemplate,
  type RenderTask,
  type TemplateEngine,
  type TemplateHandler,
  type TemplateMistake,
} from '../../core/template-engine.ts';
import { readGuestModules } from '../process/guest-modules.ts';
import { stringifyInTurns } from './data-text.ts';
import { documentOf } from './engine-output.ts';
import type { NunjucksInput } from './guest/nunjucks-main.ts';
import { libraryModule } from './library-module.ts';
import {
  assetReader,
  ENGINE_LIMITS,
  NEUTRAL_SETTINGS,
  NO_OPTIONS,
  runEngine,
  textReader,
  type EngineLimits,
} from './sandboxed-engine.ts';

const EXTENSIONS = ['njk', 'html', 'htm', 'txt', 'csv', 'md', 'xml', 'json'];
const HANDLERS: readonly TemplateHandler[] = [
  { id: 'html', name: 'HTML', contentType: 'text/html; charset=utf-8', extension: 'html', optionsSchema: NO_OPTIONS },
  { id: 'pdf', name: 'PDF', contentType: 'application/pdf', extension: 'pdf', optionsSchema: NO_OPTIONS },
  { id: 'text', name: 'Text', contentType: 'text/plain; charset=utf-8', extension: 'txt', optionsSchema: NO_OPTIONS },
  { id: 'csv', name: 'CSV', contentType: 'text/csv; charset=utf-8', extension: 'csv', optionsSchema: NO_OPTIONS },
];
/** Output formats in which values are escaped. */
const ESCAPED = new Set(['html', 'pdf']);

let modules: { engine: Record<string, string>; markdown: string } | undefined;

/** Creates the engine for nunjucks, which compiles templates to code: it runs in the sandbox only. */
export const createNunjucksEngine = (sandbox: Sandbox, limits: EngineLimits = ENGINE_LIMITS): TemplateEngine => ({
  id: 'nunjucks',
  name: 'Nunjucks',
  description: 'Text with the tags of Nunjucks: inheritance, includes, macros and filters.',
  extensions: EXTENSIONS,
  handlers: HANDLERS,
  render: (task) => render(sandbox, limits, task),
  check: (task) => check(sandbox, limits, task),
});

async function render(sandbox: Sandbox, limits: EngineLimits, task: RenderTask): Promise<RenderedTemplate> {
  const { filename, templates, dataFiles, settings, handler } = task;
  const isPdf = handler === 'pdf';
  const { locale, timezone, strict } = settings;
  const input = inputOf(task, {
    filename,
    data: await stringifyInTurns(task.data),
    settings: { locale, timezone, strict },
    around: isPdf ? aroundOf(task) : {},
  });
  const output = await runEngine(sandbox, limits, task, {
    ...programOf(templates.values(), [task.header, task.footer]),
    input,
    host: { template: textReader(templates), dataFile: textReader(dataFiles), asset: assetReader(task.asset) },
    filename,
    isPdf,
  });
  return documentOf(output);
}

async function check(sandbox: Sandbox, limits: EngineLimits, task: CheckTask): Promise<TemplateMistake[]> {
  const { templates, dataFiles } = task;
  const asset = () => Promise.reject(new Error('Assets are not read'));
  try {
    const { mistakes } = await runEngine(sandbox, limits, task, {
      ...programOf([], []),
      input: inputOf(task, { filename: null, data: '{}', settings: NEUTRAL_SETTINGS, around: aroundOf(task) }),
      host: { template: textReader(templates), dataFile: textReader(dataFiles), asset },
      filename: '',
      isPdf: false,
    });
    return mistakes;
  } catch (error) {
    if (error instanceof TemplateError) return [...error.mistakes];
    throw error;
  }
}

const inputOf = (
  { templates, dataFiles, handler }: CheckTask,
  rest: Pick<NunjucksInput, 'filename' | 'data' | 'settings' | 'around'>,
): NunjucksInput => ({
  templates: [...templates.keys()],
  dataFiles: [...dataFiles.keys()],
  autoescape: ESCAPED.has(handler),
  ...rest,
});

const aroundOf = ({ header, footer }: Pick<RenderTask, 'header' | 'footer'>): Record<string, string> => ({
  ...(header && { 'settings.header': header }),
  ...(footer && { 'settings.footer': footer }),
});

/** Returns the modules of the program. The library for Markdown is part of it if a text contains the name of the filter. */
function programOf(
  templates: Iterable<{ content: Uint8Array }>,
  texts: readonly (string | null | undefined)[],
): { modules: Record<string, string>; entry: string } {
  modules ??= loadModules();
  const { engine, markdown } = modules;
  const usesMarkdown =
    texts.some((text) => text?.includes('markdown')) ||
    [...templates].some(({ content }) =>
      Buffer.from(content.buffer, content.byteOffset, content.byteLength).includes('markdown'),
    );
  return {
    modules: { ...engine, 'markdown-it.js': usesMarkdown ? markdown : 'export default null;' },
    entry: 'entry.js',
  };
}

function loadModules(): { engine: Record<string, string>; markdown: string } {
  const { modules: guest, extension } = readGuestModules(import.meta.url, 'guest', 'nunjucks-main');
  const entry = `import nunjucks from './nunjucks.js';
    import markdown from './markdown-it.js';
    import { createMain } from './nunjucks-main${extension}';
    export const main = createMain(nunjucks, markdown);`;
  return {
    engine: { ...guest, 'entry.js': entry, 'nunjucks.js': libraryModule('nunjucks/browser/nunjucks.js') },
    markdown: libraryModule('markdown-it/dist/browser/markdown-it.umd.min.js'),
  };
}
