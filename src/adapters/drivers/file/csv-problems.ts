import type { FileProblem } from '../../../core/row-source.ts';
import type { CsvRecord } from './csv-records.ts';
import type { DividedTable, FoundTable } from './csv-table.ts';

/** Share of the records that a delimiter divides into as many values. */
const MOST = 0.8;
const NAMES: Record<string, string> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'pipe' };

/** Returns the lines before the table, which are left out. */
export const noteProblems = ({ notes: [first] }: FoundTable): FileProblem[] =>
  first === undefined
    ? []
    : [{ line: first.line, message: 'The lines before the table are left out. Set skip to 0 if they belong to it' }];

/** Returns the comments between the records, which are left out. */
export const commentProblem = ({ prefix, line }: NonNullable<FoundTable['remark']>): FileProblem => ({
  line,
  message: `Lines that begin with ${JSON.stringify(prefix)} are left out as comments. Set comment to "" if they are records`,
});

/** Returns a first record that is read as names, and may be values. */
export const headerProblem = ({ line }: Pick<CsvRecord, 'line'>): FileProblem => ({
  line,
  message: 'The first record is read as the names of the columns. Set header to false if it is a row',
});

/** Returns a delimiter that divides most records, although the file is read as one column. */
export function undividedProblems(tables: readonly DividedTable[]): FileProblem[] {
  for (const { delimiter, records } of tables) {
    const widths = records.map(({ values }) => values.length);
    const width = widths.at(-1) ?? 1;
    const first = records[widths.indexOf(width)];
    if (width > 1 && widths.filter((one) => one === width).length >= MOST * widths.length)
      return [
        {
          line: first!.line,
          message:
            `The lines are read as one column, but most have ${width} values divided by a ${NAMES[delimiter]!}. ` +
            'Set delimiter, and skip if lines precede the table',
        },
      ];
  }
  return [];
}
