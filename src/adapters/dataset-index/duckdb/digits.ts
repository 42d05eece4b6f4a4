import { MAX_DECIMAL_DIGITS } from '../../../core/exact-number.ts';
import type { LoadStatements } from './load-statements.ts';

/**
 * Converts a column of digits, staged as text, to the decimal type that fits its values, and returns that type. Longer
 * numbers and numbers with an exponent stay text, unchanged. Trailing zeros are ignored: Postgres prints up to twenty
 * of them in divisions and averages, and wide decimals are several times as slow as narrow ones.
 */
export async function settleDigits(statements: LoadStatements, table: string, column: string): Promise<string> {
  const [row] = await statements.rows(`
      SELECT
        max(CASE WHEN point > 0 THEN point - 1 ELSE bytes END),
        max(CASE WHEN point > 0 THEN strlen(rtrim(digits, '0')) - point ELSE 0 END),
        bool_or(exponent)
      FROM (
        SELECT digits, strlen(digits) bytes, instr(digits, '.') point,
          contains(digits, 'e') OR contains(digits, 'E') exponent
        FROM (SELECT ltrim(${column}, '-') digits FROM ${table}))`);
  const [whole, scale, exponent] = row!;
  const precision = Number(whole) + Number(scale);
  if (exponent || precision > MAX_DECIMAL_DIGITS) return 'VARCHAR';
  const sqlType = whole === null ? 'DOUBLE' : `DECIMAL(${Math.max(precision, 1)},${Number(scale)})`;
  await statements.change(`ALTER TABLE ${table} ALTER ${column} TYPE ${sqlType}`);
  return sqlType;
}
