import type { CriteriaValue } from './tree.ts';

export type Order = 'lt' | 'lte' | 'gt' | 'gte';

/** The least and the greatest value of a field with the format `int64`, which also has unsigned integers. */
const LEAST = -(2n ** 63n);
const GREATEST = 2n ** 64n - 1n;

/** Returns the digits of the only whole number that is equal to the operand; null when the field cannot have it. */
export function equalWhole(operand: CriteriaValue): string | null {
  const { floor, isWhole } = floorOf(String(operand));
  return isWhole && floor >= LEAST && floor <= GREATEST ? String(floor) : null;
}

/**
 * Returns an order of whole numbers that is true for the same values of the field as `op operand`. Its own operand is
 * from LEAST to GREATEST, as digits.
 */
export function orderOfWholes(op: Order, operand: CriteriaValue): { op: Order; value: string } {
  const { floor, isWhole } = floorOf(String(operand));
  const isLower = op === 'lt' || op === 'lte';
  // Either all values are on the wanted side, or none.
  if (floor < LEAST) return { op: isLower ? 'lt' : 'gte', value: String(LEAST) };
  if (floor > GREATEST) return { op: isLower ? 'lte' : 'gt', value: String(GREATEST) };
  if (isWhole) return { op, value: String(floor) };
  return { op: isLower ? 'lte' : 'gt', value: String(floor) };
}

/** Returns the greatest whole number that is not above a numeral, such as `-1.25` or `3e2`, and whether they are equal. */
function floorOf(numeral: string): { floor: bigint; isWhole: boolean } {
  const [mantissa = '', exponent = '0'] = numeral.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const point = whole.length + Number(exponent);
  const digits = (whole + fraction).padEnd(point, '0');
  const magnitude = BigInt(point > 0 ? digits.slice(0, point) : 0);
  const isWhole = /^0*$/.test(point > 0 ? digits.slice(point) : digits);
  if (!mantissa.startsWith('-')) return { floor: magnitude, isWhole };
  return { floor: isWhole ? -magnitude : -magnitude - 1n, isWhole };
}
