import type { Field } from '../../../src/core/fields.ts';

type Json = Record<string, unknown>;
type Operand = number | string | boolean;

/**
 * Whether criteria (raw JSON) find a row in its JSON form. Written from the contract alone and sharing nothing with the parser, so that an index which agrees with
 * it agrees with the contract. The criteria must be valid.
 */
export function matches(row: Json, criteria: Json, fields: readonly Field[]): boolean {
  return Object.entries(criteria).every(([key, value]) => {
    if (key === '$and') return (value as Json[]).every((item) => matches(row, item, fields));
    if (key === '$or') return (value as Json[]).some((item) => matches(row, item, fields));
    if (key === '$not') return !matches(row, value as Json, fields);
    return holds(
      row[key] ?? null,
      value,
      fields.find((field) => field.name === key)!,
    );
  });
}

function holds(stored: unknown, condition: unknown, field: Field): boolean {
  if (typeof condition !== 'object' || condition === null) return equals(stored, condition, field);
  return Object.entries(condition).every(([operator, operand]) =>
    operatorHolds(stored, operator, operand, condition as Json, field),
  );
}

function operatorHolds(stored: unknown, operator: string, operand: unknown, siblings: Json, field: Field): boolean {
  switch (operator) {
    case '$eq':
      return equals(stored, operand, field);
    case '$ne':
      return !equals(stored, operand, field);
    case '$in':
      return (operand as unknown[]).some((item) => equals(stored, item, field));
    case '$nin':
      return !(operand as unknown[]).some((item) => equals(stored, item, field));
    case '$exists':
      return (stored !== null) === operand;
    case '$not':
      return !holds(stored, operand, field);
    case '$options':
      return true;
    case '$regex':
      return stored !== null && regexFinds(prefix(stored as string), operand as string, siblings.$options === 'i');
    default:
      return stored !== null && inOrder(compare(operandOf(stored, field), operandOf(operand, field)), operator);
  }
}

function equals(stored: unknown, wanted: unknown, field: Field): boolean {
  if (stored === null || wanted === null) return stored === wanted;
  return compare(operandOf(stored, field), operandOf(wanted, field)) === 0;
}

function inOrder(order: number, operator: string): boolean {
  return { $lt: order < 0, $lte: order <= 0, $gt: order > 0, $gte: order >= 0 }[operator]!;
}

function operandOf(value: unknown, field: Field): Operand {
  switch (field.type) {
    case 'integer':
    case 'number':
      return Number(value);
    case 'date':
    case 'datetime':
      return Date.parse(value as string);
    case 'boolean':
      return value as boolean;
    default:
      return prefix(value as string);
  }
}

function compare(a: Operand, b: Operand): number {
  // The order of UTF-8 bytes is the order of code points; that of JavaScript strings is not.
  if (typeof a === 'string' && a !== b) return Buffer.compare(Buffer.from(a), Buffer.from(b as string));
  return a === b ? 0 : a < b ? -1 : 1;
}

const prefixes = new Map<string, string>();

/** The first 8,000 characters. The few long texts of a run are cut once. */
function prefix(text: string): string {
  if (text.length <= 8000) return text;
  const cut = prefixes.get(text) ?? [...text].slice(0, 8000).join('');
  prefixes.set(text, cut);
  return cut;
}

const lower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** By JavaScript's own engine: ASCII case is ignored by lowering text and expression. */
function regexFinds(text: string, source: string, insensitive: boolean): boolean {
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
