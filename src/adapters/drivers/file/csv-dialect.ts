import type { FileProblem } from '../../../core/row-source.ts';
import { commentProblem, headerProblem, noteProblems, undividedProblems } from './csv-problems.ts';
import { countLineEnds, recordsOf, type CsvMarks, type CsvRecord } from './csv-records.ts';
import { findTable, tableFrom, type DividedTable, type FoundTable } from './csv-table.ts';
import { tableNames, type FileConfig } from './file-config.ts';
import { headOf } from './file-head.ts';
import { guessHeader, textCell } from './header-rule.ts';

const DELIMITERS = [',', ';', '\t', '|'];
/** Excel's statement of the delimiter, in the first line. */
const STATEMENT = /^"?sep=([^\r\n"])\1*"?(?:\r\n|\n|\r)/i;

/** The dialect of a CSV file. `names` are its columns in the table `data`. */
export interface CsvDialect extends CsvMarks {
  /** Number of lines before the first record. */
  skip: number;
  header: boolean;
  /** Beginning of lines that are comments. */
  comment?: string;
  names: string[];
}

/** A dialect that was recognised, and what is doubtful about it. */
interface SniffedDialect extends CsvDialect {
  problems: FileProblem[];
}

/** The parts of a dialect that are configured. */
type Given = Partial<Omit<CsvDialect, 'names'>> & { ragged?: boolean };

/**
 * Returns the possible dialects of a CSV file, the most likely first, from its beginning. The delimiter is the one
 * that divides the records of the table most evenly (csv-table.ts); header-rule.ts decides whether the first one
 * contains the names. `whole` states whether `text` is the whole file, so that its last record is complete.
 */
export function sniffCsv(text: string, whole: boolean, given: Given = {}): SniffedDialect[] {
  const quote = given.quote ?? '"';
  const statement = given.skip === undefined ? STATEMENT.exec(text) : null;
  const stated = statement && (given.delimiter ?? statement[1]) === statement[1] ? statement : undefined;
  const lines = given.skip ?? (stated ? 1 : 0);
  const below = stated ? text.slice(stated[0].length) : afterLines(text, lines);
  const delimiters = [given.delimiter ?? stated?.[1] ?? DELIMITERS].flat();
  const escapes =
    given.escape !== undefined ? [given.escape] : quote && text.includes(`\\${quote}`) ? [quote, '\\'] : [quote];
  return escapes.map((escape) => {
    const tables = delimiters.map((delimiter) => {
      const records = recordsOf(below, { delimiter, quote, escape }, whole, lines + 1);
      return { delimiter, ...tableIn(records, given) };
    });
    const table = likeliest(tables);
    const { records, remark } = table;
    const first = records[0]?.values ?? [];
    const guess = guessHeader(records.map(({ values }) => values.map(textCell)));
    const header = given.header ?? guess.header;
    const width = given.ragged ? Math.max(0, ...records.map(({ values }) => values.length)) : first.length;
    const names = Array.from({ length: width }, (_, i) => (header ? (first[i] ?? '') : ''));
    const skip = given.skip ?? (records[0] ? records[0].line - 1 : lines + countLineEnds(below));
    const comment = given.comment ?? remark?.prefix;
    const problems = [
      ...noteProblems(table),
      ...(remark ? [commentProblem(remark)] : []),
      ...(given.delimiter === undefined && table.width === 1 ? undividedProblems(tables) : []),
      ...(given.header === undefined && !guess.certain ? [headerProblem(records[0]!)] : []),
    ];
    return {
      delimiter: table.delimiter,
      quote,
      escape,
      skip,
      header,
      ...(comment === undefined ? {} : { comment }),
      names: tableNames(names),
      problems,
    };
  });
}

/** Returns the dialect, where configuration precedes recognition. */
export function dialectOf(path: string, config: FileConfig): CsvDialect {
  const { delimiter, quote, escape, skip, header, comment, columns } = config;
  if (delimiter !== undefined && header !== undefined && skip !== undefined && columns)
    return {
      delimiter,
      quote: quote ?? '"',
      escape: escape ?? quote ?? '"',
      skip,
      header,
      ...(comment === undefined ? {} : { comment }),
      names: columns.map(({ name }) => name),
    };
  const { text, whole } = headOf(path);
  const [sniffed] = sniffCsv(text, whole, config);
  return sniffed!;
}

/** Returns the table in the records, as far as it is not given. */
function tableIn(records: CsvRecord[], { skip, comment, ragged }: Given): FoundTable {
  const bare = comment ? records.filter(({ raw }) => !raw.startsWith(comment)) : records;
  return skip === undefined && !ragged ? findTable(bare, comment === undefined) : tableFrom(bare, 0);
}

const LINE_END = /\r\n|\n|\r/g;

/** Returns the text after a number of lines. */
function afterLines(text: string, lines: number): string {
  let at = 0;
  for (let n = 0; n < lines; n++) {
    LINE_END.lastIndex = at;
    if (!LINE_END.test(text)) return '';
    at = LINE_END.lastIndex;
  }
  return text.slice(at);
}

function likeliest(tables: DividedTable[]): DividedTable {
  const divided = tables
    .filter(({ width }) => width > 1)
    .sort((a, b) => b.even - a.even || a.notes.length - b.notes.length || b.width - a.width);
  // One column: the first delimiter that divides nothing.
  return divided[0] ?? tables.find(({ even }) => even === 1) ?? tables[0]!;
}
