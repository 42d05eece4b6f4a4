import { toRe2 } from '../../../core/criteria/regex-print.ts';
import { parsePortableRegex } from '../../../core/criteria/regex.ts';
import type { PortableRegex } from '../../../core/criteria/regex.ts';
import type { CriteriaNode, CriteriaValue } from '../../../core/criteria/tree.ts';
import { COMPARED_CHARACTERS } from '../../../core/criteria/value.ts';
import type { Field } from '../../../core/fields.ts';
import { numberKey, numberKeySql } from '../number-key.ts';
import type { SqlType, SqlValues } from './sql-values.ts';

const OPERATORS = { eq: '=', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;

/** Default of `inlineValues`. A membership that is written out can use zone maps. */
const INLINE_VALUES = 100;

/** DuckDB may plan a join for a membership of more than this many values, even if it is written out. */
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

type Kind = Pick<Field, 'type' | 'format'>;

/** Returns SQL of a number as a double, which may round it. */
export function doubleOf(field: Kind, column: string): string {
  // DuckDB's own cast from DECIMAL can be wrong in the last bit; from text it is exact.
  return field.format === 'decimal' ? `CAST(CAST(${column} AS VARCHAR) AS DOUBLE)` : `CAST(${column} AS DOUBLE)`;
}

/** Returns the SQL that comparisons use: for a text its first characters. Decimals are compared by `compare` only. */
function comparable(field: Kind, column: string): string {
  if (field.type === 'text') return `left(${column}, ${COMPARED_CHARACTERS})`;
  return field.type === 'number' ? doubleOf(field, column) : column;
}

/**
 * Returns the keys by which a field is sorted. A column of decimals has the type DECIMAL, whose order is exact, or is a
 * text; DuckDB removes the key of the other type when it plans the statement.
 */
function sortKeys(field: Kind, column: string): string[] {
  if (field.format !== 'decimal') return [comparable(field, column)];
  return [textKey(column), `CASE WHEN typeof(${column}) <> 'VARCHAR' THEN ${column} END`];
}

/** Returns SQL of the key of decimals in a column of texts; null in columns of other types. */
export const textKey = (column: string): string =>
  `CASE WHEN typeof(${column}) = 'VARCHAR' THEN ${numberKeySql(column)} END`;

/** Returns the terms of an ORDER BY. Missing values are last in both directions. */
export const sortTerms = (field: Kind, column: string, descending = false): string =>
  sortKeys(field, column)
    .map((key) => `${key} ${descending ? 'DESC' : 'ASC'} NULLS LAST`)
    .join(', ');

/** Returns SQL of the text from which `compare` takes the value of a column again. */
export const comparedText = (field: Kind, column: string): string =>
  `CAST(${field.format === 'decimal' ? column : comparable(field, column)} AS VARCHAR)`;

/** Returns a condition on the value of a column, which is not missing. */
export function compare(
  field: Kind,
  column: string,
  op: keyof typeof OPERATORS,
  value: CriteriaValue,
  values: SqlValues,
): string {
  if (field.format === 'decimal') return compareDecimal(column, op, value, values);
  const type = literalType(field, [value]);
  return `${left(field, column, type)} ${OPERATORS[op]} ${values.scalar(value, type)}`;
}

/** Compares doubles, which keep the order, and the exact digits only where they are equal. */
function compareDecimal(column: string, op: keyof typeof OPERATORS, value: CriteriaValue, values: SqlValues): string {
  const double = doubleOf({ type: 'number', format: 'decimal' }, column);
  const bound = () => values.scalar(Number(value), 'DOUBLE');
  const same = `${double} = ${bound()}
    AND ${numberKeySql(column)} ${OPERATORS[op]} ${values.scalar(numberKey(String(value)), 'VARCHAR')}`;
  return op === 'eq' ? `(${same})` : `(${double} ${OPERATORS[op].charAt(0)} ${bound()} OR (${same}))`;
}

/** Returns the type in which a field is compared. */
function comparedType({ type, format }: Kind): SqlType {
  switch (type) {
    case 'integer':
      // It includes unsigned integers of 64 bits.
      return format ? 'HUGEINT' : 'BIGINT';
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
  return `(${column} IS NOT NULL AND ${present(node, column, values, inlineValues)})`;
}

/** Returns a condition on a value that is not missing. */
function present(
  node: Exclude<Leaf, { kind: 'missing' }>,
  column: string,
  values: SqlValues,
  inlineValues: number,
): string {
  const { field } = node;
  switch (node.kind) {
    case 'regex': {
      const pattern = re2Pattern(parsePortableRegex(node.source), node.insensitive);
      return `regexp_matches(${comparable(field, column)}, ${values.scalar(pattern, 'VARCHAR')})`;
    }
    case 'compare':
      return compare(field, column, node.op, node.value, values);
    case 'in': {
      const among = (compared: string, operands: readonly CriteriaValue[], type: SqlType) =>
        operands.length > inlineValues
          ? `${compared} IN (SELECT unnest(${values.list(operands, type)}))`
          : `${compared} IN (${operands.map((value) => values.scalar(value, type)).join(', ')})`;
      if (field.format !== 'decimal') {
        const type = literalType(field, node.values);
        return among(left(field, column, type), node.values, type);
      }
      const keys = node.values.map((value) => numberKey(String(value)));
      const doubles = among(doubleOf(field, column), node.values.map(Number), 'DOUBLE');
      return `${doubles} AND ${among(numberKeySql(column), keys, 'VARCHAR')}`;
    }
  }
}

const left = (field: Kind, column: string, type: SqlType): string =>
  type === 'DOUBLE' ? doubleOf(field, column) : comparable(field, column);

/**
 * Returns the type for a comparison. Integers stay integers where that is exact, so that the column itself is
 * compared.
 */
function literalType(field: Kind, values: readonly CriteriaValue[]): SqlType {
  if (field.type === 'integer' && !field.format && !values.every(Number.isSafeInteger)) return 'DOUBLE';
  return comparedType(field);
}

/** Matches the empty text. As a prefix, it disables DuckDB's optimizer for a pattern. */
const OPAQUE = '(?:|[^\\x{0}-\\x{10ffff}])';

/**
 * Returns a pattern that the optimizer does not rewrite. It turns plain patterns into prefix, suffix and contains, and
 * reads an anchor in any position as one at the end: `a^` would match texts that end in "a".
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
