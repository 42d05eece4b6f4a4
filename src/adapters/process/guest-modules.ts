import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';

/** JavaScript modules for the sandbox, by their file names. */
export interface GuestModules {
  modules: Readonly<Record<string, string>>;
  /** Extension of the file names by which the modules import each other, `.js` or `.ts`. */
  extension: string;
}

/**
 * Reads modules that run in the sandbox, from a folder next to a module: compiled next to a compiled module, or
 * sources, whose types are removed. `names` have no extension; `module` is the caller's `import.meta.url`.
 */
export function readGuestModules(module: string, folder: string, names: readonly string[]): GuestModules {
  const extension = module.endsWith('.ts') ? '.ts' : '.js';
  const read = (name: string): [string, string] => {
    const text = readFileSync(new URL(`./${folder}/${name}${extension}`, module), 'utf8');
    return [`${name}${extension}`, extension === '.ts' ? stripTypeScriptTypes(text) : text];
  };
  return { modules: Object.fromEntries(names.map(read)), extension };
}
