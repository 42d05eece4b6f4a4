import type { LoadStatements } from './load-statements.ts';

/** Digits that DuckDB's widest decimal holds. */
const MAX_PRECISION = 38;

/**
 * Gives a column of digits, staged as text, the decimal type that holds what was seen, and answers DuckDB's type of it. Longer numbers, and those
 * with an exponent, stay text, exactly as they came. Zeros at the end count for nothing: Postgres' divisions and averages print up to twenty of them, and
 * wide decimals are several times as dear as narrow ones.
 */
export async function settleDigits(statements: LoadStatements, table: string, column: string): Promise<string> {
  const [answer] =
    await statements.rows(`SELECT max(CASE WHEN point > 0 THEN point - 1 ELSE bytes END), max(CASE WHEN point > 0 THEN strlen(rtrim(digits, '0')) - point ELSE 0 END), bool_or(exponent)
    FROM (SELECT digits, strlen(digits) bytes, instr(digits, '.') point, contains(digits, 'e') OR contains(digits, 'E') exponent FROM (SELECT ltrim(${column}, '-') digits FROM ${table}))`);
  const [whole, scale, exponent] = answer!;
  const precision = Number(whole) + Number(scale);
  if (exponent || precision > MAX_PRECISION) return 'VARCHAR';
  const sqlType = whole === null ? 'DOUBLE' : `DECIMAL(${Math.max(precision, 1)},${Number(scale)})`;
  await statements.change(`ALTER TABLE ${table} ALTER ${column} TYPE ${sqlType}`);
  return sqlType;
}
