import { parseCriteria } from '../criteria/parse.ts';
import { badInput } from '../errors.ts';
import type { Field, FieldType } from '../fields.ts';
import { parseExpression } from './expression.ts';
import type { FlowStep } from './flow.ts';
import { inStep } from './parse.ts';
import { typeExpression } from './typing.ts';

/** A column between two steps of a flow. */
export interface FlowColumn {
  name: string;
  type: FieldType;
}

/**
 * Returns the columns after a flow. Checks that every field exists where it is named and that every value and
 * expression fits.
 *
 * Throws BAD_USER_INPUT naming the step and the misplaced part.
 */
export function checkFlow(steps: readonly FlowStep[], columns: readonly FlowColumn[]): FlowColumn[] {
  return steps.reduce<FlowColumn[]>(
    (current, step, i) => inStep(i, step.type, () => applyStep(step, current, (name, type) => ({ name, type }))),
    [...columns],
  );
}

/**
 * Returns the columns after one step. `make` creates a calculated column; all others stay as they are except for a new
 * name.
 */
export function applyStep<C extends FlowColumn>(
  step: FlowStep,
  columns: C[],
  make: (name: string, type: FieldType) => C,
): C[] {
  switch (step.type) {
    case 'filter':
      parseCriteria(step.criteria, flowFields(columns));
      return columns;
    case 'sort':
      if (find(columns, step.field).type === 'json')
        throw badInput(`The field ${JSON.stringify(step.field)} is of type json and has no order`);
      return columns;
    case 'limit':
      return columns;
    case 'rename':
      return rename(columns, find(columns, step.field), step.to);
    case 'remove': {
      const removed = step.fields.map((name) => find(columns, name));
      const rest = columns.filter((column) => !removed.includes(column));
      if (rest.length === 0) throw badInput('No field would be left');
      return rest;
    }
    case 'calculate': {
      const made = make(step.field, calculatedType(step.expression, columns));
      return columns.some((column) => column.name === step.field)
        ? columns.map((column) => (column.name === step.field ? made : column))
        : [...columns, made];
    }
  }
}

/**
 * Returns the columns as fields for checking criteria. Within a flow it is not known yet which numbers are exact, so
 * all accept strings and are compared as doubles.
 */
export function flowFields(columns: readonly FlowColumn[]): Field[] {
  return columns.map(({ name, type }) => ({
    name,
    label: name,
    type,
    ...(type === 'integer' && { format: 'int64' as const }),
    ...(type === 'number' && { format: 'decimal' as const }),
  }));
}

function find<C extends FlowColumn>(columns: C[], name: string): C {
  const column = columns.find((candidate) => candidate.name === name);
  if (!column) throw badInput(`Unknown field ${JSON.stringify(name)}`);
  return column;
}

function rename<C extends FlowColumn>(columns: C[], renamed: C, to: string): C[] {
  if (columns.some((column) => column !== renamed && column.name === to))
    throw badInput(`A field ${JSON.stringify(to)} already exists`);
  return columns.map((column) => (column === renamed ? { ...column, name: to } : column));
}

function calculatedType(expression: string, columns: readonly FlowColumn[]): FieldType {
  const { type } = typeExpression(
    parseExpression(expression),
    (name) => columns.find((column) => column.name === name)?.type,
  );
  return type === 'null' ? 'string' : type;
}
