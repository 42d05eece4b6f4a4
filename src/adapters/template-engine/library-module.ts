import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Returns a bundle of a package for browsers as a module for the sandbox, whose default export is the library. */
export function libraryModule(path: string): string {
  const [name, ...file] = path.split('/') as [string, ...string[]];
  const folder = packageFolder(name);
  const source = readFileSync(join(folder, ...file), 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
  return `const module = { exports: {} };\nlet exports = module.exports;\n${source}\nexport default module.exports;\n`;
}

/** Returns the folder of a package. Its bundles are not among the paths that it exports. */
function packageFolder(name: string): string {
  const require = createRequire(import.meta.url);
  let folder = dirname(require.resolve(name));
  while (!folder.endsWith(`node_modules/${name}`)) folder = dirname(folder);
  return folder;
}
