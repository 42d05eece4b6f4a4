import { badInput } from '../../../core/errors.ts';
import type { DuckdbSession } from './duckdb-session.ts';

const ONLY_SELECT = 'Only one SELECT (or VALUES, FROM, WITH … SELECT) can be run';

/** Table functions that read only their arguments. */
const TABLE_FUNCTIONS = new Set(['range', 'generate_series', 'unnest', 'json_each', 'json_tree']);
/** Functions that reveal or change the state of the server. */
const REFUSED_FUNCTIONS = new Set([
  'current_setting',
  'getvariable',
  'write_log',
  'nextval',
  'currval',
  'add_parquet_key',
]);

interface Node {
  [key: string]: unknown;
}

/**
 * Verifies with DuckDB's own syntax tree that a text is one SELECT that reads the table `data` and nothing else: no
 * file, catalogue or setting. DuckDB itself refuses files and settings too.
 */
export async function guardSelect(session: DuckdbSession, text: string): Promise<void> {
  const [row] = await session.rows('select json_serialize_sql(cast($text as VARCHAR))', { text });
  const tree = JSON.parse(String(row![0])) as {
    error: boolean;
    error_type?: string;
    error_message?: string;
    position?: string;
    statements?: Node[];
  };
  if (tree.error)
    throw badInput(
      tree.error_type === 'not implemented'
        ? ONLY_SELECT
        : withLine(tree.error_message ?? 'syntax error', text, Number(tree.position)),
    );
  if (tree.statements?.length !== 1) throw badInput(ONLY_SELECT);
  const nodes = [...nodesOf(tree.statements[0])];
  const named = new Set(
    nodes.flatMap((node) =>
      Array.isArray(node.map) ? (node.map as Node[]).map(({ key }) => String(key).toLowerCase()) : [],
    ),
  );
  for (const node of nodes) refuse(node, named);
}

function refuse(node: Node, named: Set<string>): void {
  if (node.type === 'SHOW_REF') throw badInput(ONLY_SELECT);
  if (node.type === 'BASE_TABLE') {
    const name = String(node.table_name);
    const plain = !node.schema_name && !node.catalog_name;
    if (!plain || !(name.toLowerCase() === 'data' || named.has(name.toLowerCase())))
      throw badInput(`There is no table ${JSON.stringify(name)}: the rows of the file are the table "data"`);
  }
  if (node.type === 'TABLE_FUNCTION') {
    const name = String((node.function as Node).function_name);
    if (!TABLE_FUNCTIONS.has(name.toLowerCase())) throw badInput(`The table function ${name} is not available`);
  }
  if (node.class === 'FUNCTION' && REFUSED_FUNCTIONS.has(String(node.function_name).toLowerCase()))
    throw badInput(`The function ${String(node.function_name)} is not available`);
}

/** Yields every object in a tree of any depth. */
function* nodesOf(root: unknown): Generator<Node> {
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (typeof node !== 'object' || node === null) continue;
    if (!Array.isArray(node)) yield node as Node;
    waiting.push(...Object.values(node));
  }
}

function withLine(message: string, text: string, position: number): string {
  return text.includes('\n') && position >= 0
    ? `${message} (line ${text.slice(0, position).split('\n').length})`
    : message;
}
