/**
 * Returns the URL of a program next to a module: compiled next to a compiled module, or a source, which Node runs by
 * type stripping. `name` has no extension; `module` is the caller's `import.meta.url`.
 */
export const programBeside = (module: string, name: string): URL =>
  new URL(`./${name}${module.endsWith('.ts') ? '.ts' : '.js'}`, module);
