import type { IndexedField } from '../../../core/dataset-index.ts';

type Kind = Pick<IndexedField, 'type' | 'format'>;

/** Offset that turns all of int64 and uint64 into positive integers. */
const BIAS = 2n ** 63n;
/** Number of digits of the largest of them. */
const DIGITS = 20;

/**
 * Returns the key of a flagged number in `x…` (field-layout.ts), from its exact digits. Keys of integers sort as texts
 * in the order of the numbers; keys of decimals are the digits themselves.
 */
export const exactKey = ({ format }: Kind, digits: string): string =>
  format === 'int64' ? (BigInt(digits) + BIAS).toString().padStart(DIGITS, '0') : digits;

/** Returns the exact digits of a flagged number from its key. */
export const exactText = ({ format }: Kind, key: string): string =>
  format === 'int64' ? (BigInt(key) - BIAS).toString() : key;

/** Returns SQL of the key, from SQL of the number. */
export const exactKeySql = (integer: string): string =>
  `lpad(CAST(CAST(${integer} AS HUGEINT) + ${BIAS} AS VARCHAR), ${DIGITS}, '0')`;
