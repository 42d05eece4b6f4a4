import { invalid } from '../../core/input-checks.ts';
import { violation, type InputRule } from '../../core/input-rules.ts';

/* Handlers pass JSON of any kind: these functions turn it into values, or throw BAD_USER_INPUT naming it. */

/** Returns the properties of an object. */
export function readObject(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(path, 'must be an object');
  return value as Record<string, unknown>;
}

/** Returns a text that satisfies a rule. */
export function readText(value: unknown, path: string, rule: InputRule): string {
  if (typeof value !== 'string') throw invalid(path, value === undefined ? 'is required' : 'must be a text');
  const problem = violation(rule, value);
  if (problem !== undefined) throw invalid(path, problem);
  return value;
}

/** Returns 1 to `maxItems` different texts of a list, or a single text. */
export function readTexts(value: unknown, path: string, maxItems: number, rule: InputRule): string[] {
  if (!Array.isArray(value)) return [readText(value, path, rule)];
  if (value.length === 0) throw invalid(path, 'must not be empty');
  if (value.length > maxItems) throw invalid(path, `must have at most ${maxItems} items`);
  return [...new Set(value.map((item, index) => readText(item, `${path}.${index}`, rule)))];
}
