import { comparedText } from '../../../core/criteria/value.ts';
import type { IndexedField } from '../../../core/dataset-index.ts';
import { numberKey } from '../number-key.ts';
import { exactText } from './exact-key.ts';

type Kind = Pick<IndexedField, 'type' | 'format'>;

/**
 * Converts a value of an aggregation to its JSON form (core/dataset-index.ts, `Row`): dates come as milliseconds,
 * flagged numbers as their keys.
 */
export function formOf(field: Kind, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  switch (field.type) {
    case 'integer':
    case 'number':
      return field.format ? exactText(field, String(value)) : Number(value);
    case 'boolean':
      return value === true || value === 1;
    case 'date':
      return new Date(value as number).toISOString().slice(0, 'YYYY-MM-DD'.length);
    case 'datetime':
      return new Date(value as number).toISOString();
    default:
      return value;
  }
}

/**
 * Compares two values in their JSON forms as searches do: strings by their first code points, numbers by their value,
 * including texts of exact digits. Missing values are last in both directions.
 */
export function compareForms({ type }: Kind, left: unknown, right: unknown, descending = false): number {
  if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1;
  const order =
    type === 'boolean'
      ? sign(Number(left), Number(right))
      : type === 'integer' || type === 'number'
        ? compareNumbers(left, right)
        : compareTexts(comparedText(left as string), comparedText(right as string));
  return descending ? -order : order;
}

const compareNumbers = (left: unknown, right: unknown): number =>
  typeof left === 'number' && typeof right === 'number'
    ? sign(left, right)
    : sign(numberKey(String(left)), numberKey(String(right)));

/** Distinguishes texts with the same beginning, which `compareForms` does not. */
export const compareWhole = ({ type }: Kind, left: unknown, right: unknown): number =>
  type === 'text' && left !== null && right !== null ? compareTexts(left as string, right as string) : 0;

const sign = <T extends number | string>(left: T, right: T): number => (left < right ? -1 : left > right ? 1 : 0);

const FIRST_SURROGATE = 0xd800;
const PAST_SURROGATES = 0xe000;

function compareTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const [a, b] = [left.charCodeAt(i), right.charCodeAt(i)];
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

/** Code points written as surrogates are greater than all others. */
const rank = (unit: number): number =>
  unit >= FIRST_SURROGATE && unit < PAST_SURROGATES ? unit + PAST_SURROGATES : unit;
