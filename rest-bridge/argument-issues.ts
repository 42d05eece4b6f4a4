import { coerceInputValue, isNonNullType, type GraphQLInputType } from 'graphql';
import type { ValidationIssue } from '../src/core/errors.ts';
import { MAX_ISSUES } from '../src/core/input-checks.ts';

/** One value and the key that it has in REST. `key` is undefined for an argument whose value is the whole body. */
interface ArgumentValue {
  key: string | undefined;
  type: GraphQLInputType;
  value: unknown;
}

/**
 * Returns why values do not fit their types, with REST's keys and values: at most 20 issues.
 * Called only after GraphQL refused the values, so that valid requests are checked once.
 */
export function findIssues(values: readonly ArgumentValue[]): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  for (const { key, type, value } of values) {
    const path = key === undefined ? [] : [key];
    if (value === undefined && isNonNullType(type))
      issues.push({ path, message: `"${key ?? 'body'}" is required`, code: 'required' });
    if (value === undefined || issues.length >= MAX_ISSUES) continue;
    coerceInputValue(value, type, (inner, invalid, error) => {
      if (issues.length < MAX_ISSUES) issues.push(toIssue([...path, ...inner], invalid, error.message));
    });
  }
  return issues;
}

/** Translates a message of graphql-js into an issue. */
function toIssue(path: (string | number)[], invalid: unknown, message: string): ValidationIssue {
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
  return { path, message: at === '' ? message : `"${at}": ${message}`, code: 'invalid' };
}
