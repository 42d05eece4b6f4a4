import type { Typed } from '../../../core/flow/typing.ts';
import { literalValues, quoteText } from './sql-values.ts';
import type { SqlType } from './sql-values.ts';

const WHITE_SPACE = quoteText(' \t\n\v\f\r');
const ISO_FORMAT = quoteText('%Y-%m-%dT%H:%M:%S.%gZ');

const SQL_TYPES: Record<Typed['type'], SqlType> = {
  string: 'VARCHAR',
  integer: 'BIGINT',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  date: 'DATE',
  datetime: 'TIMESTAMP',
  null: 'VARCHAR',
};

/**
 * Compiles a checked expression to DuckDB SQL over columns. Numbers are doubles that are never NaN or infinite;
 * integers keep their stored type. No operand occurs twice, so the text grows linearly with the expression.
 */
export function compileExpression(node: Typed, columnOf: (field: string) => string): string {
  const compile = (operand: Typed) => compileExpression(operand, columnOf);
  switch (node.kind) {
    case 'literal':
      return node.value === null
        ? `CAST(NULL AS ${SQL_TYPES[node.type]})`
        : literalValues.scalar(node.value, SQL_TYPES[node.type]);
    case 'field':
      return node.type === 'number' ? `CAST(${columnOf(node.name)} AS DOUBLE)` : columnOf(node.name);
    case 'negate':
    case 'arithmetic':
      return finite(arithmetic(node, columnOf));
    case 'not':
      return `(NOT ${boolean(node.operand, columnOf)})`;
    case 'and':
    case 'or':
      return `(${boolean(node.left, columnOf)} ${node.kind === 'and' ? 'AND' : 'OR'} ${boolean(node.right, columnOf)})`;
    case 'comparison':
      return [
        `(${inCommon(node.left, node.right, columnOf)}`,
        node.op === '!=' ? '<>' : node.op,
        `${inCommon(node.right, node.left, columnOf)})`,
      ].join(' ');
    case 'round':
      return node.type === 'number' ? finite(`round(${compile(node.operand)}, ${node.digits})`) : compile(node.operand);
    case 'dateDiff':
      return `datesub('${node.unit}', ${as('datetime', node.from, columnOf)}, ${as('datetime', node.to, columnOf)})`;
    case 'call':
      return call(node, columnOf);
  }
}

type ColumnOf = (field: string) => string;

/** Replaces values that are not JSON numbers by null, and -0 by 0. The list computes and writes the operand once. */
const finite = (sql: string) => `list_transform([${sql}], lambda x: CASE WHEN isfinite(x) THEN x + 0 END)[1]`;

/**
 * Compiles arithmetic. Sums, differences, products and dividends propagate values that are not finite, so one check
 * around them is sufficient. A divisor is checked itself, because 1 / infinity would be finite again. Division by zero
 * is not finite.
 */
function arithmetic(node: Typed, columnOf: ColumnOf): string {
  if (node.kind === 'negate') return `(-${arithmetic(node.operand, columnOf)})`;
  if (node.kind !== 'arithmetic') return as('number', node, columnOf);
  const left = arithmetic(node.left, columnOf);
  const divides = node.op === '/' || node.op === '%';
  const right = divides ? as('number', node.right, columnOf) : arithmetic(node.right, columnOf);
  return `(${left} ${node.op} ${right})`;
}

/** Converts an expression to a wider type. */
function as(type: Typed['type'], node: Typed, columnOf: ColumnOf): string {
  const sql = compileExpression(node, columnOf);
  return node.type === type ? sql : `CAST(${sql} AS ${SQL_TYPES[type]})`;
}

const boolean = (node: Typed, columnOf: ColumnOf) => as('boolean', node, columnOf);

/** Converts one side of a comparison to the common type of both sides. */
function inCommon(node: Typed, other: Typed, columnOf: ColumnOf): string {
  const type = node.type === 'null' ? other.type : node.type;
  if (type === 'integer' || type === 'number') return as('number', node, columnOf);
  if (type === 'date' || type === 'datetime') return as('datetime', node, columnOf);
  return as(type, node, columnOf);
}

function call(node: Extract<Typed, { kind: 'call' }>, columnOf: ColumnOf): string {
  const [first] = node.args as [Typed, ...Typed[]];
  const string = () => as('string', first, columnOf);
  const into = (arg: Typed) => as(node.type, arg, columnOf);
  switch (node.name) {
    case 'abs':
      return finite(`abs(${as('number', first, columnOf)})`);
    case 'floor':
    case 'ceil':
      return node.type === 'number'
        ? finite(`${node.name}(${as('number', first, columnOf)})`)
        : compileExpression(first, columnOf);
    case 'lower':
    case 'upper':
      return `${node.name}(${string()})`;
    case 'trim':
      return `trim(${string()}, ${WHITE_SPACE})`;
    case 'length':
      return `length(${string()})`;
    case 'concat':
      return `(${node.args.map((arg) => printed(arg, columnOf)).join(' || ')})`;
    case 'coalesce':
      return `coalesce(${node.args.map(into).join(', ')})`;
    case 'if':
      return `CASE WHEN ${boolean(first, columnOf)} THEN ${into(node.args[1]!)} ELSE ${node.args[2] ? into(node.args[2]) : 'NULL'} END`;
    case 'year':
    case 'month':
    case 'day':
      return `${node.name}(${as('datetime', first, columnOf)})`;
  }
}

/** Returns the value as text, in its JSON form. */
function printed(node: Typed, columnOf: ColumnOf): string {
  const sql = compileExpression(node, columnOf);
  if (node.type === 'datetime') return `strftime(${sql}, ${ISO_FORMAT})`;
  if (node.type === 'number') return `regexp_replace(CAST(${sql} AS VARCHAR), '\\.0$', '')`;
  return node.type === 'string' ? sql : `CAST(${sql} AS VARCHAR)`;
}
