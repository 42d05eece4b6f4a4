import { toRe2 } from '../../../core/criteria/regex-print.ts';
import { parsePortableRegex } from '../../../core/criteria/regex.ts';
import type { PortableRegex } from '../../../core/criteria/regex.ts';
import type { CriteriaNode, CriteriaValue } from '../../../core/criteria/tree.ts';
import { COMPARED_CHARACTERS } from '../../../core/criteria/value.ts';
import type { Field } from '../../../core/fields.ts';
import type { SqlType, SqlValues } from './sql-values.ts';

const OPERATORS = { eq: '=', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;

/** Default of `inlineValues`. A membership that is written out can use zone maps. */
const INLINE_VALUES = 100;

/** DuckDB may plan a join for a membership of more than this many values, also if it is written out. */
export const COMPARED_VALUES = 4;

type Leaf = Exclude<CriteriaNode, { kind: 'and' | 'or' | 'not' }>;

/**
 * Compiles criteria to a DuckDB condition that is true or false for every row, never null. `columnOf` returns the SQL
 * of a field's column, e.g. `"c3"`. `values` inserts values into the statement: `boundValues(params)` or
 * `literalValues`. A membership of more than `inlineValues` values is joined as one list.
 */
export function compileCriteria(
  node: CriteriaNode,
  columnOf: (field: Field) => string,
  values: SqlValues,
  inlineValues = INLINE_VALUES,
): string {
  const compile = (inner: CriteriaNode) => compileCriteria(inner, columnOf, values, inlineValues);
  switch (node.kind) {
    case 'and':
    case 'or': {
      if (node.nodes.length === 0) return node.kind === 'and' ? 'true' : 'false';
      return `(${node.nodes.map(compile).join(node.kind === 'and' ? ' AND ' : ' OR ')})`;
    }
    case 'not':
      return `(NOT ${compile(node.node)})`;
    default:
      return leaf(node, columnOf(node.field), values, inlineValues);
  }
}

/** Returns whether DuckDB may plan a join for criteria. A join does not preserve the order of rows. */
export function joinsLists(node: CriteriaNode): boolean {
  switch (node.kind) {
    case 'and':
    case 'or':
      return node.nodes.some(joinsLists);
    case 'not':
      return joinsLists(node.node);
    default:
      return node.kind === 'in' && node.values.length > COMPARED_VALUES;
  }
}

/**
 * Returns the SQL that comparisons and sorting use: for a text its first characters, for a flagged number its double.
 */
export function comparable(field: Pick<Field, 'type' | 'format'>, column: string): string {
  if (field.type === 'text') return `left(${column}, ${COMPARED_CHARACTERS})`;
  // DuckDB's own cast from DECIMAL can be wrong in the last bit; from text it is exact.
  if (field.format === 'decimal') return `CAST(CAST(${column} AS VARCHAR) AS DOUBLE)`;
  return field.type === 'number' || field.format ? `CAST(${column} AS DOUBLE)` : column;
}

/** Returns the type in which `comparable` compares a field. */
export function comparedType({ type, format }: Pick<Field, 'type' | 'format'>): SqlType {
  switch (type) {
    case 'integer':
      return format ? 'DOUBLE' : 'BIGINT';
    case 'number':
      return 'DOUBLE';
    case 'boolean':
      return 'BOOLEAN';
    case 'date':
      return 'DATE';
    case 'datetime':
      return 'TIMESTAMP';
    default:
      return 'VARCHAR';
  }
}

function leaf(node: Leaf, column: string, values: SqlValues, inlineValues: number): string {
  if (node.kind === 'missing') return `(${column} IS NULL)`;
  const { left, right } = sides(node, column, values, inlineValues);
  return `(${column} IS NOT NULL AND ${left}${right})`;
}

function sides(
  node: Exclude<Leaf, { kind: 'missing' }>,
  column: string,
  values: SqlValues,
  inlineValues: number,
): { left: string; right: string } {
  if (node.kind === 'regex') {
    const pattern = re2Pattern(parsePortableRegex(node.source), node.insensitive);
    return {
      left: `regexp_matches(${comparable(node.field, column)}, `,
      right: `${values.scalar(pattern, 'VARCHAR')})`,
    };
  }
  const compared = node.kind === 'in' ? node.values : [node.value];
  const type = literalType(node.field, compared);
  const left =
    type === 'DOUBLE' ? comparable({ ...node.field, type: 'number' }, column) : comparable(node.field, column);
  if (node.kind === 'compare') return { left, right: ` ${OPERATORS[node.op]} ${values.scalar(node.value, type)}` };
  if (node.values.length > inlineValues)
    return { left, right: ` IN (SELECT unnest(${values.list(node.values, type)}))` };
  return { left, right: ` IN (${node.values.map((value) => values.scalar(value, type)).join(', ')})` };
}

/**
 * Returns the type for a comparison. Integers stay integers where that is exact, so that the column itself is
 * compared.
 */
function literalType(field: Field, values: readonly CriteriaValue[]): SqlType {
  if (field.type === 'integer' && !values.every(Number.isSafeInteger)) return 'DOUBLE';
  return comparedType(field);
}

/** Matches the empty text. As a prefix, it disables DuckDB's optimizer for a pattern. */
const OPAQUE = '(?:|[^\\x{0}-\\x{10ffff}])';

/**
 * Returns a pattern that the optimizer does not rewrite. It turns plain patterns into prefix, suffix and contains, and
 * reads an anchor anywhere as one at the end: `a^` would match texts that end in "a".
 */
function re2Pattern(regex: PortableRegex, insensitive: boolean): string {
  const pattern = toRe2(regex, insensitive);
  const nodes = regex.kind === 'sequence' ? regex.nodes : [regex];
  const inner = nodes.slice(nodes[0]?.kind === 'start' ? 1 : 0, nodes.at(-1)?.kind === 'end' ? -1 : undefined);
  return inner.some(hasAnchor) ? `${OPAQUE}(?:${pattern})` : pattern;
}

function hasAnchor(node: PortableRegex): boolean {
  switch (node.kind) {
    case 'set':
      return false;
    case 'repeat':
      return hasAnchor(node.node);
    case 'sequence':
    case 'alternatives':
      return node.nodes.some(hasAnchor);
    default:
      return true;
  }
}
