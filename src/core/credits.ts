/** Decimals of credits. */
export const CREDIT_DECIMALS = 6;
/** Credits with up to six decimals, without sign and exponent. */
const CREDITS = /^(\d+)(?:\.(\d{1,6}))?$/;

/** Returns credits in millionths, exactly. Throws a RangeError for a text that is not a decimal, e.g. `4.5`. */
export function parseCredits(text: string): bigint {
  const [, whole, fraction = ''] = CREDITS.exec(text) ?? [];
  if (whole === undefined) throw new RangeError(`The credits ${JSON.stringify(text)} are not a decimal`);
  return BigInt(whole + fraction.padEnd(CREDIT_DECIMALS, '0'));
}

/** Returns millionths as credits with six decimals, e.g. `4.500000`. */
export function formatCredits(millionths: bigint): string {
  const digits = String(millionths).padStart(CREDIT_DECIMALS + 1, '0');
  return `${digits.slice(0, -CREDIT_DECIMALS)}.${digits.slice(-CREDIT_DECIMALS)}`;
}

/** Returns credits for messages, without trailing zeros: `4.5`, `998`. */
export const printCredits = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
