import { quoteText } from './duckdb-session.ts';
import type { ValueReading } from './file-config.ts';
import { isValidIn } from './valid-times.ts';

/** Formats of dates, and of the times that can follow them, that are recognised. */
const DATE_FORMATS = ['%d.%m.%Y', '%m/%d/%Y', '%d/%m/%Y', '%m-%d-%Y', '%d-%m-%Y', '%Y/%m/%d'];
const TIME_FORMATS = ['', ' %H:%M', ' %H:%M:%S', ' %I:%M %p', ' %I:%M:%S %p'];
/** The texts that a part of these formats matches. `strptime` alone accepts years of two digits as `%Y`. */
const FORMAT_PARTS: Record<string, string> = {
  '%d': '[0-9]{1,2}',
  '%m': '[0-9]{1,2}',
  '%Y': '[0-9]{4}',
  '%H': '[0-9]{1,2}',
  '%I': '[0-9]{1,2}',
  '%M': '[0-9]{2}',
  '%S': '[0-9]{2}',
  '%p': '[AaPp][Mm]',
};
const TIME_PART = /%[HIMSpfgnXcT]/;
export const MIN_YEAR = 100;

/** Blanks and currency signs of numbers. */
export const SPACES = ' \u00a0\u202f';
export const SYMBOLS = '$€£¥';
/** Separators of thousands that can occur with a decimal point or comma, unless one is given. */
const THOUSANDS = { '.': `,'’${SPACES}`, ',': `.'’${SPACES}` };

type Decimal = keyof typeof THOUSANDS;

/** Returns the characters that separate thousands in a reading. */
const thousandsOf = ({ decimal, thousands }: ValueReading): string =>
  thousands === ' ' ? SPACES : (thousands ?? THOUSANDS[decimal as Decimal]);

/** Returns the pattern of a number: sign, currency, digits with or without separators of thousands, decimals, percent. */
export function numberPattern(reading: ValueReading): string {
  const separators = thousandsOf(reading).replace(/[\]\\^-]/g, String.raw`\$&`);
  const grouped = separators && `|[1-9][0-9]{0,2}(?:[${separators}][0-9]{3})+`;
  const symbol = `[${SYMBOLS}]`;
  const space = `[${SPACES}]?`;
  return (
    `(?:-?(?:${symbol}${space})?|${symbol}${space}-)` +
    `(?:(?:0|[1-9][0-9]*${grouped})(?:[${reading.decimal}][0-9]*)?|[${reading.decimal}][0-9]+)(?:[eE][-+]?[0-9]+|${space}[${SYMBOLS}%])?`
  );
}

/** Returns SQL that states whether a text is a number in a reading. */
export const isNumber = (text: string, reading: ValueReading): string =>
  `regexp_full_match(${text}, ${quoteText(numberPattern(reading))})`;

/** Returns SQL of the usual form of a number; a percentage is a hundredth. */
function usualNumber(text: string, reading: ValueReading): string {
  const bare = `translate(${text}, ${quoteText(`%${SYMBOLS}${SPACES}${thousandsOf(reading)}`)}, '')`;
  return `replace(${bare}, ${quoteText(reading.decimal!)}, '.') || case when ends_with(${text}, '%') then 'e-2' else '' end`;
}

/** Returns SQL of the usual form of a number. Any other text is an error that contains it. */
export const numberText = (text: string, reading: ValueReading): string =>
  numberOr(
    `error('"' || ${text} || ${quoteText(`" is not a number with the decimal separator "${reading.decimal}"`)})`,
    text,
    reading,
  );

/** Returns SQL of the usual form of a number, and other SQL for any other text. */
export const numberOr = (other: string, text: string, reading: ValueReading): string =>
  `case when ${text} is null then null when ${isNumber(text, reading)} then ${usualNumber(text, reading)} else ${other} end`;

/** Returns SQL of a time in a format of dates. A text in another format is null. */
export const timeIn = (text: string, format: string): string =>
  `cast(try_strptime(${text}, ${quoteText(format)}) as TIMESTAMP)`;

/** Returns the type of the values in a format of dates. */
export const typeOfFormat = (format: string): 'DATE' | 'TIMESTAMP' => (TIME_PART.test(format) ? 'TIMESTAMP' : 'DATE');

/** A possible reading: whether a sampled text has it, and SQL that states whether a text has it. */
export interface Candidate {
  reading: ValueReading;
  fits(value: string): boolean;
  check(text: string): string;
}

function dateCandidate(format: string, given: boolean): Candidate {
  const pattern = format.replace(/%[a-zA-Z]|[^%]/g, (part) => FORMAT_PARTS[part] ?? (part === ' ' ? ' ' : `[${part}]`));
  const valid = (text: string) =>
    `(${text} is null or (coalesce(year(${timeIn(text, format)}) >= ${MIN_YEAR}, false) and ${isValidIn(text, format)}))`;
  return {
    reading: { dateFormat: format },
    fits: (value) => given || new RegExp(`^(?:${pattern})$`).test(value),
    check: (text) => (given ? valid(text) : `regexp_full_match(${text}, ${quoteText(pattern)}) and ${valid(text)}`),
  };
}

/** Returns SQL that states whether a text is written in a format of dates as recognition demands it. */
export const isTimeIn = (text: string, format: string): string =>
  dateCandidate(format, !DATE_FORMATS.some((date) => TIME_FORMATS.some((time) => date + time === format))).check(text);

function numberCandidate(reading: ValueReading): Candidate {
  const pattern = new RegExp(`^(?:${numberPattern(reading)})$`);
  return { reading, fits: (value) => pattern.test(value), check: (text) => isNumber(text, reading) };
}

/** Returns the readings that are possible with the given one. */
export function candidatesWith({ decimal, thousands, dateFormat }: ValueReading): Candidate[] {
  const decimals = decimal ? [decimal] : (['.', ','] as const).filter((one) => one !== thousands);
  return [
    ...decimals.map((one) => numberCandidate({ decimal: one, ...(thousands === undefined ? {} : { thousands }) })),
    ...(dateFormat !== undefined
      ? [dateCandidate(dateFormat, true)]
      : DATE_FORMATS.flatMap((date) => TIME_FORMATS.map((time) => dateCandidate(date + time, false)))),
  ];
}
