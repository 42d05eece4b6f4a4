import { upstreamFailed } from '../../core/errors.ts';
import { SandboxFailure, type Sandbox, type SandboxTask } from '../../core/sandbox.ts';
import { mistakeIn, placeOf, type CodeMistake } from './app-code-mistake.ts';
import type { Job } from './app-code.ts';

/** The exports of a module, as far as routes are concerned. Modules can forge them. */
export interface ModuleExports {
  /** Names of exports that are a method in either case, and whether they are functions. */
  methods: { name: string; isFunction: boolean }[];
  /** The value of `config` as JSON, with null for anything that is not JSON; undefined without the export. */
  config: unknown;
}

const TIMEOUT_MS = 5000;
const LIMITS: Omit<SandboxTask['limits'], 'timeoutMs'> = {
  memoryBytes: 128 * 1024 ** 2,
  outputBytes: 1_000_000,
  logBytes: 0,
  hostCalls: 0,
  hostBytes: 0,
};

/** Path of the module that looks at the others. No file of an app has it. */
const ENTRY = 'inspect';

/** The code that reads the exports of modules. */
const INSPECT = `
const METHOD = /^(get|post|put|patch|delete|GET|POST|PUT|PATCH|DELETE)$/;
const plain = (value, levels) => {
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return value;
  if (typeof value !== 'object' || value === null || levels === 0) return null;
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => plain(item, levels - 1));
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined).slice(0, 100);
  return Object.fromEntries(entries.map(([key, inner]) => [key, plain(inner, levels - 1)]));
};
const inspect = (module) => ({
  methods: Object.keys(module).filter((name) => METHOD.test(name))
    .map((name) => ({ name, isFunction: typeof module[name] === 'function' })),
  ...('config' in module && { config: plain(module.config, 4) }),
});
export const main = () => ({ modules: modules.map(inspect) });
`;

/** Code of modules by their path, and what they import. */
export type LinkedModules = ReadonlyMap<string, { code: string; imports: readonly string[] }>;

/**
 * Evaluates modules in the sandbox and returns their exports by path, or all mistakes found. If evaluating them
 * together fails, they are evaluated one by one.
 */
export async function loadExports(
  sandbox: Sandbox,
  modules: LinkedModules,
  paths: readonly string[],
  job: Job,
): Promise<{ exports: Map<string, ModuleExports>; mistakes: CodeMistake[] }> {
  const exports = new Map<string, ModuleExports>();
  const mistakes: CodeMistake[] = [];
  if (paths.length === 0) return { exports, mistakes };
  const all = await evaluate(sandbox, modules, paths, job, TIMEOUT_MS);
  if ('exports' in all) return { exports: all.exports, mistakes };
  if (paths.length === 1) return { exports, mistakes: [all.mistake] };
  const end = Date.now() + TIMEOUT_MS;
  for (const path of paths) {
    const left = end - Date.now();
    const one = left > 0 ? await evaluate(sandbox, modules, [path], job, left) : all;
    if ('mistake' in one) mistakes.push(one.mistake);
    else for (const [name, found] of one.exports) exports.set(name, found);
    if (left <= 0 || ('mistake' in one && one.isTimeout)) break;
  }
  // Together they may exceed a limit that each of them alone does not.
  return { exports, mistakes: mistakes.length > 0 ? mistakes : [all.mistake] };
}

type Evaluated = { exports: Map<string, ModuleExports> } | { mistake: CodeMistake; isTimeout: boolean };

async function evaluate(
  sandbox: Sandbox,
  modules: LinkedModules,
  paths: readonly string[],
  { caller, signal }: Job,
  timeoutMs: number,
): Promise<Evaluated> {
  const imports = paths.map((path, i) => `import * as m${i} from ${JSON.stringify(`./${path}`)};`);
  const entry = `${imports.join('')}const modules = [${paths.map((_, i) => `m${i}`).join(', ')}];${INSPECT}`;
  try {
    const { output } = await sandbox.run({
      caller,
      purpose: 'handler',
      isHandler: true,
      signal,
      modules: { ...closureOf(modules, paths), [ENTRY]: entry },
      entry: ENTRY,
      input: null,
      limits: { ...LIMITS, timeoutMs },
    });
    return { exports: readExports(output, paths) };
  } catch (error) {
    if (!(error instanceof SandboxFailure)) throw error;
    const mistake = findMissingExport(error, modules, paths) ?? mistakeOf(error, paths[0]!);
    return { mistake, isTimeout: error.reason === 'timeout' };
  }
}

