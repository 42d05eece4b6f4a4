import type { Context } from '../../core/context.ts';
import type { ValidationIssue } from '../../core/errors.ts';
import type { Column, FieldType } from '../../core/fields.ts';
import type { SourceTable } from '../../core/row-source.ts';
import { withSource, type SealedSource } from './datasource-connection.ts';

/** Maximum number of differences that are listed. */
const MAX_DIFFERENCES = 100;

/**
 * Compares a file with the one that it would replace. Returns the tables and columns that are missing, and the columns
 * whose values would be fields of another type. Tables and columns that only the new file has do not count.
 */
export async function findDifferences(
  ctx: Context,
  former: SealedSource,
  replacement: SealedSource,
): Promise<ValidationIssue[]> {
  const before = await tablesOf(ctx, former);
  const after = new Map((await tablesOf(ctx, replacement)).map((table) => [table.name, table]));
  const differences: ValidationIssue[] = [];
  for (const table of before) {
    const other = after.get(table.name);
    if (other) differences.push(...(await compareTables(ctx, [former, table], [replacement, other])));
    else
      differences.push({
        path: ['input', 'file', table.name],
        message: `the table ${JSON.stringify(table.name)} is missing`,
        code: 'missing',
      });
    if (differences.length >= MAX_DIFFERENCES) break;
  }
  return differences.slice(0, MAX_DIFFERENCES);
}

const tablesOf = (ctx: Context, source: SealedSource): Promise<SourceTable[]> =>
  withSource(ctx, source, (connection, signal) => connection.schema(signal));

type TableOfSource = [source: SealedSource, table: SourceTable];

async function compareTables(
  ctx: Context,
  former: TableOfSource,
  replacement: TableOfSource,
): Promise<ValidationIssue[]> {
  const [{ name: table }, types] = [former[1], typesOf(replacement)];
  const differing = [...typesOf(former)].filter(([name, type]) => types.get(name) !== type).map(([name]) => name);
  const shared = differing.filter((name) => types.has(name));
  const was = await fieldTypes(ctx, former, shared);
  const is = await fieldTypes(ctx, replacement, shared);
  return differing.flatMap((name): ValidationIssue[] => {
    const path = ['input', 'file', table, name];
    const column = `the column ${JSON.stringify(name)} of ${JSON.stringify(table)}`;
    if (!types.has(name)) return [{ path, message: `${column} is missing`, code: 'missing' }];
    if (was.get(name) === is.get(name)) return [];
    return [{ path, message: `${column} was ${was.get(name)} and is ${is.get(name)}`, code: 'type' }];
  });
}

/** Returns the types of a table's columns as its source names them. */
const typesOf = ([, { columns }]: TableOfSource): Map<string, string> =>
  new Map(columns.map(({ name, type }) => [name, type]));

/** Returns the types that the fields of a dataset of these columns would have. */
async function fieldTypes(
  ctx: Context,
  [source, { name }]: TableOfSource,
  columns: readonly string[],
): Promise<Map<string, FieldType>> {
  if (columns.length === 0) return new Map();
  const text = `select ${[...columns].map(identifier).join(', ')} from ${identifier(name)}`;
  const query = { text, parameters: [], timeout: ctx.platform.config.QUERY_TIMEOUT_MS };
  const described = await withSource(ctx, source, (connection, signal) => connection.describe(query, signal));
  return new Map(columns.map((column, i) => [column, valuesOf(described[i]!)]));
}

/** Types of fields whose values fit each other. */
const ALIKE: { [T in FieldType]?: FieldType } = { integer: 'number', text: 'string' };
const valuesOf = ({ type }: Column): FieldType => ALIKE[type] ?? type;

const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
