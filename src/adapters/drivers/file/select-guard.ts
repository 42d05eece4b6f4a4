import { badInput } from '../../../core/errors.ts';
import { ALLOWED_FUNCTIONS, ALLOWED_TABLE_FUNCTIONS } from './allowed-functions.ts';
import type { DuckdbSession } from './duckdb-session.ts';

const ONLY_SELECT = 'Only one SELECT (or VALUES, FROM, WITH … SELECT) can be run';

interface SyntaxNode {
  [key: string]: unknown;
}

/** Names of tables that are in scope in a query, the innermost first. */
interface TableScope {
  name: string;
  outer: TableScope | undefined;
}

/** A part of the syntax tree to be checked, with its scope. */
interface ScopedPart {
  part: unknown;
  scope: TableScope;
}

const ROWS: TableScope = { name: 'data', outer: undefined };

/**
 * Verifies with DuckDB's own syntax tree that a text is one SELECT that reads the table `data` and nothing else, and
 * uses listed functions only: no file, catalogue or setting. DuckDB itself refuses files and settings too.
 */
export async function guardSelect(session: DuckdbSession, text: string): Promise<void> {
  const [row] = await session.rows('select json_serialize_sql(cast($text as VARCHAR))', { text });
  const tree = JSON.parse(String(row![0])) as {
    error: boolean;
    error_type?: string;
    error_message?: string;
    position?: string;
    statements?: SyntaxNode[];
  };
  if (tree.error)
    throw badInput(
      tree.error_type === 'not implemented'
        ? ONLY_SELECT
        : withLine(tree.error_message ?? 'syntax error', text, Number(tree.position)),
    );
  if (tree.statements?.length !== 1) throw badInput(ONLY_SELECT);
  // Not recursive, because a tree can be deeper than the call stack.
  const waiting: ScopedPart[] = [{ part: tree.statements[0], scope: ROWS }];
  for (let scoped = waiting.pop(); scoped; scoped = waiting.pop())
    for (const inside of checkPart(scoped)) waiting.push(inside);
}

/** Checks one part of the tree and returns the parts inside it. */
function checkPart({ part, scope }: ScopedPart): ScopedPart[] {
  if (typeof part !== 'object' || part === null) return [];
  if (Array.isArray(part)) return part.map((item) => ({ part: item, scope }));
  const node = part as SyntaxNode;
  if (node.cte_map) return insideQuery(node, scope);
  if (node.type === 'SHOW_REF') throw badInput(ONLY_SELECT);
  if (node.type === 'BASE_TABLE') checkTable(node, scope);
  const { function: called, ...rest } = node;
  if (node.type === 'TABLE_FUNCTION') checkFunction('table function', called as SyntaxNode, ALLOWED_TABLE_FUNCTIONS);
  else if ('function_name' in node) checkFunction('function', node, ALLOWED_FUNCTIONS);
  const parts = node.type === 'TABLE_FUNCTION' ? { ...rest, ...(called as SyntaxNode) } : node;
  return Object.values(parts).map((inner) => ({ part: inner, scope }));
}

/**
 * Returns the parts of a query with its common table expressions in scope. Each expression sees the ones before it. In
 * a recursive one only the second part sees itself.
 */
function insideQuery({ cte_map, ...query }: SyntaxNode, outer: TableScope): ScopedPart[] {
  let scope = outer;
  const places: ScopedPart[] = [];
  for (const { key, value } of (cte_map as { map: { key: string; value: unknown }[] }).map) {
    places.push({ part: value, scope });
    scope = { name: foldCase(key), outer: scope };
  }
  if (query.type === 'RECURSIVE_CTE_NODE') {
    const { right, ...first } = query;
    places.push({ part: right, scope: { name: foldCase(String(query.cte_name)), outer: scope } });
    query = first;
  }
  return [...places, ...Object.values(query).map((part) => ({ part, scope }))];
}

function checkFunction(what: string, node: SyntaxNode, allowed: ReadonlySet<string>): void {
  const name = String(node.function_name);
  if (!allowed.has(foldCase(name))) throw badInput(`The ${what} ${name} is not available`);
}

function checkTable(node: SyntaxNode, scope: TableScope): void {
  const name = String(node.table_name);
  const unqualified = !node.schema_name && !node.catalog_name;
  if (!unqualified || !isVisible(foldCase(name), scope))
    throw badInput(`There is no table ${JSON.stringify(name)}: the rows of the file are the table "data"`);
}

/** Folds letters as DuckDB does: ASCII only. `toLowerCase` maps others too, e.g. the Kelvin sign to `k`. */
const foldCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

function isVisible(name: string, scope: TableScope): boolean {
  for (let found: TableScope | undefined = scope; found; found = found.outer) if (found.name === name) return true;
  return false;
}

function withLine(message: string, text: string, position: number): string {
  return text.includes('\n') && position >= 0
    ? `${message} (line ${text.slice(0, position).split('\n').length})`
    : message;
}
