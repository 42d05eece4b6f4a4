/**
 * How a cell shows its number: a date (with or without a time), a time of day, elapsed time, or a number.
 */
export type NumberKind = 'date' | 'time' | 'elapsed' | 'number';

/** Formats that files do not define, by their ids. 27 to 58 are dates of East Asian languages. */
const BUILT_IN: Readonly<Record<number, NumberKind>> = {
  ...Object.fromEntries([14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 36].map((id) => [id, 'date'])),
  ...Object.fromEntries([50, 51, 52, 53, 54, 55, 56, 57, 58].map((id) => [id, 'date'])),
  ...Object.fromEntries([18, 19, 20, 21, 32, 33, 34, 35, 45, 47].map((id) => [id, 'time'])),
  46: 'elapsed',
};

/** Texts in quotes, escaped characters, fill characters, and everything in brackets but elapsed units. */
const LITERAL = /"[^"]*"|\\.|[_*].|\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi;
const ELAPSED = /\[(?:h+|m+|s+)\]/i;
const CLOCK = /[hs]|am\/pm|a\/p/i;
/** `e`, `g` and `b` are years of eras and of Buddhism. */
const CALENDAR = /[ydegb]/i;
const DIGIT = /[0#?]/;
const FRACTION_OF_SECONDS = /\.0+/g;
const GENERAL = /general|standard/gi;

/** How a cell shows its value. */
export interface CellFormat {
  kind: NumberKind;
  /** Whether it is one for texts: a value in it is a text, whatever it says. */
  isText: boolean;
  /** Whether it is one for numbers, unlike the general one. A text in it that is a number is one. */
  isNumber: boolean;
  /** Whether it shows decimals of numbers, or fractions of seconds. */
  hasFraction: boolean;
}

const TEXT_FORMAT = 49;
/** The format of cells without another one. */
export const GENERAL_FORMAT: CellFormat = { kind: 'number', isText: false, isNumber: false, hasFraction: false };
/** Formats with decimals that files do not define. */
const DECIMALS = new Set([2, 4, 7, 8, 10, 11, 39, 40, 43, 44, 48]);
const FRACTION = /[0#?]\.[0#?]|s\.0/i;

/** Returns a format by its id and, where the file defines it, its code. */
export function cellFormat(id: number, code: string | undefined): CellFormat {
  if (id === 0 || /^general$/i.test(code ?? '')) return GENERAL_FORMAT;
  const kind = numberKind(id, code);
  const isText = (code ?? (id === TEXT_FORMAT ? '@' : '')) === '@';
  return {
    kind,
    isText,
    isNumber: kind === 'number' && !isText,
    hasFraction: code === undefined ? DECIMALS.has(id) : FRACTION.test(code.replace(LITERAL, '').split(';')[0]!),
  };
}

/** Returns the kind of a format by its id and, where the file defines it, its code. */
export function numberKind(id: number, code: string | undefined): NumberKind {
  if (code === undefined) return BUILT_IN[id] ?? 'number';
  // The first section is for positive numbers.
  const [section = ''] = code.replace(LITERAL, '').replace(GENERAL, '').split(';');
  if (ELAPSED.test(section)) return 'elapsed';
  if (DIGIT.test(section.replace(FRACTION_OF_SECONDS, ''))) return 'number';
  if (CALENDAR.test(section)) return 'date';
  if (CLOCK.test(section)) return 'time';
  // Minutes have hours or seconds beside them: these are months.
  return /m/i.test(section) ? 'date' : 'number';
}
