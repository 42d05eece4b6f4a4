import { ApiError, badInput, type ValidationIssue } from './errors.ts';
import { textRule, violation } from './input-rules.ts';
import { isDeeperThan } from './json-depth.ts';

/** Creates a BAD_USER_INPUT error with one validation issue. `path` is dotted, e.g. `env.PORT`. */
export const invalid = (path: string, message: string): ApiError =>
  badInput(`${path} ${message}`, {
    validation: [{ path: path.split('.'), message: `${path} ${message}`, code: 'invalid' } satisfies ValidationIssue],
  });

/** Runs the check of a value, and prefixes the path of its error with the value's keys in the input. */
export function at<T>(keys: readonly (string | number)[], check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400) throw error;
    const { message, validation = [{ path: [], message, code: 'invalid' }] } = error;
    const issues = validation.map((issue) => ({ ...issue, path: [...keys, ...issue.path] }));
    throw new ApiError(error.status, error.code, message, { ...error, validation: issues, cause: error });
  }
}

/** Maximum number of issues in one error. */
export const MAX_ISSUES = 20;

/** Throws BAD_USER_INPUT with the first issues, if there are any. */
export function throwIssues(issues: readonly ValidationIssue[]): void {
  if (issues.length > 0) throw badInput(issues[0]!.message, { validation: issues.slice(0, MAX_ISSUES) });
}

/** Returns the text without surrounding white space. Throws unless it has 1 to `maxLength` characters. */
export function checkText(value: string | null | undefined, path: string, maxLength = 255): string {
  if (value == null) throw invalid(path, 'is required');
  const text = value.trim();
  const problem = violation(textRule(maxLength), text);
  if (problem !== undefined) throw invalid(path, problem);
  return text;
}

/** Checks a text that may be cleared. Returns null for null and a blank text. */
export const checkOptionalText = (value: string | null, path: string, maxLength = 10_000): string | null =>
  !value?.trim() ? null : checkText(value, path, maxLength);

/**
 * Copies the keys of `input` that are not undefined onto `target`. Throws for a null whose key is not in `nullable`.
 */
export function assignPresent<T extends object>(
  target: T,
  input: { [K in keyof T]?: T[K] | null },
  nullable: readonly (keyof T & string)[] = [],
): T {
  for (const key of Object.keys(input) as (keyof T & string)[]) {
    const value = input[key];
    if (value === undefined) continue;
    if (value === null && !nullable.includes(key)) throw invalid(key, 'must not be null');
    target[key] = value as T[typeof key];
  }
  return target;
}

/** Returns the value. Throws BAD_USER_INPUT if it has more bytes as JSON, or nests deeper. */
export function checkJsonBounds<T extends object>(
  value: T,
  path: string,
  { maxBytes, maxDepth }: { maxBytes: number; maxDepth: number },
): T {
  if (isDeeperThan(value, maxDepth)) throw invalid(path, `must nest at most ${maxDepth} levels`);
  if (Buffer.byteLength(JSON.stringify(value)) > maxBytes)
    throw invalid(path, `must have at most ${maxBytes / 1024} KiB as JSON`);
  return value;
}
