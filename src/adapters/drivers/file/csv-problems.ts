import type { FileProblem } from '../../../core/row-source.ts';
import { MOST } from './csv-delimiter.ts';
import type { CsvRecord } from './csv-records.ts';
import { lineAt } from './csv-scan.ts';
import type { CsvSource } from './csv-source.ts';
import type { DividedTable, FoundTable } from './csv-table.ts';

const NAMES: Record<string, string> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'pipe' };

/** Returns the lines before the table, which are left out. */
export const noteProblems = ({ notes: [first] }: FoundTable): FileProblem[] =>
  first === undefined
    ? []
    : [{ line: first.line, message: 'The lines before the table are left out. Set skip to 0 if they belong to it' }];

/** Returns the comments between the records of a file, which are left out. */
export function commentProblems({ original, dialect: { comment }, comments }: CsvSource): FileProblem[] {
  if (!comments) return [];
  const { offset, count: lines } = comments;
  const prefix = JSON.stringify(comment);
  const message =
    lines === 1
      ? `1 line that begins with ${prefix} and is not divided like the records is left out as a comment. ` +
        'Set comment to "" if it is a record'
      : `${lines} lines that begin with ${prefix} and are not divided like the records are left out as comments. ` +
        'Set comment to "" if they are records';
  return [{ line: lineAt(original, offset), message }];
}

/** Returns the records with escape characters that escape no quote, which are kept as they are. */
export function escapeProblems({ original, escape, keptEscapes }: CsvSource): FileProblem[] {
  if (!keptEscapes) return [];
  const { offset, count } = keptEscapes;
  const records = count === 1 ? '1 record has' : `${count} records have`;
  const message =
    `${records} values in quotes with ${escape} before other characters than a quote, e.g. ${escape}n: both characters are ` +
    'kept. If they stand for another one, replace them in the file or by a query';
  return [{ line: lineAt(original, offset), message }];
}

/** Returns a first record that is read as names, and may be values. */
export const headerProblem = ({ line }: Pick<CsvRecord, 'line'>): FileProblem => ({
  line,
  message: 'The first record is read as the names of the columns. Set header to false if it is a row',
});

/** Returns a record of texts between the names and numbers or dates. It turns their columns into texts. */
export const secondNamesProblem = ({ line }: Pick<CsvRecord, 'line'>): FileProblem => ({
  line,
  message:
    'The record below the names has texts above numbers or dates, so these columns are text. ' +
    `Set skip to ${line - 1} if it contains the names, or remove it from the file if it has units or further names`,
});

