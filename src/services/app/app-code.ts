import { posix } from 'node:path';
import type { AppRoute } from '../../../entities/app-release.ts';
import { parseModules, type ParsedModule } from '../../adapters/app-code/parse-modules.ts';
import type { Caller } from '../../core/fair-gate.ts';
import type { Sandbox } from '../../core/sandbox.ts';
import { codeError, MAX_MISTAKES, mistakeIn, placeOf, type CodeMistake } from './app-code-mistake.ts';
import { byCodePoints } from './app-migration-path.ts';
import { loadExports, type LinkedModules, type ModuleExports } from './app-module-exports.ts';
import { configProblems } from './app-route-config.ts';
import {
  byPrecedence,
  ROUTE_METHODS,
  routeFolderOf,
  routePathOf,
  shapeOf,
  type RouteFolder,
} from './app-route-path.ts';

/** On whose behalf code is checked, and until when. */
export interface Job {
  caller: Caller;
  signal: AbortSignal;
}

/** The routes of an app, in the order in which they are matched. */
export interface AppRoutes {
  routes: AppRoute[];
  webhooks: AppRoute[];
}

/** Checks the modules of an app. Returns their routes. Throws BAD_USER_INPUT with all mistakes in `validation`. */
export async function checkCode(
  sandbox: Sandbox,
  sources: ReadonlyMap<string, Uint8Array>,
  job: Job,
): Promise<AppRoutes> {
  const mistakes: CodeMistake[] = [];
  const texts = decodeAll(sources, mistakes);
  const paths = findRoutePaths([...sources.keys()].toSorted(byCodePoints), mistakes);
  const parsed = texts.size > 0 ? await parseModules(texts, job.caller, job.signal) : new Map();
  const linked = await link(sandbox, texts, parsed, job, mistakes);
  // A module is not evaluated when one that it imports cannot be.
  const handlers = [...paths.keys()].filter((path) => isComplete(linked, path));
  const loaded = await loadExports(sandbox, linked, handlers, job);
  mistakes.push(...loaded.mistakes);
  const lists: AppRoutes = { routes: [], webhooks: [] };
  for (const [handlerPath, exported] of loaded.exports) {
    const folder = routeFolderOf(handlerPath)!;
    const { methods, config } = readModule(handlerPath, folder, exported, texts.get(handlerPath)!, mistakes);
    const path = paths.get(handlerPath)!;
    lists[folder === 'server' ? 'routes' : 'webhooks'].push(
      ...methods.map((method) => ({ method, path, handlerPath, config })),
    );
  }
  if (mistakes.length > 0) throw codeError(mistakes);
  for (const list of Object.values(lists) as AppRoute[][])
    list.sort((one, other) => byPrecedence(one.path, other.path) || order(one.method) - order(other.method));
  return lists;
}

const order = (method: string): number => (ROUTE_METHODS.server as readonly string[]).indexOf(method);

function decodeAll(sources: ReadonlyMap<string, Uint8Array>, mistakes: CodeMistake[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [path, bytes] of sources) {
    try {
      texts.set(path, new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    } catch {
      mistakes.push(mistakeIn(path, 'The file is not encoded as UTF-8'));
    }
  }
  return texts;
}

/** Returns the paths of routes by the paths of their modules, which are sorted. */
function findRoutePaths(modules: readonly string[], mistakes: CodeMistake[]): Map<string, string> {
  const paths = new Map<string, string>();
  const owners = new Map<string, string>();
  for (const module of modules) {
    const folder = routeFolderOf(module);
    if (folder === null) continue;
    const route = routePathOf(module);
    if ('problem' in route) {
      mistakes.push(mistakeIn(module, route.problem));
      continue;
    }
    const key = `${folder} ${shapeOf(route.path)}`;
    const owner = owners.get(key);
    if (owner !== undefined) mistakes.push(mistakeIn(module, `The route ${route.path} also belongs to ${owner}`));
    owners.set(key, owner ?? module);
    paths.set(module, route.path);
  }
  return paths;
}

/** Resolves the imports of modules. Returns the modules that have no mistakes themselves. */
async function link(
  sandbox: Sandbox,
  texts: ReadonlyMap<string, string>,
  parsed: ReadonlyMap<string, ParsedModule>,
  job: Job,
  mistakes: CodeMistake[],
): Promise<LinkedModules> {
  const linked = new Map<string, { code: string; imports: string[] }>();
  for (const [path, module] of parsed) {
    if (mistakes.length >= MAX_MISTAKES) break;
    if ('mistake' in module) mistakes.push({ path, ...module.mistake });
    else if (module.imports === null) {
      const alone = new Map([[path, { code: module.code, imports: [] }]]);
      const found = (await loadExports(sandbox, alone, [path], job)).mistakes;
      // The sandbox may parse what nests too deeply for the thread.
      mistakes.push(...(found.length > 0 ? found : [mistakeIn(path, 'The module cannot be parsed')]));
    } else {
      const found = resolveImports(path, module.imports, texts);
      mistakes.push(...found.mistakes);
      if (found.mistakes.length === 0) linked.set(path, { code: module.code, imports: found.imports });
    }
  }
  return linked;
}

function resolveImports(path: string, specifiers: readonly string[], texts: ReadonlyMap<string, string>) {
  const imports: string[] = [];
  const mistakes: CodeMistake[] = [];
  const text = texts.get(path)!;
  for (const specifier of specifiers) {
    const quoted = [`'${specifier}'`, `"${specifier}"`].find((one) => text.includes(one));
    const place = placeOf(text, quoted === undefined ? -1 : text.indexOf(quoted));
    const target = posix.join(posix.dirname(path), specifier);
    if (!/^\.\.?\//.test(specifier)) {
      const message = `Modules import files of the app by a relative path, not ${JSON.stringify(specifier)}`;
      mistakes.push({ path, message, ...place });
    } else if (!texts.has(target))
      mistakes.push({ path, message: `There is no module ${JSON.stringify(specifier)}`, ...place });
    else imports.push(target);
  }
  return { imports, mistakes };
}

/** Returns whether a module and everything that it imports can be evaluated. */
function isComplete(modules: LinkedModules, path: string): boolean {
  const found = new Set([path]);
  for (const one of found) {
    const module = modules.get(one);
    if (!module) return false;
    for (const imported of module.imports) found.add(imported);
  }
  return true;
}

/** Returns the methods and config of a module with routes. */
function readModule(
  path: string,
  folder: RouteFolder,
  { methods, config }: ModuleExports,
  text: string,
  mistakes: CodeMistake[],
): { methods: string[]; config: Record<string, unknown> } {
  const known: readonly string[] = ROUTE_METHODS[folder];
  const found = new Set<string>();
  for (const { name, isFunction } of methods) {
    const method = name.toLowerCase();
    if (!known.includes(method)) mistakes.push(mistakeIn(path, `${folder} have no method ${name.slice(0, 20)}`));
    else if (!isFunction) mistakes.push(mistakeIn(path, `The export ${name} is not a function`));
    else if (found.has(method)) mistakes.push(mistakeIn(path, `The method ${method} is exported twice`));
    found.add(method);
  }
  if (methods.length === 0) mistakes.push(mistakeIn(path, `The module exports none of ${known.join(', ')}`));
  if (config !== undefined) {
    const place = placeOf(text, text.search(/\bconfig\b/));
    mistakes.push(...configProblems(folder, config).map((message) => ({ path, message, ...place })));
  }
  const exported = typeof config === 'object' && config !== null ? config : {};
  return { methods: [...found], config: { ...exported, ...(folder === 'webhooks' && { public: true }) } };
}
