import type { InputRule } from './input-rules.ts';

/** Media type of bytes of an unknown kind. */
export const DEFAULT_MEDIA_TYPE = 'application/octet-stream';

const PATTERN = '^[\\w.+-]{1,100}/[\\w.+-]{1,100}(?:; ?[\\w-]{1,50}=[\\w.-]{1,50})?$';

/** Media types, with at most one parameter. */
export const MEDIA_TYPE_RULE: InputRule = {
  minLength: 3,
  maxLength: 255,
  pattern: PATTERN,
  patternMessage: 'must be a media type, e.g. image/png',
};

const MEDIA_TYPE = new RegExp(PATTERN, 'u');

/** Returns whether a text is a media type. */
export const isMediaType = (text: string): boolean => MEDIA_TYPE.test(text);

/** Media types by the extensions of files in templates. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['css', 'text/css'],
  ['csv', 'text/csv'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['gif', 'image/gif'],
  ['htm', 'text/html'],
  ['html', 'text/html'],
  ['jpeg', 'image/jpeg'],
  ['jpg', 'image/jpeg'],
  ['js', 'text/javascript'],
  ['json', 'application/json'],
  ['md', 'text/markdown'],
  ['njk', 'text/plain'],
  ['otf', 'font/otf'],
  ['pdf', 'application/pdf'],
  ['png', 'image/png'],
  ['svg', 'image/svg+xml'],
  ['tsv', 'text/tab-separated-values'],
  ['ttf', 'font/ttf'],
  ['txt', 'text/plain'],
  ['webp', 'image/webp'],
  ['woff', 'font/woff'],
  ['woff2', 'font/woff2'],
  ['xml', 'application/xml'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
]);

/** Returns the last extension of a file name in lower case, without the dot; undefined without one. */
export const extensionOf = (filename: string): string | undefined =>
  /[^/]\.([^./\s]{1,16})$/u.exec(filename)?.[1]?.toLowerCase();

/** Returns the media type that belongs to the extension of a file name; undefined for an unknown one. */
export const mediaTypeOf = (filename: string): string | undefined => TYPES.get(extensionOf(filename) ?? '');
