import { badInput } from '../errors.ts';
import type { Field } from '../fields.ts';
import { at } from '../input-checks.ts';
import { unknownName } from '../unknown-name.ts';
import type { Budget } from './budget.ts';
import { and, not, oneOf, or } from './build.ts';
import { parsePortableRegex, regexSize } from './regex.ts';
import type { CriteriaNode, CriteriaValue } from './tree.ts';
import { comparedValue, isObject, list, show } from './value.ts';
import { equalWhole, orderOfWholes } from './whole-operand.ts';
import type { Order } from './whole-operand.ts';

const ORDERS: Record<string, Order> = { $lt: 'lt', $lte: 'lte', $gt: 'gt', $gte: 'gte' };
/** All operators of a field. */
const OPERATORS = ['$eq', '$ne', ...Object.keys(ORDERS), '$in', '$nin', '$exists', '$not', '$regex', '$options'];
const MIDNIGHT = 'T00:00:00.000Z';

/** Parses the conditions on a field: a value, null, or an object of operators that must all be true. */
export function fieldConditions(field: Field, input: unknown, budget: Budget, depth: number): CriteriaNode {
  if (Array.isArray(input)) throw badInput(`The field ${show(field.name)} cannot be compared with a list; use $in`);
  return isObject(input) ? operators(field, input, budget, depth) : equal(field, input, budget);
}

function operators(field: Field, input: Record<string, unknown>, budget: Budget, depth: number): CriteriaNode {
  budget.enter(depth);
  const entries = Object.entries(input);
  if (entries.length === 0) throw badInput(`The condition on the field ${show(field.name)} names no operator`);
  return and(
    entries.map(([operator, operand]) =>
      at([operator], () => condition(field, operator, operand, input, budget, depth)),
    ),
  );
}

function condition(
  field: Field,
  operator: string,
  operand: unknown,
  siblings: Record<string, unknown>,
  budget: Budget,
  depth: number,
): CriteriaNode {
  switch (operator) {
    case '$eq':
      return equal(field, operand, budget);
    case '$ne':
      return not(equal(field, operand, budget));
    case '$lt':
    case '$lte':
    case '$gt':
    case '$gte':
      return ordered(field, operator, operand, budget);
    case '$in':
      return among(field, operator, operand, budget);
    case '$nin':
      return not(among(field, operator, operand, budget));
    case '$exists':
      return exists(field, operand, budget);
    case '$not':
      return not(operators(field, operatorObject(field, operand), budget, depth + 1));
    case '$regex':
      return regex(field, operand, siblings, budget);
    case '$options':
      if (!Object.hasOwn(siblings, '$regex')) throw badInput('$options requires $regex');
      return and([]);
    default:
      throw unknownName('operator', operator, OPERATORS, ` for the field ${show(field.name)}`);
  }
}

function operatorObject(field: Field, operand: unknown): Record<string, unknown> {
  if (!isObject(operand)) throw badInput(`$not below the field ${show(field.name)} must be an object of operators`);
  return operand;
}

function equal(field: Field, value: unknown, budget: Budget): CriteriaNode {
  budget.condition();
  budget.take(1);
  return value === null ? { kind: 'missing', field } : oneOf(field, equalTo(field, value));
}

function among(field: Field, operator: string, operand: unknown, budget: Budget): CriteriaNode {
  const values = list(operator, operand);
  budget.condition();
  budget.take(values.length);
  const present = values.filter((value) => value !== null);
  const found = oneOf(
    field,
    present.flatMap((value) => equalTo(field, value)),
  );
  return present.length === values.length ? found : or([found, { kind: 'missing', field }]);
}

/**
 * Returns the value to compare with. Returns nothing when no value of the field can be equal to it, such as a time
 * within a day for a date field, or a fraction for exact integers.
 */
function equalTo(field: Field, value: unknown): CriteriaValue[] {
  if (field.type === 'json')
    throw badInput(`The field ${show(field.name)} is of type json: only $exists and null apply to it`);
  const compared = comparedValue(field, value);
  if (field.format === 'int64') {
    const whole = equalWhole(compared);
    return whole === null ? [] : [whole];
  }
  if (field.type !== 'date' || typeof compared !== 'string') return [compared];
  return compared.endsWith(MIDNIGHT) ? [compared.slice(0, 10)] : [];
}

function ordered(field: Field, operator: string, value: unknown, budget: Budget): CriteriaNode {
  if (field.type === 'boolean' || field.type === 'json')
    throw badInput(`${operator} does not apply to the field ${show(field.name)} of type ${field.type}`);
  budget.condition();
  budget.take(1);
  const op = ORDERS[operator]!;
  const compared = comparedValue(field, value);
  if (field.format === 'int64') return { kind: 'compare', field, ...orderOfWholes(op, compared) };
  if (field.type !== 'date' || typeof compared !== 'string') return { kind: 'compare', field, op, value: compared };
  // A date is midnight UTC of its day. Compared with a later time of the same day it is smaller.
  const date = compared.slice(0, 10);
  if (compared.endsWith(MIDNIGHT)) return { kind: 'compare', field, op, value: date };
  return { kind: 'compare', field, op: op === 'lt' || op === 'lte' ? 'lte' : 'gt', value: date };
}

function exists(field: Field, operand: unknown, budget: Budget): CriteriaNode {
  if (typeof operand !== 'boolean') throw badInput(`$exists of the field ${show(field.name)} must be true or false`);
  budget.condition();
  const missing: CriteriaNode = { kind: 'missing', field };
  return operand ? not(missing) : missing;
}

function regex(field: Field, source: unknown, siblings: Record<string, unknown>, budget: Budget): CriteriaNode {
  if (typeof source !== 'string') throw badInput(`$regex of the field ${show(field.name)} must be a string`);
  const options = Object.hasOwn(siblings, '$options') ? siblings.$options : '';
  if (options !== '' && options !== 'i') throw badInput(`$options of the field ${show(field.name)} supports only "i"`);
  budget.condition();
  budget.regex(regexSize(parsePortableRegex(source)));
  if (field.type !== 'string' && field.type !== 'text')
    throw badInput(`$regex does not apply to the field ${show(field.name)} of type ${field.type}`);
  return { kind: 'regex', field, source, insensitive: options === 'i' };
}
