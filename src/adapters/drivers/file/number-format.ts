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
const LITERAL = /"[^"]*"|\\.|[_*].|\[(?!(?:h+|m+|s+)\])[^[\]]*\]/gi;
/** The values that a section is for, as in `[>=1]`. */
const CONDITION = /^\[(<=|>=|<>|<|>|=)\s*([-+]?[\d.]+(?:e[-+]?\d+)?)\s*\]$/i;
/** Operators of conditions that are for a range of values. */
const RANGES: Readonly<Record<string, (value: number, limit: number) => boolean>> = {
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
  '<>': (value, limit) => value !== limit,
};
const ELAPSED = /\[(?:h+|m+|s+)\]/i;
const CLOCK = /[hs]|am\/pm|a\/p/i;
/** `e`, `g` and `b` are years of eras and of Buddhism, `aaa` and `aaaa` days of the week. */
const CALENDAR = /[ydegb]|aaa/i;
const DIGIT = /[0#?]/;
const FRACTION_OF_SECONDS = /\.0+/g;
const GENERAL = /general|standard/gi;

/** How a cell shows its value. */
export interface CellFormat {
  kind: NumberKind;
  /** Whether it is a format for texts: a value in it is a text, whatever it looks like. */
  isText: boolean;
  /** Whether it is a format for numbers, unlike the general one. A text in it that looks like a number is a number. */
  isNumber: boolean;
  /** Whether it shows decimals of numbers, or fractions of seconds. */
  hasFraction: boolean;
  /** Number of digits that it shows at least, with zeros before the number. */
  digits?: number;
  /** Its sections, if they show numbers in different ways. */
  sections?: readonly Section[];
}

/** A section of a format: the values that it is for, and how it shows them. */
interface Section {
  isFor(value: number): boolean;
  /** Whether it shows the value, and not a text instead. */
  isShown: boolean;
  kind: NumberKind;
  hasFraction: boolean;
  digits: number;
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
  const sections = code === undefined ? [] : sectionsOf(code);
  const { kind, hasFraction, digits } = code === undefined ? builtIn(id) : usualOf(sections);
  const isText = (code ?? (id === TEXT_FORMAT ? '@' : '')) === '@';
  const differ = sections.some(
    (section) => section.kind !== kind || section.hasFraction !== hasFraction || section.digits !== digits,
  );
  return { kind, isText, isNumber: kind === 'number' && !isText, hasFraction, digits, ...(differ && { sections }) };
}

const builtIn = (id: number) => ({
  kind: BUILT_IN[id] ?? ('number' as const),
  hasFraction: DECIMALS.has(id),
  digits: 0,
});

/** Returns how a format shows a number: by the first of its sections for it that shows the value. */
export function formatFor(format: CellFormat, value: number): Pick<CellFormat, 'kind' | 'hasFraction' | 'digits'> {
  const section = format.sections?.find(({ isFor }) => isFor(value));
  return section?.isShown ? section : format;
}

/** Returns the section for positive numbers: the first one that shows the value, and is not for one value alone. */
const usualOf = (sections: readonly Section[]): Pick<Section, 'kind' | 'hasFraction' | 'digits'> =>
  sections.find(({ isShown }) => isShown) ?? { kind: 'number', hasFraction: false, digits: 0 };

/**
 * Returns the sections of a format for numbers. Without conditions they are for positive and negative numbers and zero. One
 * for a single value, as in `[=0]"";dd/mm/yyyy`, does not show what kind of value it is.
 */
function sectionsOf(code: string): Section[] {
  const marks: string[] = [];
  const plain = code.replace(LITERAL, (text) => (CONDITION.test(text) ? `\0${marks.push(text) - 1}\0` : ''));
  const parts = plain.split(';').slice(0, MAX_SECTIONS);
  return parts.map((part, i) => {
    const [, operator, limit] = CONDITION.exec(marks[Number(/\0(\d+)\0/.exec(part)?.[1])] ?? '') ?? [];
    const shown = part.replace(/\0\d+\0/g, '');
    const compare = RANGES[operator ?? ''];
    return {
      isFor: (value) =>
        compare
          ? compare(value, Number(limit))
          : operator === '='
            ? value === Number(limit)
            : isUsuallyFor(i, parts.length, value),
      isShown: operator !== '=' && TOKENS.test(shown),
      kind: kindOf(shown),
      hasFraction: FRACTION.test(shown),
      digits: /^[^.eE/]*/.exec(shown)![0].match(/0/g)?.length ?? 0,
    };
  });
}

/** Sections for numbers; a fourth one is for texts. */
const MAX_SECTIONS = 3;
/** Parts of a format that show the value. */
const TOKENS = /[0#?yademgbhs]|general|standard/i;

/** Whether a section without a condition is for a value. */
function isUsuallyFor(position: number, sections: number, value: number): boolean {
  if (position === sections - 1) return true;
  if (position === 1) return value < 0;
  return sections === 2 ? value >= 0 : value > 0;
}

/** Returns the kind of a section without literals. */
function kindOf(text: string): NumberKind {
  const section = text.replace(GENERAL, '');
  if (ELAPSED.test(section)) return 'elapsed';
  if (DIGIT.test(section.replace(FRACTION_OF_SECONDS, ''))) return 'number';
  if (CALENDAR.test(section)) return 'date';
  if (CLOCK.test(section)) return 'time';
  // Minutes occur together with hours or seconds: these are months.
  return /m/i.test(section) ? 'date' : 'number';
}
