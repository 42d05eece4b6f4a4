import { isoDate, isoDatetime } from '../dates.ts';
import { badInput } from '../errors.ts';
import type { FieldType } from '../fields.ts';
import type { ArithmeticOperator, ComparisonOperator, Expression } from './expression.ts';
import { DATE_UNITS } from './functions.ts';
import type { DateUnit, FunctionName } from './functions.ts';

/**
 * Type of an expression. `null` is the type of the literal null and of fields of unknown type, which is compatible with
 * every type.
 */
type ValueType = 'string' | 'integer' | 'number' | 'boolean' | 'date' | 'datetime' | 'null';

/** A checked expression: every node has a type, and every operand has a type that its operator accepts. */
export type Typed = { type: ValueType } & (
  | { kind: 'literal'; value: string | number | boolean | null }
  | { kind: 'field'; name: string }
  | { kind: 'negate' | 'not'; operand: Typed }
  | { kind: 'arithmetic'; op: ArithmeticOperator; left: Typed; right: Typed }
  | { kind: 'comparison'; op: ComparisonOperator; left: Typed; right: Typed }
  | { kind: 'and' | 'or'; left: Typed; right: Typed }
  | { kind: 'call'; name: Exclude<FunctionName, 'dateDiff' | 'round'>; args: Typed[] }
  | { kind: 'round'; operand: Typed; digits: number }
  | { kind: 'dateDiff'; unit: DateUnit; from: Typed; to: Typed }
);

type TypeOf = (field: string) => FieldType | 'unknown' | undefined;

const NUMERIC: ValueType[] = ['integer', 'number', 'null'];
const TEMPORAL: ValueType[] = ['date', 'datetime', 'null'];
const STRING: ValueType[] = ['string', 'null'];
const BOOLEAN: ValueType[] = ['boolean', 'null'];

/**
 * Checks an expression against fields. Arithmetic uses doubles and gives `number`; where a date is expected, an ISO
 * string literal is one.
 *
 * Throws BAD_USER_INPUT naming the unknown field, or the operator or function with an operand of the wrong type.
 */
export function typeExpression(expression: Expression, typeOf: TypeOf): Typed {
  const inner = (operand: Expression) => typeExpression(operand, typeOf);
  switch (expression.kind) {
    case 'literal':
      return { ...expression, type: literalType(expression.value) };
    case 'field':
      return { ...expression, type: fieldType(expression.name, typeOf) };
    case 'negate':
      return { kind: 'negate', type: 'number', operand: expect(inner(expression.operand), NUMERIC, '-') };
    case 'not':
      return { kind: 'not', type: 'boolean', operand: expect(inner(expression.operand), BOOLEAN, 'not') };
    case 'and':
    case 'or':
      return {
        kind: expression.kind,
        type: 'boolean',
        left: expect(inner(expression.left), BOOLEAN, expression.kind),
        right: expect(inner(expression.right), BOOLEAN, expression.kind),
      };
    case 'arithmetic':
      return {
        ...expression,
        type: 'number',
        left: expect(inner(expression.left), NUMERIC, expression.op),
        right: expect(inner(expression.right), NUMERIC, expression.op),
      };
    case 'comparison':
      return comparison(expression.op, inner(expression.left), inner(expression.right));
    case 'call':
      return expression.name === 'dateDiff'
        ? dateDiff(expression.args, inner)
        : call(expression.name, expression.args.map(inner));
  }
}

function literalType(value: string | number | boolean | null): ValueType {
  if (value === null) return 'null';
  return typeof value === 'number'
    ? Number.isSafeInteger(value)
      ? 'integer'
      : 'number'
    : (typeof value as 'string' | 'boolean');
}

function fieldType(name: string, typeOf: TypeOf): ValueType {
  const type = typeOf(name);
  if (type === undefined) throw badInput(`Unknown field ${JSON.stringify(name.slice(0, 100))}`);
  if (type === 'json')
    throw badInput(`The field ${JSON.stringify(name)} is of type json and cannot be used in an expression`);
  if (type === 'unknown') return 'null';
  return type === 'text' ? 'string' : type;
}

