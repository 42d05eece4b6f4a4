import { isObject } from '../../core/criteria/value.ts';

/** Returns a copy of JSON in which texts are replaced wherever they stand as values. Texts are compared without case. */
export function replaceTexts<T>(json: T, replacements: ReadonlyMap<string, string | null>): T {
  if (replacements.size === 0) return json;
  const replace = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const replacement = replacements.get(value.toLowerCase());
      return replacement === undefined ? value : replacement;
    }
    if (Array.isArray(value)) return value.map(replace);
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replace(inner)]))
      : value;
  };
  return replace(json) as T;
}
