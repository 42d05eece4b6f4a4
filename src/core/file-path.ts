import { invalid } from './input-checks.ts';
import { violation, type InputRule } from './input-rules.ts';
import { normalizeText } from './normalize-text.ts';
import { isStorable } from './storable-text.ts';

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

/** UTF-16 units of the longest text whose NFC has 255 characters: that form can be much shorter. */
const MAX_UNITS = 8 * FILE_PATH_RULE.maxLength!;
const mayBePath = (text: string): boolean => text.length <= MAX_UNITS;

/** Returns the normal form (NFC) of a text that may name a stored file; undefined for one that cannot. */
export const storedPathOf = (text: string): string | undefined =>
  mayBePath(text) && isStorable(text) ? normalizeText(text, 'NFC') : undefined;

/** Returns a file name in its normal form (NFC), in which equal names have equal bytes. Throws BAD_USER_INPUT. */
export function checkFilePath(value: string, path: string): string {
  // A text that is too long violates the rule in each form.
  const name = mayBePath(value) ? normalizeText(value, 'NFC') : value;
  const problem = violation(FILE_PATH_RULE, name);
  if (problem !== undefined) throw invalid(path, problem);
  return name;
}
