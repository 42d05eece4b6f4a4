import type { TemplateInput } from '../../../entities/template-input.ts';
import { isObject } from '../../core/criteria/value.ts';
import { badInput, type ValidationIssue } from '../../core/errors.ts';
import { checkJsonBounds, invalid } from '../../core/input-checks.ts';
import { shortenName } from '../../core/shorten-message.ts';
import { schemaIssue } from '../resource/schema-validation.ts';
import { validatorOf } from './template-input-schema.ts';

/** The part of an input's definition that decides which values it accepts. */
export type InputDefinition = Pick<TemplateInput, 'name' | 'required' | 'defaultValue' | 'schema'>;

const PARAMS_BOUNDS = { maxBytes: 1024 * 1024, maxDepth: 20 };
/** Maximum of the weight of a schema times the length of a value: some tenths of a second. */
export const MAX_WORK = 1e8;
/** Maximum number of issues in the error of wrong values. */
const MAX_ISSUES = 100;

/**
 * Returns the value of every input for a rendering: the given one, else its default, else null. Null is given for an
 * optional input without a value. Throws BAD_USER_INPUT with an issue for each unknown name, wrong value and required
 * input without one; its path is `params.<name>`.
 */
export function checkParameters(
  inputs: readonly InputDefinition[],
  params: Readonly<Record<string, unknown>> | null | undefined,
): Record<string, unknown> {
  const given = params ?? {};
  if (!isObject(given)) throw invalid('params', 'must be an object');
  checkJsonBounds(given, 'params', PARAMS_BOUNDS);
  const names = new Set(inputs.map(({ name }) => name));
  const issues = Object.keys(given)
    .filter((name) => !names.has(name))
    .map((name) => issueOf(name, 'is unknown', 'unknown'));
  const values: [string, unknown][] = [];
  for (const input of inputs) {
    const isGiven = Object.hasOwn(given, input.name);
    const value = isGiven ? given[input.name] : (input.defaultValue ?? null);
    const issue = valueIssue(input, value, isGiven);
    if (issue) issues.push(issue);
    values.push([input.name, value]);
  }
  if (issues.length > 0) throw badInput(issues[0]!.message, { validation: issues.slice(0, MAX_ISSUES) });
  return Object.fromEntries(values);
}

/** Returns the issue of an input's value; null if it fits. */
function valueIssue(
  { name, required, schema }: InputDefinition,
  value: unknown,
  isGiven: boolean,
): ValidationIssue | null {
  if (value === null && !required) return null;
  if (value === null && !isGiven) return issueOf(name, 'is required', 'required');
  const validator = validatorOf(schema);
  if (validator.weight * JSON.stringify(value).length > MAX_WORK)
    return issueOf(name, 'is too large for the schema of the input', 'invalid');
  const problem = validator.problemOf(value);
  if (!problem) return null;
  return value === null ? issueOf(name, 'is required', 'required') : schemaIssue(problem, ['params', name]);
}

const issueOf = (name: string, text: string, code: string): ValidationIssue => ({
  path: ['params', name],
  message: `params.${shortenName(name)} ${text}`,
  code,
});

/** Throws BAD_USER_INPUT below `path` for a default that does not fit its schema. */
export function checkDefault({ schema, defaultValue }: InputDefinition, path: readonly (string | number)[]): void {
  if (defaultValue === null || defaultValue === undefined) return;
  const { weight, problemOf } = validatorOf(schema);
  const dotted = path.join('.');
  if (weight * JSON.stringify(defaultValue).length > MAX_WORK)
    throw invalid(dotted, 'is too large for the schema of the input');
  const problem = problemOf(defaultValue);
  if (!problem) return;
  const issue = schemaIssue(problem, path);
  throw badInput(issue.message, { validation: [issue] });
}
