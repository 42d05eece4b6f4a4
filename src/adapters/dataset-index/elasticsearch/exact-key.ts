import type { IndexedField } from '../../../core/dataset-index.ts';

type Kind = Pick<IndexedField, 'type' | 'format'>;

/** Offset that turns all of int64 and uint64 into positive integers. */
const BIAS = 2n ** 63n;
/** Number of digits of the largest of them. */
const DIGITS = 20;

/**
 * Returns the exact digits of a flagged number from its key in `x…` (field-layout.ts). Keys of integers sort as texts in
 * the order of the numbers; keys of decimals are the digits themselves.
 */
export const exactText = ({ format }: Kind, key: string): string =>
  format === 'int64' ? (BigInt(key) - BIAS).toString() : key;

/** Returns the key of an integer. */
export const exactKey = (integer: bigint): string => String(integer + BIAS).padStart(DIGITS, '0');

/** Returns SQL of the key, from SQL of the number. */
export const exactKeySql = (integer: string): string =>
  `lpad(CAST(CAST(${integer} AS HUGEINT) + ${BIAS} AS VARCHAR), ${DIGITS}, '0')`;
