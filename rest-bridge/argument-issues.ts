import {
  coerceInputValue,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type GraphQLInputType,
} from 'graphql';
import type { ValidationIssue } from '../src/core/errors.ts';
import { MAX_ISSUES } from '../src/core/input-checks.ts';
import { ruleOf, toRuleIssue, violation, type InputRule } from '../src/core/input-rules.ts';

/** One value, its path for clients, which is empty for a whole body, and the name that messages give it then. */
interface ArgumentValue {
  path: readonly (string | number)[];
  name: string;
  type: GraphQLInputType;
  rule: InputRule | undefined;
  value: unknown;
}

/**
 * Returns why values do not fit their types, with REST's keys and values: at most `MAX_ISSUES`.
 * Called only after GraphQL refused the values, so that valid requests are checked once.
 */
export function findIssues(values: readonly ArgumentValue[]): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  for (const { path, name, type, rule, value } of values) {
    if (issues.length >= MAX_ISSUES) break;
    if (value === undefined && isNonNullType(type))
      issues.push({ path: [...path], message: `"${path.join('.') || name}" is required`, code: 'required' });
    if (value === undefined) continue;
    coerceInputValue(value, type, (inner, invalid, error) => {
      if (issues.length >= MAX_ISSUES) return;
      const isNumber = typeof invalid === 'number' && error.message.startsWith('Int cannot');
      issues.push(
        isNumber
          ? toRuleIssue([...path, ...inner], rangeText(ruleAt(type, rule, inner), invalid))
          : toIssue([...path, ...inner], { invalid, name }, error.message),
      );
    });
  }
  return issues;
}

/** Returns the rule of a value inside an argument. */
function ruleAt(
  type: GraphQLInputType,
  rule: InputRule | undefined,
  path: readonly (string | number)[],
): InputRule | undefined {
  const [key, ...rest] = path;
  const nullable = getNullableType(type);
  if (key === undefined) return rule;
  if (isListType(nullable)) return ruleAt(nullable.ofType as GraphQLInputType, rule?.items, rest);
  const field = isInputObjectType(nullable) ? nullable.getFields()[key] : undefined;
  return field && ruleAt(field.type, ruleOf(field), rest);
}

/** Largest and smallest value of GraphQL's integers. */
const MAX_INT = 2 ** 31 - 1;
const MIN_INT = -(2 ** 31);

/** Returns why a number is not an integer of GraphQL, in the words of its rule. */
function rangeText(rule: InputRule | undefined, value: number): string {
  const violated = rule && violation(rule, value);
  if (violated !== undefined) return violated;
  if (value > MAX_INT) return `must be at most ${MAX_INT}`;
  return value < MIN_INT ? `must be at least ${MIN_INT}` : 'must be an integer';
}

/** Beginnings of messages of graphql-js, and their texts in REST. */
const EXPECTATIONS: readonly (readonly [RegExp, string])[] = [
  [/^Int cannot represent/, 'must be an integer'],
  [/^Float cannot represent/, 'must be a number'],
  [/^(?:String|ID) cannot represent/, 'must be a text'],
  [/^Boolean cannot represent/, 'must be true or false'],
  [/^Expected type "\w+" to be an object|^\w+ cannot represent non-object value/, 'must be an object'],
  [/^Expected non-nullable type/, 'must not be null'],
];

/** Translates a message of graphql-js about one value into an issue. The message begins with the text of its type. */
export const toValueIssue = (path: readonly (string | number)[], message: string): ValidationIssue =>
  toIssue([...path], { invalid: undefined, name: 'input' }, message);

/** Translates a message of graphql-js into an issue. */
function toIssue(
  path: (string | number)[],
  { invalid, name }: { invalid: unknown; name: string },
  message: string,
): ValidationIssue {
  const missing = /^Field "(\w+)" of required type/.exec(message)?.[1];
  if (missing !== undefined) return { path: [...path, missing], message: `"${missing}" is required`, code: 'required' };
  const unknown = /^Field "([^]+)" is not defined by type "/.exec(message)?.[1];
  if (unknown !== undefined)
    return { path: [...path, unknown], message: `Unknown key ${JSON.stringify(unknown)}`, code: 'unknown' };
  const at = path.join('.');
  if (message.startsWith('Enum "') && typeof invalid === 'object') {
    const value = JSON.stringify((invalid as { word: unknown }).word);
    return { path, message: `"${at}" cannot be ${value}`, code: 'invalid' };
  }
  const expectation = EXPECTATIONS.find(([beginning]) => beginning.test(message))?.[1];
  if (expectation !== undefined) return { path, message: `"${at || name}" ${expectation}`, code: 'invalid' };
  const text = message.replace(/^Expected type "\w+"\. /, '');
  return { path, message: at === '' ? text : `"${at}": ${text}`, code: 'invalid' };
}
