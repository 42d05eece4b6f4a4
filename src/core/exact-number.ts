/** Maximum number of digits of fixed decimals in DuckDB, Elasticsearch and Parquet. */
export const MAX_DECIMAL_DIGITS = 38;

const DECIMAL = /^(-?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i;

/** Returns whether a text is a decimal number, with or without an exponent. */
export const isDecimal = (text: string): boolean => DECIMAL.test(text);

/** Returns a decimal number as sign, significant digits and exponent; null if the text is not a number. */
function canonical(text: string): string | null {
  const [, sign, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (sign === undefined) return null;
  const padded = (whole + fraction).replace(/^0+/, '');
  let end = padded.length;
  while (padded[end - 1] === '0') end--;
  const digits = padded.slice(0, end);
  return digits ? `${sign}${digits}e${Number(exponent) - fraction.length + padded.length - digits.length}` : '0';
}

/** Returns whether clients read the exact value of a decimal from a JSON number. */
export function survivesAsNumber(text: string): boolean {
  const exact = canonical(text);
  return exact !== null && canonical(String(Number(text))) === exact;
}

/** Whether a text can have a number that does not survive, in the dialects of JavaScript and of RE2. */
export const LONG_NUMBER = String.raw`\d[\d.]{15}|\d[eE][+-]?\d{3}`;
const MAY_CHANGE = new RegExp(LONG_NUMBER);

/**
 * Returns a JSON text in which numbers that would lose digits as JSON numbers are texts with all digits
 * (docs/contract/datasets.md#exact-numbers). Others stay unchanged.
 */
export const exactJson = (text: string): string =>
  MAY_CHANGE.test(text)
    ? mapJsonNumbers(text, (number) => (survivesAsNumber(number) ? number : `"${number}"`)).mapped
    : text;

const [QUOTE, BACKSLASH, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x2d, 0x30, 0x39];
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Possible end of an incomplete number at the end of a piece of text. */
const OPEN_NUMBER = /-?\d*(?:\.\d*)?(?:[eE][+-]?\d*)?$/y;

/**
 * Maps the numbers of a JSON text. If the text goes on (`isWhole` is false), `rest` is the beginning of a string or
 * number at its end, which must precede what follows.
 */
export function mapJsonNumbers(
  text: string,
  map: (number: string) => string,
  isWhole = true,
): { mapped: string; rest: string } {
  let mapped = '';
  let from = 0;
  const cut = (at: number) => ({ mapped: mapped + text.slice(from, at), rest: text.slice(at) });
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (end < 0) return cut(isWhole ? text.length : at);
      at = end;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      OPEN_NUMBER.lastIndex = NUMBER.lastIndex = at;
      if (!isWhole && OPEN_NUMBER.test(text)) return cut(at);
      const number = NUMBER.exec(text)?.[0] ?? '';
      const found = number && map(number);
      if (found !== number) {
        mapped += text.slice(from, at) + found;
        from = at + number.length;
      }
      at += number.length || 1;
    } else at += 1;
  }
  return cut(text.length);
}

/** Returns the position after a string that begins at `at`; -1 when it has no end. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return -1;
}
