import type { Field } from '../../../src/core/fields.ts';

type Json = Record<string, unknown>;
type Operand = number | bigint | string | boolean;

/**
 * Returns whether criteria find a row, both in their JSON form. The criteria must be valid. It implements
 * docs/contract/datasets.md#criteria and shares no code with the parser, so an index with equal results fulfils the
 * contract.
 */
export function matches(row: Json, criteria: Json, fields: readonly Field[]): boolean {
  return Object.entries(criteria).every(([key, value]) => {
    if (key === '$and') return (value as Json[]).every((item) => matches(row, item, fields));
    if (key === '$or') return (value as Json[]).some((item) => matches(row, item, fields));
    if (key === '$not') return !matches(row, value as Json, fields);
    return matchesCondition(
      row[key] ?? null,
      value,
      fields.find((field) => field.name === key)!,
    );
  });
}

function matchesCondition(stored: unknown, condition: unknown, field: Field): boolean {
  if (typeof condition !== 'object' || condition === null) return isEqual(stored, condition, field);
  return Object.entries(condition).every(([operator, operand]) =>
    matchesOperator(stored, operator, operand, condition as Json, field),
  );
}

function matchesOperator(stored: unknown, operator: string, operand: unknown, siblings: Json, field: Field): boolean {
  switch (operator) {
    case '$eq':
      return isEqual(stored, operand, field);
    case '$ne':
      return !isEqual(stored, operand, field);
    case '$in':
      return (operand as unknown[]).some((item) => isEqual(stored, item, field));
    case '$nin':
      return !(operand as unknown[]).some((item) => isEqual(stored, item, field));
    case '$exists':
      return (stored !== null) === operand;
    case '$not':
      return !matchesCondition(stored, operand, field);
    case '$options':
      return true;
    case '$regex':
      return stored !== null && matchesRegex(prefix(stored as string), operand as string, siblings.$options === 'i');
    default:
      return stored !== null && matchesOrder(compare(operandOf(stored, field), operandOf(operand, field)), operator);
  }
}

function isEqual(stored: unknown, wanted: unknown, field: Field): boolean {
  if (stored === null || wanted === null) return stored === wanted;
  return compare(operandOf(stored, field), operandOf(wanted, field)) === 0;
}

function matchesOrder(order: number, operator: string): boolean {
  return { $lt: order < 0, $lte: order <= 0, $gt: order > 0, $gte: order >= 0 }[operator]!;
}

function operandOf(value: unknown, field: Field): Operand {
  switch (field.type) {
    case 'integer':
    case 'number':
      return field.format ? scaled(value as string | number) : Number(value);
    case 'date':
    case 'datetime':
      return Date.parse(value as string);
    case 'boolean':
      return value as boolean;
    default:
      return prefix(value as string);
  }
}

/** Decimal places of the scaled integers, more than any value of the tests has. */
const SCALE = 40;

/** Returns a number times 10^SCALE, exactly. */
function scaled(value: string | number): bigint {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return BigInt(whole + fraction) * 10n ** BigInt(SCALE + Number(exponent) - fraction.length);
}

function compare(a: Operand, b: Operand): number {
  // The order of UTF-8 bytes is the order of code points; the order of JavaScript strings is not.
  if (typeof a === 'string' && a !== b) return Buffer.compare(Buffer.from(a), Buffer.from(b as string));
  return a === b ? 0 : a < b ? -1 : 1;
}

const prefixes = new Map<string, string>();

/** Returns the first 8,000 characters. The result of a long text is cached. */
function prefix(text: string): string {
  if (text.length <= 8000) return text;
  const cut = prefixes.get(text) ?? [...text].slice(0, 8000).join('');
  prefixes.set(text, cut);
  return cut;
}

const lower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Matches with JavaScript's engine. To ignore ASCII case, it lowers the text and the expression. */
function matchesRegex(text: string, source: string, insensitive: boolean): boolean {
  let inClass = false;
  const translated = source.replace(/\\?[^]/gu, (token) => {
    if (token === '\\s') return inClass ? '\\t\\n\\v\\f\\r ' : '[\\t\\n\\v\\f\\r ]';
    if (token === '\\d' || token === '\\w') return token;
    if (token.startsWith('\\')) return `\\x${token.charCodeAt(1).toString(16).padStart(2, '0')}`;
    if (token === '.' && !inClass) return '[^\\n]';
    if (token === '[') inClass = true;
    if (token === ']') inClass = false;
    return insensitive ? lower(token) : token;
  });
  return new RegExp(translated, 'u').test(insensitive ? lower(text) : text);
}
