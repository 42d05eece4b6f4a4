import { badInput } from '../../../core/errors.ts';
import { DECIMAL_COLUMNS } from '../../../core/export-format.ts';
import { quoteName, quoteText, type DuckdbSession } from './duckdb-session.ts';
import { tableNames } from './file-config.ts';

/** Digits of the widest decimal that DuckDB reads rightly. */
const MAX_PRECISION = 38;
const DECIMAL_TYPE = /^DECIMAL\(\d{1,2},\d{1,2}\)$/;

/**
 * Returns SQL of the rows of a Parquet file, with the names that the file states: repeated and empty ones get those that
 * they have in other formats. Throws BAD_USER_INPUT for decimals of more than 38 digits, whose values would be wrong.
 */
export async function parquetRows(session: DuckdbSession, path: string): Promise<string> {
  const from = `read_parquet(${quoteText(path)}, hive_partitioning = false)`;
  // The client of DuckDB removes a byte order mark at the beginning of a text.
  const elements = (
    await session.rows(
      `select '.' || name, coalesce(num_children, 0), precision from parquet_schema(${quoteText(path)})`,
    )
  ).map(([name, children, precision]) => [String(name).slice(1), Number(children), Number(precision ?? 0)] as const);
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
  const decimals = await decimalColumns(session, path);
  const read = await session.rows(`describe select * from ${from}`);
  if (read.length !== columns.length) return `select * from ${from}`;
  const names = tableNames(columns);
  const selected = columns.map((column, i) => {
    const type = decimals.get(column);
    return `${type ? `cast(c${i} as ${type})` : `c${i}`} as ${quoteName(names[i]!)}`;
  });
  return `select ${selected.join(', ')} from ${from} as rows(${columns.map((_, i) => `c${i}`).join(', ')})`;
}

/** Returns the types of columns whose texts are decimals, as an export of this service states them. */
async function decimalColumns(session: DuckdbSession, path: string): Promise<Map<string, string>> {
  const [stated] = await session.rows(
    `select decode(value) from parquet_kv_metadata(${quoteText(path)}) where key = ${quoteText(DECIMAL_COLUMNS)}::BLOB`,
  );
  if (!stated) return new Map();
  try {
    const types = new Map(JSON.parse(String(stated[0])) as [string, string][]);
    return new Map([...types].filter(([, type]) => DECIMAL_TYPE.test(type)));
  } catch {
    return new Map();
  }
}
