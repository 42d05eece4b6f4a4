import type { FileProblem } from '../../../core/row-source.ts';
import { lineAt, MAX_RECORD_BYTES, recordsIn } from './csv-scan.ts';
import type { CsvSource } from './csv-source.ts';
import type { DuckdbSession } from './duckdb-session.ts';
import { chunksOf } from './text-file.ts';

const LF = 10;
const CR = 13;

/**
 * Returns the first record of several lines in a file whose lines all have as many values as a record: its quotes may
 * be signs of texts, as of inches. `from` is the table in SQL.
 */
export async function quoteProblems(
  session: DuckdbSession,
  from: string,
  { original, dialect, lineEnd }: CsvSource,
): Promise<FileProblem[]> {
  const { quote, header, names } = dialect;
  if (quote === '' || names.length < 2 || lineEnd === '\r') return [];
  const lines = countEvenLines(original, dialect);
  if (lines === undefined) return [];
  const [counted] = await session.rows(`select count(*) from ${from}`);
  if (lines <= Number(counted![0]) + (header ? 1 : 0)) return [];
  for (const { bytes, isSkipped, offset } of recordsIn(original, dialect))
    if (!isSkipped && bytes.includes(LF))
      return [
        {
          line: lineAt(original, offset),
          message:
            'The record has several lines, because a value begins with a quote, and each line has as many values as a ' +
            'record. Set quote to "" if values are not quoted',
        },
      ];
  return [];
}

/**
 * Returns the number of lines of a file with quotes, without skipped and blank ones and comments. Undefined if one has
 * not as many values as there are names, apart from quotes, or if the file has no quotes.
 */
function countEvenLines(
  path: string,
  { delimiter, quote, skip, comment, names }: CsvSource['dialect'],
): number | undefined {
  let [seen, lines, hasQuotes] = [0, 0, false];
  let rest: Buffer = Buffer.alloc(0);
  const isEven = (line: Buffer): boolean => {
    seen += 1;
    const end = line.at(-1) === CR ? line.length - 1 : line.length;
    if (seen <= skip || end === 0 || (comment && line.indexOf(comment) === 0)) return true;
    lines += 1;
    let width = 1;
    for (let at = line.indexOf(delimiter); at >= 0 && width <= names.length; at = line.indexOf(delimiter, at + 1))
      width += 1;
    return width === names.length;
  };
  for (const chunk of chunksOf(path)) {
    hasQuotes ||= chunk.includes(quote);
    const bytes: Buffer = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let start = 0;
    for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, start)) {
      if (!isEven(bytes.subarray(start, at))) return undefined;
      start = at + 1;
    }
    rest = Buffer.from(bytes.subarray(start));
    if (rest.length > MAX_RECORD_BYTES) return undefined;
  }
  return hasQuotes && isEven(rest) ? lines : undefined;
}
