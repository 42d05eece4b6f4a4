import { isObject } from '../../core/criteria/value.ts';

/** Address of the contents of a file of a template in a text: what precedes the template, the template, and the file. */
const CONTENTS = /(\/templates\/)([^/\s"'?#]+)\/files\/([0-9a-f-]{36})(?=\/contents\b)/gi;

/**
 * Returns a copy of JSON in which the addresses of contents of files of one template, even inside texts, are replaced
 * by addresses in another template, where the files have other ids.
 */
export const replaceAddresses = <T>(
  json: T,
  ids: ReadonlyMap<string, string>,
  { from, to }: { from: string; to: string },
): T =>
  mapTexts(json, (text) =>
    text.replace(CONTENTS, (address: string, start: string, template: string, file: string) => {
      const id = ids.get(file.toLowerCase());
      if (id === undefined && template.toLowerCase() !== from) return address;
      return `${start}${to}/files/${id ?? file}`;
    }),
  );

/** Returns a copy of JSON in which texts are replaced wherever they stand as values. Texts are compared without case. */
export function replaceTexts<T>(json: T, replacements: ReadonlyMap<string, string | null>): T {
  if (replacements.size === 0) return json;
  return mapTexts(json, (text) => {
    const replacement = replacements.get(text.toLowerCase());
    return replacement === undefined ? text : replacement;
  });
}

/** Returns a copy of JSON with the results of a function in place of the texts that are values. */
function mapTexts<T>(json: T, map: (text: string) => string | null): T {
  const mapped = (value: unknown): unknown => {
    if (typeof value === 'string') return map(value);
    if (Array.isArray(value)) return value.map(mapped);
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapped(inner)]))
      : value;
  };
  return mapped(json) as T;
}
