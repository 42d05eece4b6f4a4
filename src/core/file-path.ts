import { invalid } from './input-checks.ts';
import { violation, type InputRule } from './input-rules.ts';

/** Characters that no name has: controls, line separators, and those that change the direction of text. */
const FORBIDDEN = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff';
/** A folder or name: not blank, neither `.` nor `..`. */
const SEGMENT = `(?!\\s*(?:/|$)|\\.{1,2}(?:/|$))[^/\\\\${FORBIDDEN}]+`;
const MAX_FOLDERS = 8;

/** File names in which `/` separates up to eight folders. */
export const FILE_PATH_RULE: InputRule = {
  minLength: 1,
  maxLength: 255,
  pattern: `^${SEGMENT}(?:/${SEGMENT}){0,${MAX_FOLDERS}}$`,
  patternMessage:
    `must be a file name with at most ${MAX_FOLDERS} folders, ` +
    'without control characters, backslashes, and empty, "." and ".." parts',
};

/** Returns a file name in its normal form (NFC), in which equal names have equal bytes. Throws BAD_USER_INPUT. */
export function checkFilePath(value: string, path: string): string {
  const name = value.normalize('NFC');
  const problem = violation(FILE_PATH_RULE, name);
  if (problem !== undefined) throw invalid(path, problem);
  return name;
}
