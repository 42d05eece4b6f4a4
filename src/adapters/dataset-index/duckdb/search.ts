import type { DuckDBValue } from '@duckdb/node-api';
import type { IndexedField, Page, Row, RowSearch } from '../../../core/dataset-index.ts';
import { encodeCursor, invalidCursor, positionRow } from '../cursor.ts';
import { afterPosition, orderBy, positionSql } from './cursor.ts';
import type { SortKey } from './cursor.ts';
import type { Scope } from './scope.ts';
import type { RunStatement, Serving } from './serving.ts';
import { quoteText } from './sql-values.ts';
import { jsonForm } from './value-forms.ts';

/** Maximum number of values that DuckDB prints at a time. It needs about a hundred bytes for each. */
export const PRINTED_VALUES = 250_000;
/** Rows with more fields are read in parts. */
const WIDE = 200;

/** Returns a page of rows in their JSON forms. */
export async function searchRows(
  serving: Serving,
  scope: Scope,
  search: RowSearch,
  signal: AbortSignal,
): Promise<Page> {
  const question = { scope, search, keys: sortKeys(scope, search.sort), after: positionRow(search) };
  return serving.query(scope, signal, async (ask, aliases) => {
    const found = await (search.fields.length > WIDE ? numbersFirst : atOnce)({ ask, aliases, ...question });
    const more = found.length > search.limit;
    if (more) found.pop();
    const next = more ? encodeCursor({ generation: search.generation.id, row: Number(found.at(-1)![0]) }) : null;
    const page: Page = { rows: parseRows(found.map(([, json]) => json!)), next };
    if (search.total) page.total = await total(ask, aliases, scope, search, found.length, more);
    return page;
  });
}

/** Returns number and JSON text of the page's rows and one more. */
async function atOnce(question: PageQuestion): Promise<DuckDBValue[][]> {
  const { ask, scope, search } = question;
  const values: DuckDBValue[] = [];
  const from = await pageOf(question, search.fields, values);
  return ask(`SELECT number, ${rowObject(search.fields.map(scope.stored))} FROM (${from})`, values);
}

/**
 * Does the same for wide rows, because DuckDB would print thousands of them at a time: first selects their numbers,
 * then some columns of some of them at a time.
 */
async function numbersFirst(question: PageQuestion): Promise<DuckDBValue[][]> {
  const { ask, aliases, scope, search } = question;
  const values: DuckDBValue[] = [];
  const numbers = (await ask(`SELECT number FROM (${await pageOf(question, [], values)})`, values)).map(([number]) =>
    Number(number),
  );
  const members = new Map(numbers.map((number): [number, string[]] => [number, []]));
  for (const fields of parts(search.fields, WIDE)) {
    const object = rowObject(fields.map(scope.field));
    for (const some of parts(numbers, PRINTED_VALUES / WIDE)) {
      const rows = await ask(
        `SELECT rowid, ${object} FROM ${scope.table(aliases)} WHERE rowid IN (${some.join(', ')})`,
        [],
      );
      for (const [number, json] of rows) members.get(Number(number))!.push(String(json).slice(1, -1));
    }
  }
  return numbers.map((number) => [number, `{${members.get(number)!.join(',')}}`]);
}

const parts = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));

/** Parses rows that DuckDB printed as JSON objects, all in one call. */
export const parseRows = (texts: DuckDBValue[]): Row[] => JSON.parse(`[${texts.join(',')}]`) as Row[];

/** Returns SQL of a row's JSON text. Names come from the source, so they are written as literals. */
export function rowObject(fields: IndexedField[]): string {
  const members = fields.map((field) => `${quoteText(field.name)}, ${jsonForm(field, field.column)}`);
  return `CAST(json_object(${members.join(', ')}) AS VARCHAR)`;
}

const sortKeys = (scope: Scope, sort: RowSearch['sort']): SortKey[] =>
  sort.map(({ field, descending }) => ({ field: scope.field(field), descending }));

interface PageQuestion {
  ask: RunStatement;
  aliases: string[];
  scope: Scope;
  search: RowSearch;
  keys: SortKey[];
  after: number | undefined;
}

/**
 * Returns the statement for the page's rows with these fields, and one more row, which shows whether there is a next
 * page.
 */
async function pageOf(
  { ask, aliases, scope, search, keys, after }: PageQuestion,
  fields: readonly string[],
  values: DuckDBValue[],
): Promise<string> {
  const table = scope.table(aliases);
  const columns = [...new Set(fields)].map((name) => `${scope.field(name).column} AS ${scope.stored(name).column}`);
  const select = ['rowid AS number', ...columns].join(', ');
  const window = `LIMIT ${search.limit + 1} OFFSET ${search.start}`;
  const further = after === undefined ? [] : [await afterRow({ ask, aliases, scope, search, keys, after }, values)];
  // Row numbers, unlike values, are compared while the table is read: the rows before the page need not be.
  const where = (conditions: string[]) =>
    keys.length === 0
      ? [...conditions, scope.where(aliases, values)].join(' AND ')
      : scope.where(aliases, values, conditions);
  if (keys.length > 0 || scope.inOrder) {
    // A scan of one table preserves its order; sorting by the row number would read all columns of all rows first.
    const order = keys.length > 0 ? `ORDER BY ${orderBy(keys)}` : '';
    return `SELECT ${select} FROM ${table} WHERE ${where(further)} ${order} ${window}`;
  }
  const wordRows = scope.wordRows(aliases, values);
  const rows = wordRows
    ? [wordRows, ...further].join(' AND ')
    : `SELECT rowid FROM ${table} WHERE ${where(further)} ORDER BY rowid`;
  return `SELECT ${select} FROM ${table} WHERE rowid IN (${rows} ${window}) ORDER BY rowid`;
}

async function afterRow({ ask, aliases, scope, keys, after }: PageQuestion, values: DuckDBValue[]): Promise<string> {
  const own: DuckDBValue[] = [];
  const where = scope.where(aliases, own);
  const [position] = await ask(positionSql(keys, scope.table(aliases), after!, where), own);
  if (!position) throw invalidCursor();
  return afterPosition(keys, after!, position, values);
}

async function total(
  ask: RunStatement,
  aliases: string[],
  scope: Scope,
  search: RowSearch,
  found: number,
  more: boolean,
): Promise<number> {
  if (scope.everything) return search.generation.records;
  const isFirst = search.start === 0 && search.after === undefined;
  return isFirst && !more ? found : countRows(ask, aliases, scope, search);
}

/** Returns the number of matching rows. */
async function countRows(
  ask: RunStatement,
  aliases: string[],
  scope: Scope,
  search: Pick<RowSearch, 'generation'>,
): Promise<number> {
  if (scope.everything) return search.generation.records;
  const values: DuckDBValue[] = [];
  const rows = scope.wordRows(aliases, values);
  const from = rows ? `(${rows})` : `${scope.table(aliases)} WHERE ${scope.where(aliases, values)}`;
  const [row] = await ask(`SELECT count(*) FROM ${from}`, values);
  return Number(row![0]);
}
