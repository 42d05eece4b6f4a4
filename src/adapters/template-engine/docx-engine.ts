import type { Sandbox } from '../../core/sandbox.ts';
import {
  TemplateError,
  type CheckTask,
  type RenderedTemplate,
  type RenderTask,
  type TemplateEngine,
  type TemplateHandler,
  type TemplateMistake,
  type TemplateSource,
} from '../../core/template-engine.ts';
import { readGuestModules } from '../process/guest-modules.ts';
import { stringifyInTurns } from './data-text.ts';
import { archiveViolation } from './docx-archive.ts';
import { documentOf, type EngineOutput } from './engine-output.ts';
import type { DocxInput } from './guest/docx-main.ts';
import { folderModule, windowLibraryModule } from './library-module.ts';
import {
  byteReader,
  ENGINE_LIMITS,
  NEUTRAL_SETTINGS,
  NO_OPTIONS,
  runEngine,
  textReader,
  type EngineLimits,
} from './sandboxed-engine.ts';

const HANDLERS: readonly TemplateHandler[] = [
  {
    id: 'docx',
    name: 'Word document',
    contentType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    extension: 'docx',
    optionsSchema: NO_OPTIONS,
  },
];

let modules: Record<string, string> | undefined;

/** Creates the engine for Word documents with tags. */
export const createDocxEngine = (sandbox: Sandbox, limits: EngineLimits = ENGINE_LIMITS): TemplateEngine => ({
  id: 'docx',
  name: 'Word',
  description: 'Word documents with tags: {inputs.name}, {#orders.rows}…{/}.',
  extensions: ['docx'],
  handlers: HANDLERS,
  render: (task) => render(sandbox, limits, task),
  check: (task) => check(sandbox, limits, task),
});

async function render(sandbox: Sandbox, limits: EngineLimits, task: RenderTask): Promise<RenderedTemplate> {
  const { filename, templates, dataFiles, settings, signal } = task;
  const template = templates.get(filename);
  const violation = template && (await archiveViolation(template.content, signal));
  if (violation) throw new TemplateError([{ path: filename, message: violation, line: null, column: null }]);
  const { locale, timezone, strict } = settings;
  const output = await run(sandbox, limits, task, {
    filename,
    templates: [filename],
    dataFiles: [...dataFiles.keys()],
    data: await stringifyInTurns(task.data),
    settings: { locale, timezone, strict },
  });
  return documentOf(output);
}

async function check(sandbox: Sandbox, limits: EngineLimits, task: CheckTask): Promise<TemplateMistake[]> {
  const mistakes: TemplateMistake[] = [];
  const readable: string[] = [];
  for (const [path, { content }] of task.templates) {
    const message = await archiveViolation(content, task.signal);
    if (message) mistakes.push({ path, message, line: null, column: null });
    else readable.push(path);
  }
  const input = {
    filename: null,
    templates: readable,
    dataFiles: [...task.dataFiles.keys()],
    data: '{}',
    settings: NEUTRAL_SETTINGS,
  };
  const output = await run(sandbox, limits, task, input);
  return [...mistakes, ...output.mistakes];
}

function run(sandbox: Sandbox, limits: EngineLimits, task: CheckTask, input: DocxInput): Promise<EngineOutput> {
  modules ??= loadModules();
  const templates: ReadonlyMap<string, TemplateSource> = task.templates;
  return runEngine(sandbox, limits, task, {
    modules,
    entry: 'entry.js',
    input,
    host: { template: byteReader(templates), dataFile: textReader(task.dataFiles) },
    filename: input.filename ?? '',
    isPdf: false,
  });
}

function loadModules(): Record<string, string> {
  const { modules: guest, extension } = readGuestModules(import.meta.url, 'guest', 'docx-main');
  const entry = `import Library from './docxtemplater.js';
    import Archive from './pizzip.js';
    import { createMain } from './docx-main${extension}';
    export const main = createMain(Library, Archive);`;
  return {
    ...guest,
    'entry.js': entry,
    'xmldom.js': folderModule('@xmldom/xmldom', 'lib', 'docxtemplater'),
    'pizzip.js': windowLibraryModule('pizzip/dist/pizzip.min.js', 'PizZip'),
    'docxtemplater.js': windowLibraryModule(
      'docxtemplater/build/docxtemplater.js',
      'docxtemplater',
      "import xmldom from './xmldom.js';",
      'DOMParser: xmldom.DOMParser, XMLSerializer: xmldom.XMLSerializer, XMLDocument: xmldom.Document',
    ),
  };
}
