/**
 * Keys of decimal numbers: texts that sort by code point like the numbers, with one key for each number, whatever its
 * spelling. A key has
 *
 * - the sign: `0` for negative numbers, `1` for zero, which ends here, `2` for positive ones,
 * - the exponent of the first digit plus ZERO_EXPONENT, for negative numbers minus it,
 * - the digits from the first to the last that is not 0, for negative numbers each as 9 minus it and `~` after them.
 */
const ZERO_EXPONENT = 500_000;

/** Returns the key of a number: digits with an optional fraction and exponent, such as `-1.25` or `3e21`. */
export function numberKey(numeral: string): string {
  const [mantissa = '', exponent = '0'] = numeral.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace(/^[-+]/, '').split('.');
  const leading = (whole + fraction).replace(/^0+/, '');
  const digits = leading.replace(/(?<!0)0+$/, '');
  if (digits === '') return '1';
  const point = leading.length - fraction.length + Number(exponent);
  return mantissa.startsWith('-')
    ? `0${ZERO_EXPONENT - point}${digits.replaceAll(/\d/g, (digit) => String(9 - Number(digit)))}~`
    : `2${ZERO_EXPONENT + point}${digits}`;
}

/** Returns SQL of DuckDB for the key of a number of any type, or of a text with such a number. Null stays null. */
export function numberKeySql(number: string): string {
  const text = `CAST(${number} AS VARCHAR)`;
  const mantissa = `split_part(lower(ltrim(${text}, '-+')), 'e', 1)`;
  const exponent = `coalesce(TRY_CAST(split_part(lower(${text}), 'e', 2) AS INTEGER), 0)`;
  const leading = `ltrim(replace(${mantissa}, '.', ''), '0')`;
  const digits = `rtrim(${leading}, '0')`;
  const point = `(strlen(${leading}) - strlen(split_part(${mantissa}, '.', 2)) + ${exponent})`;
  return `CASE WHEN ${digits} = '' THEN '1'
    WHEN starts_with(${text}, '-')
    THEN '0' || (${ZERO_EXPONENT} - ${point}) || translate(${digits}, '0123456789', '9876543210') || '~'
    ELSE '2' || (${ZERO_EXPONENT} + ${point}) || ${digits} END`;
}
