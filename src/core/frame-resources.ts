/** Styles of HTML: the texts of `style` elements, and of `style` attributes. */
const STYLES = /<style\b[^>]*(?:>([^]*?)(?:<\/style\b|$)|$)|\sstyle\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi;
const LINKS = /<link\b[^>]*>?/gi;
const STYLE_SHEET = /\brel\s*=\s*(?:"[^"]*\bstylesheet\b|'[^']*\bstylesheet\b|stylesheet\b)/i;
const HREF = /\bhref\s*=\s*["']?\s*(data:)?/i;
/** Beginnings of permitted targets: a data URL, a place in the page, or a placeholder of a template. */
const ALLOWED = String.raw`(?:data:|#|\{\{|\{%)`;
const IMPORT = new RegExp(String.raw`@import\s*(?:url\(\s*)?["']?\s*(?!${ALLOWED}|["'\s(]|url\()`, 'i');
const URL_FUNCTION = new RegExp(String.raw`\b(?:url|src)\(\s*["']?\s*(?!${ALLOWED}|["'\s)])`, 'i');

/**
 * Returns the first target that an HTML text for the header or footer of a PDF loads, other than a data URL, and where
 * it begins; null if it loads nothing. Chromium prints nothing at all with such a style sheet or font. Places that a
 * template fills are ignored.
 */
export function findFrameResource(html: string): { what: string; index: number } | null {
  for (const match of html.matchAll(STYLES)) {
    const style = unescapeCss(match[1] ?? unescapeHtml(match[2] ?? match[3] ?? match[4] ?? ''));
    if (IMPORT.test(style)) return { what: '@import', index: match.index };
    if (URL_FUNCTION.test(style)) return { what: 'url()', index: match.index };
  }
  for (const match of html.matchAll(LINKS))
    if (STYLE_SHEET.test(match[0]) && HREF.exec(match[0])?.[1] === undefined)
      return { what: '<link rel="stylesheet">', index: match.index };
  return null;
}

/**
 * Decodes escapes of characters, which may hide a name, and removes comments. White space becomes one blank: the patterns would
 * try every division of a longer one, and the time of that grows with the square of its length.
 */
const unescapeCss = (style: string): string =>
  style
    .replaceAll(/\/\*[^]*?(?:\*\/|$)/g, ' ')
    .replaceAll(/\\([\da-f]{1,6})\s?/gi, (_, code: string) => characterOf(Number.parseInt(code, 16)))
    .replaceAll(/\s+/g, ' ');

/** Decodes the references of characters that can be part of a name or URL. */
const unescapeHtml = (text: string): string =>
  text
    .replaceAll(/&#x([\da-f]{1,6});?/gi, (_, code: string) => characterOf(Number.parseInt(code, 16)))
    .replaceAll(/&#(\d{1,7});?/g, (_, code: string) => characterOf(Number(code)))
    .replaceAll(/&(?:quot|apos);?/gi, '"');

const characterOf = (code: number): string => (code <= 0x10_ff_ff ? String.fromCodePoint(code) : ' ');
