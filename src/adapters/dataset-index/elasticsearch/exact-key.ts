import type { IndexedField } from '../../../core/dataset-index.ts';

type Kind = Pick<IndexedField, 'type' | 'format'>;

/** Added to an integer, makes all of int64 and uint64 positive. */
const BIAS = 2n ** 63n;
/** Digits of the greatest of them. */
const DIGITS = 20;

/**
 * The key that a flagged number has in `x…` (layout.ts), from its exact digits as clients see them. Keys of integers have the order of the numbers as
 * texts; decimals' are the digits themselves.
 */
export const exactKey = ({ format }: Kind, digits: string): string =>
  format === 'int64' ? (BigInt(digits) + BIAS).toString().padStart(DIGITS, '0') : digits;

/** A flagged number's exact digits, as clients see them, from its key. */
export const exactText = ({ format }: Kind, key: string): string =>
  format === 'int64' ? (BigInt(key) - BIAS).toString() : key;

/** SQL of the key, from that of the number. */
export const exactKeySql = (integer: string): string =>
  `lpad(CAST(CAST(${integer} AS HUGEINT) + ${BIAS} AS VARCHAR), ${DIGITS}, '0')`;
