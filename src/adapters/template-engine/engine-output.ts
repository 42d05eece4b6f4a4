import { TemplateError, type RenderedTemplate, type TemplateMistake } from '../../core/template-engine.ts';

/** The result of an engine: a document or mistakes. */
export interface EngineOutput {
  document: RenderedTemplate | null;
  mistakes: TemplateMistake[];
}

/** Maximum number of mistakes that are read. */
const MAX_MISTAKES = 100;
const MAX_MESSAGE_CHARACTERS = 500;
const MAX_PATH_CHARACTERS = 255;
const MAX_PLACE = 1e9;

/**
 * Reads the result of an engine's `main`. Code of a template can replace it by any value, so its shape is not trusted.
 * `filename` is the file of mistakes that name none. Throws `TemplateError` for a value that is neither a document nor
 * a list of mistakes.
 */
export function readOutput(output: unknown, filename: string): EngineOutput {
  const { content, mistakes, ...around } = propertiesOf(output);
  if (Array.isArray(mistakes)) {
    const read = mistakes.slice(0, MAX_MISTAKES).map((mistake: unknown) => readMistake(mistake, filename));
    return { document: null, mistakes: read };
  }
  if (!(content instanceof Uint8Array))
    throw new TemplateError([
      { path: filename, message: 'The template returns no document', line: null, column: null },
    ]);
  const textAt = (key: string): string | null => {
    const text = around[key];
    return text instanceof Uint8Array && text.length > 0 ? new TextDecoder().decode(text) : null;
  };
  const document = { content, header: textAt('settings.header'), footer: textAt('settings.footer') };
  return { document, mistakes: [] };
}

/** Returns the document of an output. Throws `TemplateError` for mistakes. */
export function documentOf({ document, mistakes }: EngineOutput): RenderedTemplate {
  if (!document) throw new TemplateError(mistakes);
  return document;
}

function readMistake(mistake: unknown, filename: string): TemplateMistake {
  const { path, message, line, column } = propertiesOf(mistake);
  const isPath = typeof path === 'string' && path !== '' && path.length <= MAX_PATH_CHARACTERS;
  return {
    path: isPath ? path : filename,
    message: typeof message === 'string' ? message.slice(0, MAX_MESSAGE_CHARACTERS) : 'The template has a mistake',
    line: placeOf(line),
    column: placeOf(column),
  };
}

const propertiesOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const placeOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_PLACE ? value : null;