/** Returns the code of modules with all that they import, directly or not. */
function closureOf(modules: LinkedModules, paths: readonly string[]): Record<string, string> {
  const found = new Set(paths);
  for (const path of found) for (const imported of modules.get(path)?.imports ?? []) found.add(imported);
  return Object.fromEntries([...found].map((path) => [path, modules.get(path)!.code]));
}

/** The message of a module that imports a name which another one does not export. */
const MISSING_EXPORT = /^SyntaxError: The requested module '([^']+)' does not provide an export named '([^']+)'/;
/** The beginning of a statement that may import names, the place before its specifier, and what ends a statement. */
const STATEMENT_PART = /\b(?:import|export)\b|\bfrom\s*(?=['"])|[;'"]/g;

/** Returns the mistake of an import of a missing name at its statement; undefined for any other failure. */
function findMissingExport(
  { message }: SandboxFailure,
  modules: LinkedModules,
  paths: readonly string[],
): CodeMistake | undefined {
  const [, specifier, name = ''] = MISSING_EXPORT.exec(message) ?? [];
  if (specifier === undefined) return undefined;
  for (const [path, code] of Object.entries(closureOf(modules, paths)))
    for (const { names, at } of importsOf(code, specifier)) {
      const isNamed = names.split(/[^\p{ID_Continue}$]+/u).includes(name);
      const isDefault = name === 'default' && /^\s*[^\s{*]/.test(names);
      if (isNamed || isDefault) return { path, message, ...placeOf(code, at) };
    }
  return undefined;
}

/** Yields the imported names of the statements that import a specifier, with the place of the specifier. */
function* importsOf(code: string, specifier: string): Generator<{ names: string; at: number }> {
  let start = -1;
  for (const { 0: part, index } of code.matchAll(STATEMENT_PART)) {
    const end = index + part.length;
    if (part === 'import' || part === 'export') start = end;
    else if (!part.startsWith('from')) start = -1;
    else if (start >= 0 && code.startsWith(specifier, end + 1) && code[end] === code[end + 1 + specifier.length])
      yield { names: code.slice(start, index), at: end };
  }
}

function mistakeOf(failure: SandboxFailure, path: string): CodeMistake {
  switch (failure.reason) {
    case 'timeout':
      return mistakeIn(path, `Loading the modules takes longer than ${TIMEOUT_MS / 1000} seconds`);
    case 'memory':
      return mistakeIn(path, 'Loading the modules needs more than 128 MB of memory');
    case 'crash':
      throw upstreamFailed('The process that loads the modules of the app ended unexpectedly', { cause: failure });
    case 'exception': {
      const place = failure.places.find(({ module }) => module !== ENTRY);
      return {
        path: place?.module ?? path,
        message: failure.message,
        line: place?.line ?? null,
        column: place?.column ?? null,
      };
    }
    default:
      return mistakeIn(path, failure.message);
  }
}

/** Reads the exports of modules from an output of any shape. */
function readExports(output: unknown, paths: readonly string[]): Map<string, ModuleExports> {
  const { modules } = propertiesOf(output);
  const list: unknown[] = Array.isArray(modules) ? modules : [];
  return new Map(
    paths.map((path, i) => {
      const { methods, config } = propertiesOf(list[i]);
      const names = (Array.isArray(methods) ? methods.slice(0, 100) : []).flatMap((method: unknown) => {
        const { name, isFunction } = propertiesOf(method);
        return typeof name === 'string' ? [{ name, isFunction: isFunction === true }] : [];
      });
      return [path, { methods: names, config }];
    }),
  );
}

const propertiesOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