function expect(operand: Typed, types: readonly ValueType[], user: string): Typed {
  if (!types.includes(operand.type))
    throw badInput(`${user} takes a ${types[0] === 'integer' ? 'number' : types[0]}, not a ${operand.type}`);
  return operand;
}

function comparison(op: ComparisonOperator, left: Typed, right: Typed): Typed {
  const [a, b] = [
    TEMPORAL.includes(right.type) && right.type !== 'null' ? asDate(left) : left,
    TEMPORAL.includes(left.type) && left.type !== 'null' ? asDate(right) : right,
  ];
  const type = commonType([a, b], op);
  if (type === 'boolean' && op !== '=' && op !== '!=') throw badInput(`${op} does not apply to a boolean`);
  return { kind: 'comparison', type: 'boolean', op, left: a, right: b };
}

/** Converts an ISO string literal to the date or datetime that it contains. */
function asDate(operand: Typed): Typed {
  if (operand.kind !== 'literal' || typeof operand.value !== 'string') return operand;
  const date = isoDate(operand.value);
  const value = date ?? isoDatetime(operand.value);
  return value === undefined ? operand : { kind: 'literal', type: date ? 'date' : 'datetime', value };
}

/** Returns the common type of operands: integers with numbers are numbers, dates with datetimes are datetimes. */
function commonType(operands: readonly Typed[], user: string): ValueType {
  return operands
    .map((operand) => operand.type)
    .reduce((common, type) => {
      if (common === 'null' || common === type) return type;
      if (type === 'null') return common;
      if (NUMERIC.includes(common) && NUMERIC.includes(type)) return 'number';
      if (TEMPORAL.includes(common) && TEMPORAL.includes(type)) return 'datetime';
      throw badInput(`${user} cannot combine ${common} and ${type}`);
    });
}

function call(name: Exclude<FunctionName, 'dateDiff'>, args: Typed[]): Typed {
  const all = (types: ValueType[]) => args.map((arg) => expect(arg, types, name));
  switch (name) {
    case 'abs':
      return { kind: 'call', name, type: 'number', args: all(NUMERIC) };
    case 'floor':
    case 'ceil':
      return { kind: 'call', name, type: args[0]!.type, args: all(NUMERIC) };
    case 'round':
      return { kind: 'round', type: args[0]!.type, operand: expect(args[0]!, NUMERIC, name), digits: digits(args[1]) };
    case 'lower':
    case 'upper':
    case 'trim':
      return { kind: 'call', name, type: 'string', args: all(STRING) };
    case 'length':
      return { kind: 'call', name, type: 'integer', args: all(STRING) };
    case 'concat':
      return { kind: 'call', name, type: 'string', args };
    case 'coalesce':
      return { kind: 'call', name, type: commonType(args, name), args };
    case 'if':
      return {
        kind: 'call',
        name,
        type: commonType(args.slice(1), name),
        args: [expect(args[0]!, BOOLEAN, name), ...args.slice(1)],
      };
    case 'year':
    case 'month':
    case 'day':
      return { kind: 'call', name, type: 'integer', args: [expect(asDate(args[0]!), TEMPORAL, name)] };
  }
}

function digits(argument: Typed | undefined): number {
  if (argument === undefined) return 0;
  if (argument.kind === 'literal' && argument.type === 'integer' && (argument.value as number) <= 15)
    return argument.value as number;
  throw badInput('round takes its digits as a whole number from 0 to 15');
}

function dateDiff([unit, from, to]: Expression[], inner: (operand: Expression) => Typed): Typed {
  const written = unit!.kind === 'literal' ? unit!.value : unit!.kind === 'field' ? unit!.name : undefined;
  const known = DATE_UNITS.find((candidate) => candidate === written);
  if (!known) throw badInput(`dateDiff takes a unit first, one of ${DATE_UNITS.join(', ')}`);
  return {
    kind: 'dateDiff',
    type: 'integer',
    unit: known,
    from: expect(asDate(inner(from!)), TEMPORAL, 'dateDiff'),
    to: expect(asDate(inner(to!)), TEMPORAL, 'dateDiff'),
  };
}
