import { parseCriteria } from '../criteria/parse.ts';
import { badInput } from '../errors.ts';
import type { Field, FieldType } from '../fields.ts';
import { at } from '../input-checks.ts';
import { unknownName } from '../unknown-name.ts';
import { parseExpression } from './expression.ts';
import type { FlowStep } from './flow.ts';
import { inStep } from './in-step.ts';
import { typeExpression } from './typing.ts';

/** A column between two steps of a flow. */
export interface FlowColumn {
  name: string;
  type: FieldType;
}

/** A column between two steps of a flow. Its type may be unknown because its source is. */
export interface OpenColumn {
  name: string;
  type: FieldType | 'unknown';
}

const TYPES: FieldType[] = ['string', 'integer', 'number', 'boolean', 'date', 'datetime', 'json'];

/**
 * Returns the columns after a flow. Checks that each step names only fields that exist before it, and that its values
 * and expressions have a suitable type.
 *
 * Throws BAD_USER_INPUT naming the step and the invalid part.
 */
export function checkFlow(steps: readonly FlowStep[], columns: readonly FlowColumn[]): FlowColumn[] {
  return steps.reduce<FlowColumn[]>(
    (current, step, i) => inStep(i, step.type, () => applyStep(step, current, (name, type) => ({ name, type }))),
    [...columns],
  );
}

/**
 * Returns the columns after one step. `createColumn` creates a calculated column. All others are unchanged, except for
 * their names in a `rename`.
 */
export function applyStep<C extends OpenColumn>(
  step: FlowStep,
  columns: C[],
  createColumn: (name: string, type: C['type']) => C,
): C[] {
  switch (step.type) {
    case 'filter':
      at(['criteria'], () => parseCriteria(step.criteria, flowFields(columns)));
      return columns;
    case 'sort':
      if (at(['field'], () => find(columns, step.field)).type === 'json')
        throw badInput(`The field ${JSON.stringify(step.field)} is of type json and has no order`);
      return columns;
    case 'limit':
      return columns;
    case 'rename':
      return rename(
        columns,
        at(['field'], () => find(columns, step.field)),
        step.to,
      );
    case 'remove': {
      const removed = step.fields.map((name, index) => at(['fields', index], () => find(columns, name)));
      const rest = columns.filter((column) => !removed.includes(column));
      if (rest.length === 0) throw badInput('At least one field must remain');
      return rest;
    }
    case 'calculate': {
      const calculated = createColumn(
        step.field,
        at(['expression'], () => calculatedType(step.expression, columns)),
      );
      return columns.some((column) => column.name === step.field)
        ? columns.map((column) => (column.name === step.field ? calculated : column))
        : [...columns, calculated];
    }
  }
}

/**
 * Returns the columns as fields for checking criteria. Within a flow the exact formats of numbers are not known, so
 * integers and numbers accept strings too and are compared exactly. A column of unknown type is a field of each type.
 */
export function flowFields(columns: readonly OpenColumn[]): Field[] {
  return columns.flatMap(({ name, type }) =>
    (type === 'unknown' ? TYPES : [type]).map((possible) => ({
      name,
      label: name,
      type: possible,
      ...(possible === 'integer' && { format: 'int64' as const }),
      ...(possible === 'number' && { format: 'decimal' as const }),
    })),
  );
}

function find<C extends OpenColumn>(columns: C[], name: string): C {
  const column = columns.find((candidate) => candidate.name === name);
  if (column) return column;
  throw unknownName(
    'field',
    name,
    columns.map((known) => known.name),
  );
}

function rename<C extends OpenColumn>(columns: C[], renamed: C, to: string): C[] {
  if (columns.some((column) => column !== renamed && column.name === to))
    throw badInput(`The field ${JSON.stringify(to)} already exists`);
  return columns.map((column) => (column === renamed ? { ...column, name: to } : column));
}

/** Returns the type of an expression. It is unknown only if the type of a column is. */
function calculatedType<C extends OpenColumn>(expression: string, columns: readonly C[]): C['type'] {
  const { type } = typeExpression(
    parseExpression(expression),
    (name) => columns.find((column) => column.name === name)?.type,
  );
  if (type !== 'null') return type;
  return columns.some((column) => column.type === 'unknown') ? 'unknown' : 'string';
}
