import { badInput } from '../../../core/errors.ts';
import { withoutBlanks } from './blanks.ts';
import { significant } from './column-types.ts';
import type { CsvDialect } from './csv-dialect.ts';
import { lineAt, recordsIn } from './csv-scan.ts';
import type { DuckdbSession } from './duckdb-session.ts';
import type { FileColumn, FileConfig } from './file-config.ts';
import { valueOf, withoutWords, type TextTable } from './typed-columns.ts';

const MAX_SHOWN = 100;
const SCALE = /^DECIMAL\(\d+,(\d+)\)$/;

/** The first value of a table that is not of the type declared for its column. `record` counts from 1. */
interface Misfit {
  record: number;
  column: FileColumn;
  value: string;
}

/**
 * Returns the first value that does not fit the declared type of its column, or would change with it: a fraction in a
 * `BIGINT`, too many decimals, more digits than a `DOUBLE` has, a time of day in a `DATE`. Reads the whole table.
 */
async function findMisfit(
  session: DuckdbSession,
  { from, columns }: TextTable,
  config: FileConfig,
): Promise<Misfit | undefined> {
  const declared = config.columns!;
  const typed = declared.flatMap(({ type }, i) => (type === 'VARCHAR' ? [] : [i]));
  if (typed.length === 0) return undefined;
  const firsts = typed.map((i) => {
    const { text } = columns[i]!;
    const { trim, nullValues } = declared[i]!;
    const given = withoutWords(trim ? withoutBlanks(text) : text, nullValues);
    const value = valueOf(columns[i]!, declared[i]!, config, true);
    return `min(n) filter (${given} is not null and (try(${value}) is null or ${changes(given, declared[i]!, config)}))`;
  });
  const source = `(select row_number() over () as n, * from ${from})`;
  const [found] = await session.rows(`select ${firsts.join(', ')} from ${source}`);
  const records = found!.map((record) => (record === null ? Infinity : Number(record)));
  const record = Math.min(...records);
  if (record === Infinity) return undefined;
  const i = typed[records.indexOf(record)]!;
  const [row] = await session.rows(`select ${columns[i]!.text} from ${source} where n = ${record}`);
  return { record, column: declared[i]!, value: String(row![0]) };
}

/** Returns SQL that states whether a text changes in its type. */
function changes(text: string, column: FileColumn, config: FileConfig): string {
  const { type } = column;
  if ((column.decimal ?? column.thousands ?? column.dateFormat ?? config.decimal ?? config.thousands) !== undefined)
    return 'false';
  const scale = SCALE.exec(type)?.[1];
  if (scale !== undefined)
    return `(not contains(lower(${text}), 'e') and strlen(rtrim(split_part(trim(${text}), '.', 2), '0')) > ${scale})`;
  if (/^U?BIGINT$/.test(type))
    return `coalesce(try_cast(${text} as DOUBLE) <> floor(try_cast(${text} as DOUBLE)), false)`;
  if (type === 'DOUBLE') return roundsDigits(text);
  if (type === 'DATE') return `coalesce(try_cast(${text} as TIMESTAMP) <> try_cast(${text} as DATE), false)`;
  return 'false';
}

/** Digits of a decimal that every double has. */
const DOUBLE_DIGITS = 15;

/** Returns SQL that states whether a double has other digits than a text, as it is printed in the shortest form and with 17. */
function roundsDigits(text: string): string {
  const double = `try_cast(${text} as DOUBLE)`;
  const printed = [`cast(${double} as VARCHAR)`, `format('{:.16e}', ${double})`].map(significant);
  return `coalesce(strlen(${significant(text)}) > ${DOUBLE_DIGITS} and ${significant(text)} not in (${printed.join(', ')}), false)`;
}

/** Throws BAD_USER_INPUT with line and column of the first value of a CSV file that does not fit its declared type. */
export async function checkDeclaredTypes(
  session: DuckdbSession,
  table: TextTable,
  path: string,
  dialect: CsvDialect,
  config: FileConfig,
): Promise<void> {
  const misfit = await findMisfit(session, table, config);
  if (!misfit) return;
  const { record, column, value } = misfit;
  const shown = value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value;
  throw badInput(
    `Line ${lineOf(path, dialect, record)} of the file, column ${JSON.stringify(column.name)}: ` +
      `${JSON.stringify(shown)} is not a ${column.type}. Change its type, trim or nullValues in columns`,
  );
}

/** Returns the line of a record below the names. */
function lineOf(path: string, dialect: CsvDialect, record: number): number {
  let left = record + (dialect.header ? 1 : 0);
  for (const { bytes, isSkipped, offset } of recordsIn(path, dialect)) {
    if (isSkipped || (bytes.length === 0 && dialect.names.length > 1)) continue;
    left -= 1;
    if (left === 0) return lineAt(path, offset);
  }
  return 1;
}
