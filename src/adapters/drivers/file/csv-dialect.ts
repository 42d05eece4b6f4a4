import type { FileProblem } from '../../../core/row-source.ts';
import { likeliestTable } from './csv-delimiter.ts';
import { delimiterProblems, headerProblem, noteProblems, secondNamesProblem } from './csv-problems.ts';
import { countLineEnds, recordsOf, type CsvMarks, type CsvRecord } from './csv-records.ts';
import { COMMENTS, findTable, tableFrom, type DividedTable, type FoundTable } from './csv-table.ts';
import { renamedProblems, tableNames, type FileConfig } from './file-config.ts';
import { headOf } from './file-head.ts';
import { guessHeader, hasSecondNames, textCell } from './header-rule.ts';

const DELIMITERS = [',', ';', '\t', '|'];
/** Delimiters only of files that they clearly divide. 0x1F is the unit separator. */
const RARE_DELIMITERS = ['\x1f', '^', '~'];
/** Excel's statement of the delimiter, in the first line. */
const STATEMENT = /^"?sep=([^\r\n"])\1*"?(?:\r\n|\n|\r)/i;

/** The dialect of a CSV file. `names` are its columns in the table `data`. */
export interface CsvDialect extends CsvMarks {
  /** Number of lines before the first record. */
  skip: number;
  header: boolean;
  /** Beginning of lines that are comments. */
  comment?: string;
  /** Whether lines that begin like comments are records if they have as many values as there are names. */
  markedRecords?: boolean;
  names: string[];
}

/** A dialect that was recognised, and its doubtful points. */
interface SniffedDialect extends CsvDialect {
  problems: FileProblem[];
}

/** The parts of a dialect that are configured. */
type Given = Partial<Omit<CsvDialect, 'names'>> & Pick<FileConfig, 'ragged' | 'columns'>;

/**
 * Returns the possible dialects of a CSV file, the most likely first, from its beginning. csv-delimiter.ts chooses the
 * delimiter by the tables that each gives (csv-table.ts); header-rule.ts decides whether the first one
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
    const tableBy = (delimiter: string): DividedTable => {
      const records = recordsOf(below, { delimiter, quote, escape }, whole, lines + 1);
      return { delimiter, ...tableIn(records, given) };
    };
    const tables = delimiters.map(tableBy);
    const { table: usual, doubts } = likeliestTable(tables, quote);
    const isCertain = delimiters.length === 1 || (usual.width > 1 && usual.even === 1 && usual.notes.length === 0);
    const table = (isCertain ? undefined : RARE_DELIMITERS.map(tableBy).find(isWellDivided)) ?? usual;
    const { records, prefix } = table;
    const first = records[0]?.values ?? [];
    const cells = records.map(({ values }) => values.map(textCell));
    const guess = guessHeader(cells);
    const header = given.header ?? guess.header;
    const width = given.ragged ? Math.max(0, ...records.map(({ values }) => values.length)) : first.length;
    const names = Array.from({ length: width }, (_, i) => (header ? (first[i] ?? '') : ''));
    const unique = tableNames(names);
    const skip = given.skip ?? (records[0] ? records[0].line - 1 : lines + countLineEnds(below));
    const comment = given.comment ?? prefix;
    const markedRecords = given.comment === undefined && prefix !== undefined ? true : given.markedRecords;
    const problems = [
      ...noteProblems(table),
      ...(delimiters.length > 1 ? delimiterProblems(table, tables, table === usual ? doubts : []) : []),
      ...(given.header === undefined && !guess.certain ? [headerProblem(records[0]!)] : []),
      ...(header && !given.columns && hasSecondNames(cells) ? [secondNamesProblem(records[1]!)] : []),
      ...(given.columns ? [] : renamedProblems(names, unique)),
    ];
    return {
      delimiter: table.delimiter,
      quote,
      escape,
      skip,
      header,
      ...(comment === undefined ? {} : { comment }),
      ...(markedRecords === undefined ? {} : { markedRecords }),
      names: unique,
      problems,
    };
  });
}

/** Returns the dialect, where configuration precedes recognition. */
export function dialectOf(path: string, config: FileConfig): CsvDialect {
  const { delimiter, quote, escape, skip, header, comment, markedRecords, columns } = config;
  if (delimiter !== undefined && header !== undefined && skip !== undefined && columns)
    return {
      delimiter,
      quote: quote ?? '"',
      escape: escape ?? quote ?? '"',
      skip,
      header,
      ...(comment === undefined ? {} : { comment }),
      ...(markedRecords === undefined ? {} : { markedRecords }),
      names: columns.map(({ name }) => name),
    };
  const { text, whole } = headOf(path);
  const [sniffed] = sniffCsv(text, whole, config);
  return sniffed!;
}

/** Returns the table in the records, except its given parts. */
function tableIn(records: CsvRecord[], { skip, comment, markedRecords, ragged }: Given): FoundTable {
  const isBare = ({ raw }: CsvRecord) => !comment || !raw.startsWith(comment);
  const width = markedRecords ? (records.find(isBare) ?? records[0])?.values.length : undefined;
  const bare = records.filter((record) => isBare(record) || record.values.length === width);
  return skip === undefined && !ragged ? findTable(bare, comment === undefined ? COMMENTS : []) : tableFrom(bare, 0);
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

/** Whether all records have the same number of values, two or more, and the first record names or has them all. */
const isWellDivided = ({ width, even, notes, records: [first, ...rest] }: DividedTable): boolean =>
  width > 1 &&
  even === 1 &&
  notes.length === 0 &&
  rest.length > 0 &&
  first!.values.every((value) => value.trim() !== '');
