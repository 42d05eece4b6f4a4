import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

/** Returns a bundle of a package for browsers, which exports its library, as a module for the sandbox. */
export const libraryModule = (path: string): string =>
  `const module = { exports: {} };\nlet exports = module.exports;\n${readBundle(path)}\nexport default module.exports;\n`;

/**
 * Returns a bundle that adds its library to `window` as a module for the sandbox. `imports` are statements that define names,
 * `provided` the properties of `window` by these names.
 */
export const windowLibraryModule = (path: string, property: string, imports = '', provided = ''): string =>
  `${imports}\nconst window = { ${provided} };\n${readBundle(path)}\nexport default window.${property};\n`;

/** Returns the CommonJS modules of a folder as one module for the sandbox, which has the exports of `index.js`. */
export function folderModule(name: string, folder: string, requiredBy: string): string {
  const path = join(packageFolder(name, packageFolder(requiredBy)), folder);
  const files = readdirSync(path).filter((file) => file.endsWith('.js'));
  const functions = files.map((file) => {
    const source = readFileSync(join(path, file), 'utf8');
    return `${JSON.stringify(basename(file, '.js'))}(module, exports, require) {\n${source}\n},`;
  });
  return `const files = {\n${functions.join('\n')}\n};
const loaded = {};
const require = (path) => {
  const name = path.replace('./', '');
  if (!loaded[name]) {
    loaded[name] = { exports: {} };
    files[name](loaded[name], loaded[name].exports, require);
  }
  return loaded[name].exports;
};
export default require('./index');
`;
}

function readBundle(path: string): string {
  const [name, ...file] = path.split('/') as [string, ...string[]];
  return readFileSync(join(packageFolder(name), ...file), 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
}

/** Returns the folder of a package, seen from a folder. Its bundles are not among the paths that it exports. */
function packageFolder(name: string, from: string = dirname(new URL(import.meta.url).pathname)): string {
  let folder = dirname(createRequire(join(from, 'index.js')).resolve(name));
  while (!folder.endsWith(`node_modules/${name}`)) folder = dirname(folder);
  return folder;
}
