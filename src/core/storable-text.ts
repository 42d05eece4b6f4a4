/** Returns whether Postgres can store a text: well-formed Unicode without NUL characters. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Returns a text as Postgres can store it: without NUL characters and lone surrogates. */
export const storableText = (text: string): string => text.toWellFormed().replaceAll('\0', '');

/** Returns whether Postgres can store all keys and texts of a JSON value. */
export function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  // Without copies of long lists, which took most of the time.
  if (Array.isArray(value)) return value.every(isStorableJson);
  for (const key in value)
    if (!isStorable(key) || !isStorableJson((value as Record<string, unknown>)[key])) return false;
  return true;
}
