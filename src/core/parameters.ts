import { isDeepStrictEqual } from 'node:util';
import { isoDate, isoDatetime } from './dates.ts';
import { badInput, type ApiError } from './errors.ts';
import { survivesAsNumber } from './exact-number.ts';
import { isStorable } from './storable-text.ts';
import { parseTemplate } from './template.ts';
import type { SqlDialect } from './template.ts';

export { parseTemplate };
export type { SqlDialect, TemplatePiece } from './template.ts';

/**
 * The checked value of a query parameter. Null is an explicit null. Dates are ISO strings in UTC. A number with more
 * digits than a double has is a string of its digits, without an exponent.
 */
export type ParameterValue = string | number | boolean | null;

/** Definition of a query parameter (docs/contract/datasets.md#parameters). */
export interface ParameterDefinition {
  name: string;
  label?: string | null;
  dataType: 'string' | 'number' | 'date' | 'boolean';
  defaultValue?: ParameterValue;
  required?: boolean;
  description?: string | null;
}

/** A parameter with the value for one run. */
export interface BoundParameter {
  name: string;
  dataType: ParameterDefinition['dataType'];
  value: ParameterValue;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/;
const DATA_TYPES: readonly string[] = ['string', 'number', 'date', 'boolean'];
const MAX_DEFINITIONS = 100;
/** A number whose text has all digits. */
const PLAIN_NUMBER = /^-?\d{1,1000}(?:\.\d{1,1000})?$/;

/**
 * Checks a query and its parameter definitions before they are saved. Throws `badInput` naming an undefined
 * placeholder, an invalid or repeated name, an unknown type or a default of another type, and the errors of
 * `parseTemplate`.
 */
export function checkParameters(sql: string, definitions: readonly ParameterDefinition[], dialect?: SqlDialect): void {
  if (definitions.length > MAX_DEFINITIONS) throw badInput(`A query has at most ${MAX_DEFINITIONS} parameters`);
  const defined = new Set<string>();
  for (const definition of definitions) {
    const name = JSON.stringify(definition.name);
    if (!NAME.test(definition.name))
      throw badInput(
        `${name} is not a valid parameter name: use letters, digits, _ and -, not starting with a digit or -`,
      );
    if (defined.has(definition.name)) throw badInput(`The parameter ${name} is defined twice`);
    if (!DATA_TYPES.includes(definition.dataType))
      throw badInput(`The parameter ${name} has the unknown type ${JSON.stringify(definition.dataType)}`);
    typedValue(definition, definition.defaultValue ?? null);
    defined.add(definition.name);
  }
  for (const piece of parseTemplate(sql, dialect)) {
    if (typeof piece === 'object' && !defined.has(piece.name))
      throw badInput(`The placeholder {{${piece.name}}} has no definition`);
  }
}

/**
 * Returns the value of every parameter for one run: the override if present, else the default. An override of null sets
 * the value to null. Throws `badInput` naming a required parameter without a value, an unknown override, or a value of
 * another type.
 */
export function bindParameters(
  definitions: readonly ParameterDefinition[],
  overrides: Readonly<Record<string, unknown>> = {},
): BoundParameter[] {
  const unknown = Object.keys(overrides).find((name) => !definitions.some((definition) => definition.name === name));
  if (unknown !== undefined)
    throw wrongParameter(unknown, `Unknown parameter ${JSON.stringify(unknown.slice(0, 100))}`);
  return definitions.map((definition) => {
    const override = Object.hasOwn(overrides, definition.name) ? overrides[definition.name] : undefined;
    const value = typedValue(definition, override === undefined ? (definition.defaultValue ?? null) : override);
    if (value === null && definition.required)
      throw wrongParameter(definition.name, `The parameter ${JSON.stringify(definition.name)} is required`);
    return { name: definition.name, dataType: definition.dataType, value };
  });
}

/** Returns a number, or where it would lose digits, its text. */
function parseDigits(text: string): number | string {
  const number = Number(text);
  const isExact = survivesAsNumber(text) && (Number.isSafeInteger(number) || !Number.isInteger(number));
  return isExact ? number : text.replace(/^(-?)0+(?=\d)/, '$1');
}

/** Returns the error for a number that the source of the query cannot represent. */
export const tooManyDigits = (name: string, limit: string): ApiError =>
  wrongParameter(name, `The parameter ${JSON.stringify(name)} has more digits than its source can compare: ${limit}`);

const wrongParameter = (name: string, message: string): ApiError =>
  badInput(message, { validation: [{ path: ['params', name], message, code: 'invalid' }] });

/** Returns the value as it is bound: a date as `YYYY-MM-DD`, a timestamp as ISO 8601 in UTC. */
function typedValue({ name, dataType }: ParameterDefinition, value: unknown): ParameterValue {
  if (value === null) return null;
  if (dataType === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw wrongParameter(
      name,
      `The parameter ${JSON.stringify(name)} is a number past 9007199254740991, which JSON parsers round: ` +
        'write it as a text with all digits',
    );
  const typed = VALUE_READERS[dataType](value);
  if (typed === undefined)
    throw wrongParameter(
      name,
      `The parameter ${JSON.stringify(name)} must be a ${dataType}${dataType === 'date' ? ' in ISO format' : ''}`,
    );
  return typed;
}

/** Returns the checked value, undefined if it is not of the type. */
const VALUE_READERS: Record<ParameterDefinition['dataType'], (value: unknown) => ParameterValue | undefined> = {
  // No source accepts NUL or a lone surrogate in a string.
  string: (value) => (typeof value === 'string' && isStorable(value) ? value : undefined),
  number: (value) =>
    typeof value === 'string' && PLAIN_NUMBER.test(value)
      ? parseDigits(value)
      : typeof value === 'number' && Number.isFinite(value)
        ? value
        : undefined,
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  date: (value) => (typeof value === 'string' ? (isoDate(value) ?? isoDatetime(value)) : undefined),
};

/** Returns a definition in its stored form, with every key present. */
const storedDefinition = ({
  name,
  label,
  dataType,
  defaultValue,
  required,
  description,
}: ParameterDefinition): ParameterDefinition => ({
  name,
  label: label ?? null,
  dataType,
  defaultValue: defaultValue ?? null,
  required: required ?? false,
  description: description ?? null,
});

/** Returns definitions in their stored form, with every key present. */
export const storedDefinitions = (definitions: readonly ParameterDefinition[]): ParameterDefinition[] =>
  definitions.map(storedDefinition);

/** Returns whether two lists define the same parameters. An absent key equals its default. */
export const sameDefinitions = (one: readonly ParameterDefinition[], other: readonly ParameterDefinition[]): boolean =>
  isDeepStrictEqual(storedDefinitions(one), storedDefinitions(other));
