import type { RenderSettings } from '../../../core/template-engine.ts';
import { dataObject, parseDataFile } from './data-files.ts';
import { createFormatFilters } from './format-filters.ts';
import { locate, mistakeOf, rethrowMemoryError, type Mistake } from './mistakes.ts';
import { locateRuntimeErrors } from './nunjucks-compiler.ts';
import type { Environment, Loader, Nunjucks, Template } from './nunjucks-library.ts';
import { locateSyntaxErrors } from './nunjucks-parser.ts';
import { createMarkdown, formatCsv, type MarkdownLibrary } from './text-filters.ts';

/** The input of the engine. */
export interface NunjucksInput {
  /** Name of the file to render; null to check all files. */
  filename: string | null;
  templates: readonly string[];
  dataFiles: readonly string[];
  /** JSON of the names that templates use. */
  data: string;
  settings: RenderSettings;
  autoescape: boolean;
  /** Templates around each page, by their path. */
  around: Readonly<Record<string, string>>;
}

/** Files of the template, which the service reads. */
interface Host {
  template: { sync(name: string): string };
  dataFile: { sync(name: string): string };
  asset: { sync(name: string): string };
}

const MAX_MISTAKES = 100;
const PAGE_NUMBERS = { page: 'pageNumber', pages: 'totalPages' };

/** Returns the function that renders or checks templates. Its result is texts by name, or `mistakes`. */
export const createMain =
  (nunjucks: Nunjucks, markdown: MarkdownLibrary | null) =>
  (input: NunjucksInput, host: Host): object => {
    const engine = new Engine(nunjucks, markdown, input, host);
    if (input.filename === null) return { mistakes: engine.check() };
    try {
      return engine.render(input.filename);
    } catch (error) {
      rethrowMemoryError(error);
      const { message } = error as Error;
      return { mistakes: [mistakeOf(error) ?? { path: input.filename, message, line: null, column: null }] };
    }
  };

class Engine {
  readonly #nunjucks: Nunjucks;
  readonly #input: NunjucksInput;
  readonly #host: Host;
  readonly #env: Environment;
  readonly #templates: ReadonlySet<string>;
  readonly #missing: Mistake[] = [];

  constructor(nunjucks: Nunjucks, markdown: MarkdownLibrary | null, input: NunjucksInput, host: Host) {
    this.#nunjucks = nunjucks;
    this.#input = input;
    this.#host = host;
    this.#templates = new Set(input.templates);
    const loader = this.#loader();
    this.#env = new nunjucks.Environment([loader], { autoescape: input.autoescape });
    loader.cache = Object.create(null) as Record<string, unknown>;
    this.#addNames(markdown);
    locateSyntaxErrors(nunjucks);
    locateRuntimeErrors(nunjucks, this.#env, {
      strict: input.settings.strict,
      onReference: (name, place) => {
        const path = loader.isRelative(name) ? loader.resolve(place.path, name) : name;
        if (!this.#templates.has(path)) this.#missing.push({ ...place, message: `template not found: ${name}` });
      },
    });
  }

  readonly #readData = (name: string): string => this.#host.dataFile.sync(name);

  render(filename: string): object {
    const names = {
      ...(JSON.parse(this.#input.data) as object),
      data: dataObject(this.#input.dataFiles, this.#readData),
    };
    const { Template, runtime } = this.#nunjucks;
    const output: Record<string, string> = {
      content: this.#renderTemplate(() => this.#env.getTemplate(filename, true), names, filename),
    };
    const numbers = Object.entries(PAGE_NUMBERS).map(([name, css]) => [
      name,
      new runtime.SafeString(`<span class="${css}"></span>`),
    ]);
    const aroundNames = { ...names, ...Object.fromEntries(numbers) };
    for (const [path, text] of Object.entries(this.#input.around))
      output[path] = this.#renderTemplate(() => new Template(text, this.#env, path, true), aroundNames, path);
    return output;
  }

  /** Returns the mistakes of all files that can be found without data. */
  check(): Mistake[] {
    const { Template } = this.#nunjucks;
    const mistakes: Mistake[] = [];
    const attempt = (path: string, work: () => unknown): void => {
      if (mistakes.length + this.#missing.length >= MAX_MISTAKES) return;
      try {
        work();
      } catch (error) {
        const mistake = mistakeOf(error) ?? { path, message: (error as Error).message, line: null, column: null };
        mistakes.push(mistake);
      }
    };
    for (const name of this.#input.templates) attempt(name, () => this.#env.getTemplate(name, true));
    for (const name of this.#input.dataFiles) attempt(name, () => parseDataFile(name, this.#readData(name)));
    for (const [path, text] of Object.entries(this.#input.around))
      attempt(path, () => new Template(text, this.#env, path, true));
    return [...mistakes, ...this.#missing].slice(0, MAX_MISTAKES);
  }

  #renderTemplate(getTemplate: () => Template, names: object, path: string): string {
    let failure: unknown;
    let result: string | null = null;
    // With a frame the callback is called synchronously. After an error it may be called again, with text.
    getTemplate().render(names, new this.#nunjucks.runtime.Frame(), (error, text) => {
      if (error) failure ??= error;
      else result ??= text;
    });
    if (failure) throw locate(failure, { path, line: null, column: null });
    return result ?? '';
  }

  #loader(): Loader {
    const isRelative = (name: string) => /^\.\.?\//.test(name);
    return {
      isRelative,
      resolve(from, to) {
        const folders = from.split('/').slice(0, -1);
        for (const segment of to.split('/')) {
          if (segment === '.') continue;
          // A path above the root names nothing.
          if (segment !== '..') folders.push(segment);
          else if (folders.pop() === undefined) return to;
        }
        return folders.join('/');
      },
      getSource: (name) =>
        this.#templates.has(name) ? { src: this.#host.template.sync(name), path: name, noCache: false } : null,
    };
  }

  #addNames(markdown: MarkdownLibrary | null): void {
    const { SafeString } = this.#nunjucks.runtime;
    const env = this.#env;
    const assets = new Map<string, string>();
    env.addGlobal('asset', (name: unknown) => {
      const key = String(name);
      const url = assets.get(key) ?? this.#host.asset.sync(key);
      assets.set(key, url);
      return url;
    });
    for (const [name, filter] of Object.entries(createFormatFilters(this.#input.settings))) env.addFilter(name, filter);
    env.addFilter('csv', formatCsv);
    const render = createMarkdown(markdown);
    env.addFilter('markdown', (text) => new SafeString(render(text)));
  }
}
