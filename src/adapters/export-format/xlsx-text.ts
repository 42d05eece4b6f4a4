const SPECIAL = /["&<>\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF]|_x/;
const EVERY_SPECIAL =
  /["&<>\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF]|_(?=x[0-9A-Fa-f]{4}[_\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF])/g;
const NAMED: Record<string, string> = { '"': '&quot;', '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Escapes a text for XML. Characters that XML forbids become `_xHHHH_` (ECMA-376, part 1, 22.9.2.19), and such
 * sequences in the text itself are escaped.
 */
export const escaped = (text: string): string =>
  SPECIAL.test(text)
    ? text.replace(
        EVERY_SPECIAL,
        (one) => NAMED[one] ?? `_x${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
      )
    : text;
