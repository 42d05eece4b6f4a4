import type { Caller } from './fair-gate.ts';

/** A mistake in a file of a template. */
export interface TemplateMistake {
  /** Name of the file, or `settings.header`, `settings.footer`. */
  path: string;
  message: string;
  /** Place from 1; null if it is unknown. */
  line: number | null;
  column: number | null;
}

/** Thrown by engines for mistakes in the files of a template, which its author fixes. */
export class TemplateError extends Error {
  readonly mistakes: readonly TemplateMistake[];

  constructor(mistakes: readonly TemplateMistake[]) {
    super(mistakes[0]?.message ?? 'The template has mistakes');
    this.mistakes = mistakes;
  }
}

/** An output format of an engine. */
export interface TemplateHandler {
  /** E.g. `pdf`. */
  id: string;
  name: string;
  /** Media type of the output. */
  contentType: string;
  /** Extension of the output, e.g. `pdf`. */
  extension: string;
  /** JSON Schema of `handlerOptions`. */
  optionsSchema: Record<string, unknown>;
}

/** A file of a template, with its bytes. */
export interface TemplateSource {
  contentType: string;
  content: Uint8Array;
}

/** The settings of a template that engines read. */
export interface RenderSettings {
  /** BCP 47 tag, e.g. `de-DE`. */
  locale: string;
  /** IANA name, e.g. `Europe/Berlin`. */
  timezone: string;
  /** Whether unknown names are mistakes instead of empty. */
  strict: boolean;
}

/** A template with everything that it may use. */
export interface RenderTask {
  caller: Caller;
  /** Name of the TEMPLATE file to render. */
  filename: string;
  /** All TEMPLATE files by name. */
  templates: ReadonlyMap<string, TemplateSource>;
  /** All DATA files by name. They are parsed when the template reads them; a mistake in one names its line. */
  dataFiles: ReadonlyMap<string, TemplateSource>;
  /** Returns an ASSET file, null for an unknown name. */
  asset(filename: string, signal: AbortSignal): Promise<TemplateSource | null>;
  /** The names that the template uses: `inputs`, processors, `user`, `template`, `now`. JSON values. */
  data: Readonly<Record<string, unknown>>;
  settings: RenderSettings;
  /** Id of the output format. */
  handler: string;
  handlerOptions: Readonly<Record<string, unknown>>;
  /** Texts around each page of a PDF, in the language of the engine, with the names `page` and `pages` too. */
  header?: string | null;
  footer?: string | null;
  signal: AbortSignal;
}

/** The output of an engine. */
export interface RenderedTemplate {
  content: Uint8Array;
  /** HTML of the rendered texts around each page. */
  header?: string | null;
  footer?: string | null;
}

/** The part of a task that a check reads. */
export type CheckTask = Pick<
  RenderTask,
  'caller' | 'templates' | 'dataFiles' | 'handler' | 'header' | 'footer' | 'signal'
>;

/** Turns templates and data into documents. A `pdf` is rendered as HTML, which the browser prints. */
export interface TemplateEngine {
  /** E.g. `nunjucks`. */
  id: string;
  name: string;
  description: string;
  /** Extensions of TEMPLATE files, without a dot, e.g. `njk`. */
  extensions: readonly string[];
  handlers: readonly TemplateHandler[];
  /** Throws `TemplateError`, TIMEOUT after 30 s, UPSTREAM_FAILED past the memory, 413 past the size of the output. */
  render(task: RenderTask): Promise<RenderedTemplate>;
  /** Returns the mistakes of all files that can be found without data. Throws like `render`, but no `TemplateError`. */
  check(task: CheckTask): Promise<TemplateMistake[]>;
}

/** Returns whether an engine takes a file as TEMPLATE, by its extension. */
export const takesTemplate = ({ extensions }: TemplateEngine, filename: string): boolean => {
  const extension = /\.([^./]+)$/.exec(filename)?.[1]?.toLowerCase();
  return extension !== undefined && extensions.includes(extension);
};
