/** An expression of a tag: a path, and filters. */
export interface Expression {
  /** Empty for the value of the loop itself. */
  path: readonly string[];
  filters: readonly { name: string; options: readonly unknown[] }[];
}

const NAME = /\s*([\p{L}_][\p{L}\p{N}_-]*)/uy;
const KEY = /\s*(?:\.\s*([\p{L}_][\p{L}\p{N}_-]*)|\[\s*(?:"([^"]*)"|'([^']*)'|(\d+))\s*\])/uy;
const FILTER = /\s*\|\s*([A-Za-z]\w*)(?:\s*\(([^()]*)\))?/y;
const OPTION = /\s*(?:"([^"]*)"|'([^']*)'|(-?\d+(?:\.\d+)?))\s*(?:,|$)/y;

/** Parses an expression. Throws for any other text. Word writes other quotation marks than programs. */
export function parseExpression(tag: string): Expression {
  const text = tag.replaceAll(/[“”„]/g, '"').replaceAll(/[‘’‚]/g, "'").trimEnd();
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const path: string[] = [];
  if (/^\s*\.(\s|\||$)/.test(text)) at = text.indexOf('.') + 1;
  else {
    const name = match(NAME);
    if (!name) throw new Error(`${JSON.stringify(tag.slice(0, 100))} is not the name of a value`);
    path.push(name[1]!);
    for (let key = match(KEY); key; key = match(KEY)) path.push((key[1] ?? key[2] ?? key[3] ?? key[4])!);
  }
  const filters: { name: string; options: unknown[] }[] = [];
  for (let filter = match(FILTER); filter; filter = match(FILTER))
    filters.push({ name: filter[1]!, options: parseOptions(filter[2] ?? '') });
  if (at < text.length)
    throw new Error(
      `${JSON.stringify(tag.slice(0, 100))} cannot be understood after ${JSON.stringify(text.slice(0, at))}`,
    );
  return { path, filters };
}

function parseOptions(text: string): unknown[] {
  const options: unknown[] = [];
  for (let at = 0; at < text.length; at = OPTION.lastIndex) {
    OPTION.lastIndex = at;
    const [, double, single, number] = OPTION.exec(text) ?? [];
    const option = double ?? single ?? (number === undefined ? undefined : Number(number));
    if (option === undefined) throw new Error(`${JSON.stringify(text.slice(0, 100))} are not options of a filter`);
    options.push(option);
  }
  return options;
}

/**
 * Returns the value of a path: in the innermost scope that has its first name, whose value may be null. An empty path
 * is the innermost scope. Returns undefined for an unknown name. Inherited properties are not found.
 */
export function lookUp(scopes: readonly unknown[], [first, ...others]: readonly string[]): unknown {
  if (first === undefined) return scopes.at(-1);
  return others.reduce(
    propertyOf,
    propertyOf(
      scopes.findLast((scope) => propertyOf(scope, first) !== undefined),
      first,
    ),
  );
}

const propertyOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