/** Characters, alone or repeated, that texts rarely have: controls, and signs that do not belong to a language. */
const ODD = /[\x01-\x08\x0e-\x1f^~¦§¬¤¶]+|([!#$%&*+:;<>?@\\|])(?:\1|[^\w\s"']\1)+/g;
/** A value between two delimiters that is a part of a longer one. Empty columns between commas or tabs are usual. */
const PART = /^[^\w\s"']$/;
const REPEATED = '|;';
/** Parts of a delimiter of several characters at the beginning and the end of all values. */
const AFFIX = /[~^|;:,§¦¤¶¬]/;

/** Returns what is doubtful about the delimiter of a table that was recognised among others. */
export function delimiterProblems(
  table: DividedTable,
  tables: readonly DividedTable[],
  doubts: readonly DividedTable[],
): FileProblem[] {
  if (table.width > 1) {
    const long = longDelimiterProblems(table);
    return long.length > 0 ? long : doubts.slice(0, 1).map((other) => doubtProblem(table, other));
  }
  const undivided = undividedProblems(tables);
  if (undivided.length > 0) return undivided;
  const odd = oddProblems(table);
  return odd.length > 0 ? odd : fixedWidthProblems(table);
}

/** Lines that show columns of fixed width. */
const FIXED_LINES = 3;

/** Returns a table whose lines are divided by blanks at the same positions. */
function fixedWidthProblems({ records }: DividedTable): FileProblem[] {
  const lines = records.map(({ raw }) => raw.trimEnd());
  const width = Math.max(0, ...lines.map(({ length }) => length));
  const isBlank = (at: number) => lines.every((line) => (line[at] ?? ' ') === ' ');
  const gaps = Array.from({ length: width }, (_, at) => at).filter(
    (at) => isBlank(at) && lines.some((line) => line[at + 1] !== undefined && line[at + 1] !== ' '),
  );
  // The values on both sides of a gap are there in most lines.
  const isGap = (at: number) =>
    lines.filter((line) => line.slice(0, at).trim() !== '' && line.slice(at).trim() !== '').length >=
    MOST * lines.length;
  const hasBlanks = lines.some((line) => /\S {2,}\S/.test(line));
  if (lines.length < FIXED_LINES || !hasBlanks || !gaps.some(isGap)) return [];
  return [
    {
      line: records[0]!.line,
      message:
        'The lines are read as one column, but seem to have columns of fixed width, with blanks at the same positions. ' +
        'Write a delimiter between the values',
    },
  ];
}

const nameOf = (delimiter: string): string => NAMES[delimiter] ?? JSON.stringify(delimiter);

const doubtProblem = ({ delimiter, records }: DividedTable, other: DividedTable): FileProblem => ({
  line: records[0]!.line,
  message:
    `The values are read as divided by a ${nameOf(delimiter)}, but a ${nameOf(other.delimiter)} could divide them as well. ` +
    'Set delimiter if the columns are wrong',
});

/** Returns a delimiter of several characters, such as `||` and `|~|`: every second value is what they have between them. */
function longDelimiterProblems({ delimiter, records, width }: DividedTable): FileProblem[] {
  if (records.length < 2) return [];
  const [before, after] = [affixOf(records, 'end'), affixOf(records, 'start')];
  if (before + after !== '') return [longDelimiter(records[0]!.line, `${before}${delimiter}${after}`)];
  const part = records[0]!.values[1]!;
  const isPart = part === '' ? REPEATED.includes(delimiter) : PART.test(part);
  if (width % 2 === 0 || !isPart) return [];
  if (!records.every(({ values }) => values.every((value, i) => i % 2 === 0 || value === part))) return [];
  return [longDelimiter(records[0]!.line, `${delimiter}${part}${delimiter}`)];
}

/** Returns the sign before or after each delimiter; empty if it is not always the same. */
function affixOf(records: readonly CsvRecord[], side: 'start' | 'end'): string {
  const signs = new Set(
    records.flatMap(({ values }) =>
      side === 'end' ? values.slice(0, -1).map((value) => value.at(-1)) : values.slice(1).map((value) => value[0]),
    ),
  );
  const [sign] = signs;
  return signs.size === 1 && sign !== undefined && AFFIX.test(sign) ? sign : '';
}

const longDelimiter = (line: number, delimiter: string): FileProblem => ({
  line,
  message:
    `The values seem to be divided by ${JSON.stringify(delimiter)}, but a delimiter has one character. ` +
    'Replace it in the file',
});

/** Returns characters that could divide the lines of a table of one column: every line has the same number of them. */
function oddProblems({ records: [first, ...rest] }: DividedTable): FileProblem[] {
  const countIn = ({ raw }: CsvRecord, characters: string) => raw.split(characters).length - 1;
  const odd = rest.length > 0 ? new Set(first!.raw.match(ODD)) : [];
  for (const characters of odd) {
    const count = countIn(first!, characters);
    if (!rest.every((record) => countIn(record, characters) === count)) continue;
    if (characters.length > 1) return [longDelimiter(first!.line, characters)];
    const shown = JSON.stringify(characters);
    return [
      {
        line: first!.line,
        message:
          `The lines are read as one column, but each has ${shown} ${count === 1 ? 'once' : `${count} times`}. ` +
          'Set delimiter if it divides values',
      },
    ];
  }
  return [];
}

/** Returns a delimiter that divides most records, although the file is read as one column. */
function undividedProblems(tables: readonly DividedTable[]): FileProblem[] {
  for (const { delimiter, records } of tables) {
    const widths = records.map(({ values }) => values.length);
    const width = widths.at(-1) ?? 1;
    const first = records[widths.indexOf(width)];
    if (width > 1 && widths.filter((one) => one === width).length >= MOST * widths.length)
      return [
        {
          line: first!.line,
          message:
            `The lines are read as one column, but most have ${width} values divided by a ${nameOf(delimiter)}. ` +
            'Set delimiter, and skip if lines precede the table',
        },
      ];
  }
  return [];
}
