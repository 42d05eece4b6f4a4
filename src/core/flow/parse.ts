import { badInput } from '../errors.ts';
import { at, invalid } from '../input-checks.ts';
import { checkAnyColumns } from './check-any-columns.ts';
import { parseExpression } from './expression.ts';
import type { FlowStep } from './flow.ts';
import { inStep } from './in-step.ts';

const MAX_STEPS = 100;
const MAX_NAME = 200;

/** Keys of each step, required and optional. */
const KEYS: Record<FlowStep['type'], { needed: string[]; optional: string[] }> = {
  filter: { needed: ['criteria'], optional: [] },
  sort: { needed: ['field'], optional: ['order'] },
  limit: { needed: ['n'], optional: [] },
  rename: { needed: ['field', 'to'], optional: [] },
  remove: { needed: ['fields'], optional: [] },
  calculate: { needed: ['field', 'expression'], optional: [] },
};

/**
 * Parses a dataset's flow as sent by a client: the shape of every step, the grammar of its expressions and what can be
 * checked without the columns of the source. `checkFlow` checks it against them.
 *
 * Throws BAD_USER_INPUT naming the step and the key.
 */
export function parseFlow(input: unknown): FlowStep[] {
  if (!Array.isArray(input)) throw badInput('A flow is a list of steps');
  if (input.length > MAX_STEPS) throw badInput(`A flow has at most ${MAX_STEPS} steps`);
  const steps = input.map((step, i) =>
    inStep(i, typeof step?.type === 'string' ? step.type : '', () => parseStep(step)),
  );
  checkAnyColumns(steps);
  return steps;
}

function parseStep(step: unknown): FlowStep {
  if (typeof step !== 'object' || step === null || Array.isArray(step))
    throw badInput('a step is an object with a type');
  const { type, ...rest } = step as Record<string, unknown>;
  if (typeof type !== 'string' || !Object.hasOwn(KEYS, type))
    throw badInput(`unknown step; known are ${Object.keys(KEYS).join(', ')}`);
  checkKeys(KEYS[type as FlowStep['type']], rest);
  switch (type as FlowStep['type']) {
    case 'filter':
      return { type: 'filter', criteria: object('criteria', rest.criteria) };
    case 'sort':
      return { type: 'sort', field: name('field', rest.field), order: order(rest.order ?? 'asc') };
    case 'limit':
      return { type: 'limit', n: count(rest.n) };
    case 'rename':
      return { type: 'rename', field: name('field', rest.field), to: name('to', rest.to) };
    case 'remove':
      return { type: 'remove', fields: names(rest.fields) };
    case 'calculate':
      return { type: 'calculate', field: name('field', rest.field), expression: expression(rest.expression) };
  }
}

function checkKeys(
  { needed, optional }: { needed: string[]; optional: string[] },
  given: Record<string, unknown>,
): void {
  const unknown = Object.keys(given).find((key) => !needed.includes(key) && !optional.includes(key));
  if (unknown !== undefined) throw badInput(`unknown key ${JSON.stringify(unknown.slice(0, 100))}`);
  const missing = needed.find((key) => given[key] === undefined);
  if (missing) throw invalid(missing, 'is missing');
}

function object(key: string, value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(key, 'must be an object');
  return value as Record<string, unknown>;
}

function name(key: string, value: unknown): string {
  if (
    typeof value !== 'string' ||
    value === '' ||
    value.length > MAX_NAME ||
    !value.isWellFormed() ||
    value.includes('\0')
  )
    throw invalid(key, 'must be the name of a field');
  return value;
}

function names(value: unknown): string[] {
  if (!Array.isArray(value) || value.length === 0) throw invalid('fields', 'must be a list of names');
  return value.map((each) => name('fields', each));
}

function order(value: unknown): 'asc' | 'desc' {
  if (value !== 'asc' && value !== 'desc') throw invalid('order', 'must be "asc" or "desc"');
  return value;
}

function count(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw invalid('n', 'must be a whole number, at least 0');
  return value as number;
}

function expression(value: unknown): string {
  if (typeof value !== 'string') throw invalid('expression', 'must be a string');
  at(['expression'], () => parseExpression(value));
  return value;
}
