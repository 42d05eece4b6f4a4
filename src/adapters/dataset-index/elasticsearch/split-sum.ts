import type { estypes } from '@elastic/elasticsearch';

/**
 * Parts of an integer of 64 bits: its digits in groups of seven, each with the sign of the integer. The engine adds
 * doubles, which is exact for the parts of up to 900 million values.
 */
const UNITS = { a: 10n ** 14n, b: 10n ** 7n, c: 1n } as const;
const SIZE = 10n ** 7n;

/** Results of `sumParts`. */
export type PartSums = Record<keyof typeof UNITS, { value: number }>;

const parts = Object.entries(UNITS) as [keyof typeof UNITS, bigint][];

export const partsMapping = {
  properties: Object.fromEntries(parts.map(([part]) => [part, { type: 'double', index: false }])),
};

/** Returns SQL of the parts as a JSON object. Null stays null. */
export function partsSql(integer: string): string {
  const members = parts.map(
    ([part, unit], i) => `'${i === 0 ? '{' : ','}"${part}":' || ${integer} // ${unit} % ${SIZE}`,
  );
  return `${members.join(' || ')} || '}'`;
}

/** Returns the aggregations that `joinParts` requires. */
export const sumParts = (field: string): Record<string, estypes.AggregationsAggregationContainer> =>
  Object.fromEntries(parts.map(([part]) => [part, { sum: { field: `${field}.${part}` } }]));

/** Returns the sum of integers from the sums of their parts. */
export const joinParts = (sums: PartSums): bigint =>
  parts.reduce((total, [part, unit]) => total + BigInt(sums[part].value) * unit, 0n);
