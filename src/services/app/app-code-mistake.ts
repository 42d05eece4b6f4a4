import { badInput, type ApiError } from '../../core/errors.ts';

/** A mistake in the code of an app. Lines and columns start at 1; null if they are unknown. */
export interface CodeMistake {
  path: string;
  message: string;
  line: number | null;
  column: number | null;
}

/** Returns a mistake without a place. */
export const mistakeIn = (path: string, message: string): CodeMistake => ({ path, message, line: null, column: null });

/** Maximum number of mistakes in one error. */
export const MAX_MISTAKES = 100;

/** Returns BAD_USER_INPUT for mistakes in the code of an app, in the order of files and lines. */
export function codeError(mistakes: readonly CodeMistake[]): ApiError {
  const distinct = new Map(mistakes.map((mistake) => [JSON.stringify(mistake), mistake]));
  const sorted = [...distinct.values()].toSorted(
    (one, other) =>
      (one.path < other.path ? -1 : Number(one.path > other.path)) ||
      (one.line ?? 0) - (other.line ?? 0) ||
      (one.column ?? 0) - (other.column ?? 0),
  );
  const [first] = sorted;
  const place = first?.line ? `${first.path}:${first.line}` : first?.path;
  return badInput(`${place}: ${first?.message}`, {
    validation: sorted
      .slice(0, MAX_MISTAKES)
      .map(({ path, ...mistake }) => ({ ...mistake, path: [path], code: 'CODE' })),
  });
}

/** Returns the line and column of a position in a text, from 1. */
export function placeOf(text: string, position: number): Pick<CodeMistake, 'line' | 'column'> {
  if (position < 0) return { line: null, column: null };
  const before = text.slice(0, position).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}
