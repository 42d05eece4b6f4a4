import type { RenderSettings } from '../../../core/template-engine.ts';
import { dataObject, parseDataFile } from './data-files.ts';
import { parseExpression, valueAt, type Expression } from './docx-expression.ts';
import type { DocxError, Docxtemplater, PizZip, Zip } from './docx-library.ts';
import { createFormatFilters } from './format-filters.ts';
import { MAX_MESSAGE_CHARACTERS, mistakeOf, rethrowMemoryError, type Mistake } from './mistakes.ts';

/** What the engine sends. */
export interface DocxInput {
  /** Name of the file to render; null to check all files. */
  filename: string | null;
  templates: readonly string[];
  dataFiles: readonly string[];
  /** JSON of the names that templates use. */
  data: string;
  settings: RenderSettings;
}

/** Files of the template, which the service reads. */
interface Host {
  template: { sync(name: string): Uint8Array };
  dataFile: { sync(name: string): string };
}

const MAX_MISTAKES = 100;

/** Returns the function that renders or checks documents. Its result is the document, or `mistakes`. */
export const createMain =
  (Library: Docxtemplater, Archive: PizZip) =>
  (input: DocxInput, host: Host): object => {
    const engine = new Engine(Library, Archive, input, host);
    if (input.filename === null) return { mistakes: engine.check().slice(0, MAX_MISTAKES) };
    try {
      return engine.render(input.filename);
    } catch (error) {
      rethrowMemoryError(error);
      return { mistakes: mistakesOf(input.filename, error).slice(0, MAX_MISTAKES) };
    }
  };

class Engine {
  readonly #library: Docxtemplater;
  readonly #archive: PizZip;
  readonly #input: DocxInput;
  readonly #host: Host;
  readonly #filters: Record<string, (value: unknown, ...options: unknown[]) => unknown>;
  readonly #unknown: string[] = [];

  constructor(library: Docxtemplater, archive: PizZip, input: DocxInput, host: Host) {
    this.#library = library;
    this.#archive = archive;
    this.#input = input;
    this.#host = host;
    this.#filters = {
      ...createFormatFilters(input.settings),
      upper: (value) => String(value ?? '').toUpperCase(),
      lower: (value) => String(value ?? '').toLowerCase(),
      default: (value, other) => value ?? other,
    };
  }

  render(filename: string): object {
    const { data, dataFiles } = this.#input;
    const names = {
      ...(JSON.parse(data) as object),
      data: dataObject(dataFiles, (name) => this.#host.dataFile.sync(name)),
    };
    const document = this.#open(filename);
    document.render(names);
    if (this.#unknown.length > 0)
      return {
        mistakes: [...new Set(this.#unknown)].slice(0, MAX_MISTAKES).map((message) => mistakeIn(filename, message)),
      };
    return { content: document.getZip().generate({ type: 'uint8array', compression: 'DEFLATE' }) };
  }

  /** Returns the mistakes of all files that can be found without data. */
  check(): Mistake[] {
    const mistakes: Mistake[] = [];
    const attempt = (path: string, work: () => unknown): void => {
      if (mistakes.length >= MAX_MISTAKES) return;
      try {
        work();
      } catch (error) {
        mistakes.push(...mistakesOf(path, error));
      }
    };
    for (const name of this.#input.templates) attempt(name, () => this.#open(name));
    for (const name of this.#input.dataFiles) attempt(name, () => parseDataFile(name, this.#host.dataFile.sync(name)));
    return mistakes;
  }

  #open(filename: string): { render(data: object): void; getZip(): Zip } {
    const archive = new this.#archive(this.#host.template.sync(filename));
    checkElements(archive.file('word/document.xml')?.asText() ?? '');
    const document = new this.#library(archive, {
      paragraphLoop: true,
      linebreaks: true,
      parser: (tag) => this.#parse(tag),
      nullGetter: ({ value, module }, { scopeList }) => {
        if (this.#input.settings.strict && !module) this.#noteUnknown(value, scopeList);
        return '';
      },
    });
    if (document.fileType !== 'docx') throw new Error('The file is no docx file');
    return document;
  }

  #parse(tag: string): { get(scope: unknown): unknown } {
    const expression = parseExpression(tag);
    for (const { name } of expression.filters)
      if (!Object.hasOwn(this.#filters, name)) throw new Error(`unknown filter: ${name}`);
    return { get: (scope) => this.#evaluate(expression, scope) };
  }

  #evaluate({ path, filters }: Expression, scope: unknown): unknown {
    let value = valueAt(scope, path);
    // An outer loop may have the name; a filter of nothing is nothing.
    if (value === undefined && path.length > 0 && !filters.some(({ name }) => name === 'default')) return undefined;
    for (const { name, options } of filters) value = this.#filters[name]!(value, ...options);
    return value;
  }

  #noteUnknown(tag: string, scopes: readonly unknown[]): void {
    const { path } = parseExpression(tag);
    if (!scopes.some((scope) => valueAt(scope, path) !== undefined))
      this.#unknown.push(`Unknown name ${path.join('.')}`);
  }
}

const TAG = /<(\/?)([^\s/>!?]+)(?:"[^"]*"|'[^']*'|[^"'>])*>/g;

/** Throws for elements that are not closed. The library writes them as they are. */
function checkElements(xml: string): void {
  const open: string[] = [];
  for (const [tag, slash, name] of xml.matchAll(TAG)) {
    if (tag.endsWith('/>')) continue;
    if (!slash) open.push(name!);
    else if (open.pop() !== name) throw new Error(`The file is damaged: the element ${name} is closed too often`);
  }
  if (open.length > 0) throw new Error(`The file is damaged: the element ${open.at(-1)} is not closed`);
}

const mistakeIn = (path: string, message: string): Mistake => ({
  path,
  message: message.slice(0, MAX_MESSAGE_CHARACTERS),
  line: null,
  column: null,
});

/** Returns the mistakes of an error, which can be that of several tags. */
function mistakesOf(path: string, error: unknown): Mistake[] {
  const located = mistakeOf(error);
  if (located) return [located];
  const { message, properties } = error as DocxError;
  if (properties?.errors?.length) return properties.errors.flatMap((inner) => mistakesOf(path, inner));
  const cause = properties?.rootError ? `: ${properties.rootError.message}` : '';
  return [mistakeIn(path, (properties?.explanation ?? message) + cause)];
}
