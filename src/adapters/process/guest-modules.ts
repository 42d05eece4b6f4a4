import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { posix } from 'node:path';

/** JavaScript modules for the sandbox, by their paths from the folder of the first one. */
export interface GuestModules {
  modules: Readonly<Record<string, string>>;
  /** Extension of the file names by which the modules import each other, `.js` or `.ts`. */
  extension: string;
}

/** An import of a module by its relative path. */
const IMPORT = /(?:^import| from) '(\.[^']*)\.(?:js|ts)';$/gm;

/**
 * Reads a module that runs in the sandbox, and all modules that it imports: compiled next to a compiled module, or
 * sources, whose types are removed. `folder` is next to the caller, whose `import.meta.url` is `module`; the names of
 * modules have no extension.
 */
export function readGuestModules(module: string, folder: string, entry: string): GuestModules {
  const extension = module.endsWith('.ts') ? '.ts' : '.js';
  const modules: Record<string, string> = {};
  const add = (name: string): void => {
    const file = `${name}${extension}`;
    if (Object.hasOwn(modules, file)) return;
    const text = readFileSync(new URL(`./${folder}/${file}`, module), 'utf8');
    const source = extension === '.ts' ? stripTypeScriptTypes(text) : text;
    modules[file] = source;
    for (const [, imported] of source.matchAll(IMPORT)) add(posix.join(posix.dirname(name), imported!));
  };
  add(entry);
  return { modules, extension };
}
