import { badInput } from '../../../core/errors.ts';
import { MAX_DECIMAL_DIGITS } from '../../../core/exact-number.ts';
import { DECIMAL_COLUMNS } from '../../../core/export-format.ts';
import type { FileProblem } from '../../../core/row-source.ts';
import { attempt, quoteName, quoteText, type DuckdbSession } from './duckdb-session.ts';
import { renamedProblems, tableNames } from './file-config.ts';
import { renamedParts } from './parquet-parts.ts';

const DECIMAL_TYPE = /^DECIMAL\(\d{1,2},\d{1,2}\)$/;

/**
 * Returns SQL of the rows of a Parquet file, with the names that the file states: repeated and empty names are replaced
 * as in other formats. Parts of structs that have other names are problems. Throws BAD_USER_INPUT for decimals of more
 * than 38 digits, whose values would be wrong.
 */
export async function parquetRows(
  session: DuckdbSession,
  path: string,
): Promise<{ rows: string; problems: FileProblem[] }> {
  const from = `read_parquet(${quoteText(path)}, hive_partitioning = false)`;
  // The client of DuckDB removes a byte order mark at the beginning of a text.
  const elements = (
    await session.rows(
      `select '.' || name, coalesce(num_children, 0), precision from parquet_schema(${quoteText(path)})`,
    )
  ).map(([name, children, precision]) => [String(name).slice(1), Number(children), Number(precision ?? 0)] as const);
  const columns: string[] = [];
  /** The names in the groups of each column, depth first. */
  const groups: string[][][] = [];
  const [root, ...rest] = elements;
  const open: { left: number; names: string[] }[] = [{ left: root?.[1] ?? 0, names: columns }];
  // Elements are listed depth first, each with the number of its children.
  for (const [name, children, precision] of rest) {
    while (open.at(-1)?.left === 0) open.pop();
    const parent = open.at(-1);
    parent?.names.push(name);
    if (precision > MAX_DECIMAL_DIGITS)
      throw badInput(
        `The column ${JSON.stringify(columns.at(-1))} has decimals of ${precision} digits; at most ${MAX_DECIMAL_DIGITS} are possible`,
      );
    if (parent) parent.left -= 1;
    const names: string[] = [];
    if (children > 0) (groups[columns.length - 1] ??= []).push(names);
    open.push({ left: children, names });
  }
  const decimals = await decimalColumns(session, path);
  const prepared = await attempt(() => session.connection.prepare(`select * from ${from}`));
  if (prepared.columnCount !== columns.length) return { rows: `select * from ${from}`, problems: [] };
  const names = tableNames(columns);
  const selected = columns.map((column, i) => {
    const type = decimals.get(column);
    return `${type ? `cast(c${i} as ${type})` : `c${i}`} as ${quoteName(names[i]!)}`;
  });
  return {
    rows: `select ${selected.join(', ')} from ${from} as rows(${columns.map((_, i) => `c${i}`).join(', ')})`,
    problems: [
      ...renamedProblems(columns, names),
      ...names.flatMap((name, i) => renamedParts(name, prepared.columnType(i), groups[i] ?? [])),
    ],
  };
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
