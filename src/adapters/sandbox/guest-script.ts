const IMPORT = /^import \{([^}]*)\} from '\.\/([\w-]+)\.(?:js|ts)';$/gm;
const EXPORT = /^export (?:async )?(?:function|class|const|let) (?:(\w+)|\{([^}]*)\})/gm;
const MODULE_SYNTAX = /^(?:import|export)\b.*/m;

/**
 * Joins modules of a guest folder into one script that assigns an export of the module `entry` to a global property.
 * The modules may import only each other, and only names in braces. Scripts can be part of a snapshot, modules cannot.
 */
export function joinGuestModules(
  modules: Readonly<Record<string, string>>,
  entry: string,
  exported: string,
  property: string,
): string {
  const parts: string[] = [];
  const added = new Set<string>();
  const sources = new Map(Object.entries(modules).map(([file, source]) => [file.replace(/\.\w+$/, ''), source]));
  const add = (name: string): void => {
    if (added.has(name)) return;
    added.add(name);
    const source = sources.get(name);
    if (source === undefined) throw new Error(`The guest module ${name} is missing`);
    for (const [, , imported] of source.matchAll(IMPORT)) add(imported!);
    parts.push(asFunction(name, source));
  };
  add(entry);
  return `{ const modules = { __proto__: null };
${parts.join('\n')}
globalThis[${JSON.stringify(property)}] = modules[${JSON.stringify(entry)}].${exported}; }`;
}

/** Returns code that evaluates a module in a function and keeps its exports. */
function asFunction(name: string, source: string): string {
  const names = [...source.matchAll(EXPORT)].flatMap(([, single, list]) => (single ? [single] : namesIn(list!)));
  const code = source
    .replaceAll(
      IMPORT,
      (_, list: string, imported: string) =>
        // The names may be renamed with `as`.
        `const { ${namesIn(list).join(', ').replaceAll(' as ', ': ')} } = modules[${JSON.stringify(imported)}];`,
    )
    .replaceAll(EXPORT, (declaration) => declaration.slice('export '.length));
  const rest = MODULE_SYNTAX.exec(code);
  if (rest) throw new Error(`The guest module ${name} has an import or export that cannot be joined: ${rest[0]}`);
  return `modules[${JSON.stringify(name)}] = (() => { 'use strict';\n${code}\nreturn { ${names.join(', ')} }; })();`;
}

const namesIn = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
