/** Returns a decimal without sign and exponent as a number of its smallest units, which have `decimals` decimals. */
export function parseDecimalUnits(text: string, decimals: number): bigint {
  const [whole, fraction = ''] = text.split('.');
  return BigInt(`${whole}${fraction.padEnd(decimals, '0')}`);
}

/** Returns a number of units with `decimals` decimals as a decimal, e.g. `4.500000`. */
export function formatDecimalUnits(units: bigint, decimals: number): string {
  const digits = String(units).padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
