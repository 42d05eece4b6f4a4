/** Returns the options of the command line, given as `name=value`, over their defaults. */
export function readOptions<T extends Record<string, string>>(defaults: T): T {
  const given = process.argv.slice(2).map((argument) => argument.split('=') as [string, string]);
  const unknown = given.find(([name]) => !Object.hasOwn(defaults, name));
  if (unknown) throw new Error(`No option is named ${unknown[0]}; there are ${Object.keys(defaults).join(', ')}`);
  return { ...defaults, ...Object.fromEntries(given) };
}
