import { badInput, type ValidationIssue, type ApiError } from './errors.ts';

/** A complaint about one place of the input, as the answer's `validation` lists it. */
export const invalid = (path: string, message: string): ApiError =>
  badInput(`${path} ${message}`, {
    validation: [{ path: path.split('.'), message: `${path} ${message}`, code: 'invalid' } satisfies ValidationIssue],
  });

/** A text without surrounding blanks, of 1 to `most` characters. Null and undefined are refused. */
export function checkText(value: string | null | undefined, path: string, most = 255): string {
  const text = value?.trim();
  if (!text) throw invalid(path, 'is required');
  if (text.length > most) throw invalid(path, `must have at most ${most} characters`);
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text))
    throw invalid(path, 'must not hold control characters');
  return text;
}

/** The same for what may be cleared: null stays null. */
export const checkOptionalText = (value: string | null, path: string, most = 10_000): string | null =>
  value === null || value === '' ? null : checkText(value, path, most);

/** Copies onto `target` the keys of `input` that are present: undefined is absent, null only where `nullable` names the key. */
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
