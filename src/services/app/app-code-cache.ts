import { posix } from 'node:path';
import { parseModules } from '../../adapters/app-code/parse-modules.ts';
import { libraryModule } from '../../adapters/template-engine/library-module.ts';
import type { RunningApp } from '../../core/app-run.ts';
import { notFound } from '../../core/errors.ts';
import { perPlatform } from '../../core/per-platform.ts';
import type { Platform } from '../../core/platform.ts';
import { isCode } from './app-route-path.ts';

/** The modules of a release, without types. */
export type ReleaseCode = ReadonlyMap<string, { code: string; imports: readonly string[] }>;

/** Size of the code of all releases that a process keeps, in bytes. */
const MAX_CACHED_BYTES = 64 * 1024 ** 2;

interface Entry {
  loading: Promise<ReleaseCode>;
  /** 0 until it is loaded. */
  bytes: number;
}

/** The code of releases by a key, the one that was used last as the last. A release never changes. */
class ReleaseCache {
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /** Returns the code of a release. Loads it once, however many ask for it. */
  get(key: string, load: () => Promise<ReleaseCode>): Promise<ReleaseCode> {
    const entry = this.#entries.get(key) ?? this.#load(key, load);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.loading;
  }

  #load(key: string, load: () => Promise<ReleaseCode>): Entry {
    const entry: Entry = { loading: load(), bytes: 0 };
    const loaded = (code: ReleaseCode): void => {
      for (const [path, module] of code) entry.bytes += 2 * (path.length + module.code.length);
      this.#bytes += entry.bytes;
      for (const [id, oldest] of this.#entries) {
        if (this.#bytes <= MAX_CACHED_BYTES) break;
        if (oldest.bytes === 0) continue;
        this.#entries.delete(id);
        this.#bytes -= oldest.bytes;
      }
    };
    entry.loading.then(loaded, () => this.#entries.delete(key));
    return entry;
  }
}

const cacheOf = perPlatform(() => new ReleaseCache());
/** Code by user and release. */
const userCacheOf = perPlatform(() => new ReleaseCache());

/**
 * Returns the modules of the active release of an app, of a cache of one user if one is given: others would see by the time of
 * their calls that the code was loaded. Throws NOT_FOUND for a release that was deleted.
 */
export function loadReleaseCode(platform: Platform, app: RunningApp, userId?: string): Promise<ReleaseCode> {
  if (userId === undefined) return cacheOf(platform).get(app.releaseId, () => loadCode(platform, app, app.id));
  return userCacheOf(platform).get(`${userId} ${app.releaseId}`, () => loadCode(platform, app, userId));
}

async function loadCode(
  platform: Platform,
  { tenantId, releaseId }: RunningApp,
  callerId: string,
): Promise<ReleaseCode> {
  const files = await platform.database.query<{ path: string; fileId: string }>(tenantId, {
    text: `select path, file_id as "fileId" from dws.app_release_file where tenant_id = $1 and release_id = $2`,
    values: [tenantId, releaseId],
  });
  const texts = new Map<string, string>();
  for (const { path, fileId } of files.filter((file) => isCode(file.path))) {
    const content = await platform.files.read(fileId);
    if (!content) throw notFound({ what: 'release of the app', id: releaseId });
    texts.set(path, new TextDecoder().decode(content));
  }
  // Several requests may wait for it: none of them ends it.
  const parsed = await parseModules(texts, { tenantId, userId: callerId }, new AbortController().signal);
  const code = new Map<string, { code: string; imports: readonly string[] }>();
  for (const [path, module] of parsed)
    if ('code' in module) code.set(path, { code: module.code, imports: module.imports ?? [] });
  return code;
}

/** Path of the module that calls the handler. No file of an app has it. */
export const HANDLER_ENTRY = 'handler';
export const MARKDOWN_MODULE = 'markdown-it.js';

let markdownModule: string | undefined;
/** The modules of handlers by method and path. They share their texts with the release. */
const programs = new WeakMap<ReleaseCode, Map<string, Record<string, string>>>();

/**
 * Returns the modules that a handler reaches through its imports, and one that calls it. The library for Markdown is one
 * of them if the name `markdown` occurs.
 */
export function handlerModules(release: ReleaseCode, handlerPath: string, method: string): Record<string, string> {
  const known = programs.get(release) ?? new Map<string, Record<string, string>>();
  programs.set(release, known);
  const key = `${method} ${handlerPath}`;
  const modules = known.get(key) ?? joinModules(release, handlerPath, method);
  known.set(key, modules);
  return modules;
}

function joinModules(release: ReleaseCode, handlerPath: string, method: string): Record<string, string> {
  const reached = reachedFrom(release, handlerPath);
  const usesMarkdown = Object.values(reached).some((code) => code.includes('markdown'));
  if (usesMarkdown) markdownModule ??= libraryModule('markdown-it/dist/browser/markdown-it.umd.min.js');
  const entry = `${usesMarkdown ? `import markdown from './${MARKDOWN_MODULE}';` : 'const markdown = undefined;'}
import * as module from ${JSON.stringify(`./${handlerPath}`)};
const handler = module[${JSON.stringify(method)}] ?? module[${JSON.stringify(method.toUpperCase())}];
export const main = (input, host) => host.handle(handler, input, markdown);`;
  return { ...reached, ...(usesMarkdown && { [MARKDOWN_MODULE]: markdownModule! }), [HANDLER_ENTRY]: entry };
}

function reachedFrom(release: ReleaseCode, path: string): Record<string, string> {
  const reached = new Set([path]);
  const modules: Record<string, string> = {};
  for (const one of reached) {
    const module = release.get(one);
    if (!module) throw notFound({ what: 'module of the app', id: one });
    modules[one] = module.code;
    for (const specifier of module.imports) reached.add(posix.join(posix.dirname(one), specifier));
  }
  return modules;
}
