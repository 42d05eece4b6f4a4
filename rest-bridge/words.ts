/* Conversions of names and paths. */

/** Returns the words of a name in camel or Pascal case: `saved query` for `SavedQuery`. */
export const toWords = (name: string): string =>
  name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();

/** Returns a name in camel case in kebab case: `sync-fields` for `syncFields`. */
export const toKebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Returns a name in kebab case in camel case: `syncFields` for `sync-fields`. */
export const toCamelCase = (name: string): string =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns a path without the names of its parameters, e.g. `/datasets/:/data` for `/datasets/{id}/data?limit=1`. */
export const shapeOf = (path: string): string =>
  path.replace(/\?.*$/s, '').replace(/:\w+\*?|\{[^{}]*\}|%7B\w+%7D/g, ':');
