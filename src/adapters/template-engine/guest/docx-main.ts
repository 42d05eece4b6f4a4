import type { RenderSettings } from '../../../core/template-engine.ts';
import { dataObject, parseDataFile } from './data-files.ts';
import { lookUp, parseExpression, type Expression } from './docx-expression.ts';
import type { DocxError, DocxFile, Docxtemplater, PizZip, ScopeManager } from './docx-library.ts';
import { checkElements, checkTags } from './docx-structure.ts';
import { createFormatFilters } from './format-filters.ts';
import { MAX_MESSAGE_CHARACTERS, mistakeOf, rethrowMemoryError, type Mistake } from './mistakes.ts';

/** The input of the engine. */
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

  #open(filename: string): DocxFile {
    const archive = new this.#archive(this.#host.template.sync(filename));
    const document = new this.#library(archive, {
      paragraphLoop: true,
      linebreaks: true,
      parser: (tag) => this.#parse(tag),
      nullGetter: ({ value, module }, { scopeList }) => {
        if (this.#input.settings.strict && !module) this.#noteUnknown(value, scopeList);
        return '';
      },
    });
    if (document.fileType !== 'docx') throw new Error('The file is not a docx file');
    for (const { content, postparsed } of Object.values(document.compiled)) {
      checkElements(content);
      checkTags(postparsed);
    }
    return document;
  }

  #parse(tag: string): { get(scope: unknown, scopes: ScopeManager & { num: number }): unknown } {
    const expression = parseExpression(tag);
    for (const { name } of expression.filters)
      if (!Object.hasOwn(this.#filters, name)) throw new Error(`unknown filter: ${name}`);
    // The library asks for the innermost scope first, and for the next one as long as it gets nothing.
    return {
      get: (_, { scopeList, num }) =>
        num === scopeList.length - 1 ? this.#evaluate(expression, scopeList) : undefined,
    };
  }

  #evaluate({ path, filters }: Expression, scopes: readonly unknown[]): unknown {
    let value = lookUp(scopes, path);
    // A filter of nothing is nothing.
    if (value === undefined && !filters.some(({ name }) => name === 'default')) return undefined;
    for (const { name, options } of filters) value = this.#filters[name]!(value, ...options);
    return typeof value === 'string' ? writable(value) : (value ?? '');
  }

  #noteUnknown(tag: string, scopes: readonly unknown[]): void {
    const { path } = parseExpression(tag);
    if (lookUp(scopes, path) === undefined) this.#unknown.push(`Unknown name ${path.join('.')}`);
  }
}

/** Returns a text as XML can contain it, with one kind of line breaks. Other control characters are dropped. */
const writable = (text: string): string =>
  text
    .replaceAll(/\r\n?|\v/g, '\n')
    .replaceAll(/[\0-\x08\f\x0e-\x1f\ufffe\uffff]/g, '')
    .toWellFormed();

const mistakeIn = (path: string, message: string): Mistake => ({
  path,
  message: message.slice(0, MAX_MESSAGE_CHARACTERS),
  line: null,
  column: null,
});

/** Returns the mistakes of an error, which can cover several tags. */
function mistakesOf(path: string, error: unknown): Mistake[] {
  const located = mistakeOf(error);
  if (located) return [located];
  const { message, properties } = error as DocxError;
  if (properties?.errors?.length) {
    const { errors } = properties;
    // The end `{/}` of a loop that is misplaced is a tag without a name to the library.
    const others = errors.filter((inner) => inner.properties?.xtag !== '');
    return (others.length > 0 ? others : errors).flatMap((inner) => mistakesOf(path, inner));
  }
  const cause = properties?.rootError ? `: ${properties.rootError.message}` : '';
  return [mistakeIn(path, (properties?.explanation ?? message) + cause)];
}
