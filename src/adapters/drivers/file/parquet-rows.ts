import { badInput } from '../../../core/errors.ts';
import { quoteName, quoteText, type DuckdbSession } from './duckdb-session.ts';
import { tableNames } from './file-config.ts';

/** Digits of the widest decimal that DuckDB reads rightly. */
const MAX_PRECISION = 38;

/**
 * Returns SQL of the rows of a Parquet file, with the names that the file states: repeated and empty ones get those that
 * they have in other formats. Throws BAD_USER_INPUT for decimals of more than 38 digits, whose values would be wrong.
 */
export async function parquetRows(session: DuckdbSession, path: string): Promise<string> {
  const from = `read_parquet(${quoteText(path)}, hive_partitioning = false)`;
  const elements = (
    await session.rows(`select name, coalesce(num_children, 0), precision from parquet_schema(${quoteText(path)})`)
  ).map(([name, children, precision]) => [String(name), Number(children), Number(precision ?? 0)] as const);
  const columns: string[] = [];
  const [root, ...rest] = elements;
  const left = [root?.[1] ?? 0];
  // Elements are listed depth first, each with the number of its children.
  for (const [name, children, precision] of rest) {
    while (left.at(-1) === 0) left.pop();
    if (left.length === 1) columns.push(name);
    if (precision > MAX_PRECISION)
      throw badInput(
        `The column ${JSON.stringify(columns.at(-1))} has decimals of ${precision} digits; at most ${MAX_PRECISION} are possible`,
      );
    left[left.length - 1]! -= 1;
    left.push(children);
  }
  const read = (await session.rows(`describe select * from ${from}`)).map(([name]) => String(name));
  if (read.length !== columns.length) return `select * from ${from}`;
  const names = tableNames(columns);
  return `select ${read.map((name, i) => `${quoteName(name)} as ${quoteName(names[i]!)}`).join(', ')} from ${from}`;
}
