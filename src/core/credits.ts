import { formatDecimalUnits, parseDecimalUnits } from './decimal.ts';

/** Decimals of credits. */
export const CREDIT_DECIMALS = 6;
/** Credits with up to six decimals, without sign and exponent. */
const CREDITS = /^\d+(?:\.\d{1,6})?$/;

/** Returns credits in millionths, exactly. Throws a RangeError for a text that is not a decimal, e.g. `4.5`. */
export function parseCredits(text: string): bigint {
  if (!CREDITS.test(text)) throw new RangeError(`The credits ${JSON.stringify(text)} are not a decimal`);
  return parseDecimalUnits(text, CREDIT_DECIMALS);
}

/** Returns millionths as credits with six decimals, e.g. `4.500000`. */
export const formatCredits = (millionths: bigint): string => formatDecimalUnits(millionths, CREDIT_DECIMALS);

/** Returns credits for messages, without trailing zeros: `4.5`, `998`. */
export const printCredits = (text: string): string => (text.includes('.') ? text.replace(/\.0+$|(?<!0)0+$/, '') : text);

/** Returns the sum of credits. */
export const addCredits = (...parts: readonly string[]): string =>
  formatCredits(parts.reduce((sum, part) => sum + parseCredits(part), 0n));
