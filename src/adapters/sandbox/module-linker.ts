import { posix } from 'node:path';
import type { Context, ExternalCopy, Isolate, Module, Reference } from 'isolated-vm';

/** Modules from this size on, such as libraries, are compiled with a cache. */
const MIN_CACHED_CHARACTERS = 20_000;
const MAX_CACHED = 20;

/** Compiled code of large modules by their name and source. A cache is written before any code of the module runs. */
const cache = new Map<string, ExternalCopy<ArrayBuffer>>();

/** Compiles the modules of a program in an isolate, and links them to each other. */
export class ModuleLinker {
  readonly #isolate: Isolate;
  readonly #sources: Readonly<Record<string, string>>;

  constructor(isolate: Isolate, sources: Readonly<Record<string, string>>) {
    this.#isolate = isolate;
    this.#sources = sources;
  }

  /** Evaluates the modules. Returns the function `main` of the module `entry`. */
  async load(context: Context, entry: string): Promise<Reference<(...args: unknown[]) => unknown>> {
    const sources = this.#sources;
    const modules = new Map<string, Module>();
    const paths = new Map<Module, string>();
    const find = (path: string, specifier: string): Module => {
      const known = modules.get(path);
      if (known) return known;
      if (!Object.hasOwn(sources, path))
        throw new Error(`There is no module ${JSON.stringify(specifier.slice(0, 200))}`);
      const module = this.#compile(path, sources[path]!);
      modules.set(path, module);
      paths.set(module, path);
      return module;
    };
    // Only evaluating runs code of the program, which may be endless.
    const module = find(entry, entry);
    module.instantiateSync(context, (specifier, referrer) => {
      if (!/^\.\.?\//.test(specifier))
        throw new Error(`Modules import others by a relative path, not ${JSON.stringify(specifier.slice(0, 200))}`);
      return find(posix.join(posix.dirname(paths.get(referrer)!), specifier), specifier);
    });
    await module.evaluate();
    const exported = module.namespace.getSync('main', { reference: true });
    if (exported.typeof !== 'function') throw new Error(`The module ${entry} exports no function main`);
    return exported as Reference<(...args: unknown[]) => unknown>;
  }

  #compile(filename: string, source: string): Module {
    if (source.length < MIN_CACHED_CHARACTERS) return this.#isolate.compileModuleSync(source, { filename });
    const key = `${filename}\0${source}`;
    const cachedData = cache.get(key);
    if (cachedData) return this.#isolate.compileModuleSync(source, { filename, cachedData });
    const module = this.#isolate.compileModuleSync(source, { filename, produceCachedData: true });
    const { cachedData: produced } = module as { cachedData?: ExternalCopy<ArrayBuffer> };
    if (produced) {
      if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value!);
      cache.set(key, produced);
    }
    return module;
  }
}
