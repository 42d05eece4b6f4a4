import { isoDatetime } from '../dates.ts';
import { badInput } from '../errors.ts';
import type { Field } from '../fields.ts';
import type { CriteriaValue } from './tree.ts';

/**
 * Strings are compared by at most this many characters (code points), because indexes have a limit for keys: a keyword
 * of Elasticsearch has at most 32,766 bytes, which this many characters never exceed.
 */
export const COMPARED_CHARACTERS = 8000;

const NUMERAL = /^-?\d{1,400}(\.\d{1,400})?([eE][+-]?\d{1,3})?$/;

/** Formats a name or value for an error message, shortened if it is long. */
export function show(value: unknown): string {
  const text = JSON.stringify(typeof value === 'string' ? value.slice(0, 100) : value) ?? String(value);
  return text.length > 110 ? `${text.slice(0, 100)}…` : text;
}

/**
 * Converts the operand of a comparison to the form of the field's type: strings cut to 8,000 characters, dates and
 * datetimes as ISO times in UTC.
 *
 * Throws BAD_USER_INPUT naming the field when the value has another type. Also throws it when the field has exact
 * digits and the value is a whole JSON number that may have been another one: past 2^53 - 1, JSON parsers round them.
 */
export function comparedValue(field: Field, value: unknown): CriteriaValue {
  if (field.format && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw badInput(
      `The field ${show(field.name)} has the format ${field.format}: write whole numbers past 9007199254740991 as a text, ` +
        `for example "9007199254740993", because JSON numbers of that size are rounded`,
    );
  const typed = typedValue(field, value);
  if (typed === undefined)
    throw badInput(
      `The field ${show(field.name)} is of type ${field.type}: ${describe(value)} cannot be compared with it`,
    );
  return typed;
}

function typedValue(field: Field, value: unknown): CriteriaValue | undefined {
  switch (field.type) {
    case 'string':
    case 'text':
      return typeof value === 'string' && value.isWellFormed() ? comparedText(value) : undefined;
    case 'integer':
    case 'number':
      if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
      return field.format && typeof value === 'string' && NUMERAL.test(value) && Number.isFinite(Number(value))
        ? value
        : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'date':
    case 'datetime':
      return typeof value === 'string' ? isoDatetime(value) : undefined;
    case 'json':
      return undefined;
  }
}

/** Returns the part of a string that is compared: its first characters. */
export function comparedText(text: string): string {
  return text.length <= COMPARED_CHARACTERS
    ? text
    : Array.from(text.slice(0, 2 * COMPARED_CHARACTERS))
        .slice(0, COMPARED_CHARACTERS)
        .join('');
}

/** Returns whether a text may be only the beginning of another one. */
export const isCut = (text: string): boolean =>
  text.length >= COMPARED_CHARACTERS && Array.from(text).length >= COMPARED_CHARACTERS;

const describe = (value: unknown) =>
  typeof value === 'object' && value !== null ? (Array.isArray(value) ? 'a list' : 'an object') : show(value);

/** Returns the operand of an operator that requires a list. */
export function list(operator: string, value: unknown): unknown[] {
  if (!Array.isArray(value)) throw badInput(`${operator} must be a list`);
  return value;
}

/** Returns whether the value is a JSON object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
