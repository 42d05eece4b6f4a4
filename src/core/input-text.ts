import { isUtf8 } from 'node:buffer';
import type { ValidationIssue } from './errors.ts';
import { MAX_ISSUES, throwIssues } from './input-checks.ts';
import { toRuleIssue } from './input-rules.ts';
import { isStorable, storableText } from './storable-text.ts';

/** Replaces bytes that are not UTF-8: in decoded texts, a lone surrogate has no other cause. */
const INVALID_BYTES = '\ud800';

/** Members of a list or an object that are checked in one step. */
const MEMBERS_OF_STEP = 1000;

/** Decodes UTF-8. Bytes that are not UTF-8 become lone surrogates, which `checkTexts` refuses. */
export function decodeUtf8(bytes: Buffer): string {
  const text = bytes.toString();
  if (!text.includes('\ufffd') || isUtf8(bytes)) return text;
  const encoded = Buffer.from('\ufffd').toString('latin1');
  return bytes
    .toString('latin1')
    .split(encoded)
    .map((part) => Buffer.from(part, 'latin1').toString().replaceAll('\ufffd', INVALID_BYTES))
    .join('\ufffd');
}

/**
 * Returns whether values of a JSON text may contain texts that cannot be stored: in a text that is well-formed itself, only
 * escapes do.
 */
export const mayBeUnstorable = (json: string): boolean =>
  !json.isWellFormed() || (json.includes('\\u') && /\\u(?:0000|d[89a-f])/i.test(json));

/** Throws BAD_USER_INPUT with the paths of the texts inside an input that cannot be stored. `path` is its own. */
export function checkTexts(value: unknown, path: readonly (string | number)[] = []): void {
  for (const _ of checkTextsInSteps(value, path));
}

/** Checks like `checkTexts`, with a `yield` after each step. */
export function* checkTextsInSteps(value: unknown, path: readonly (string | number)[] = []): Generator<void> {
  const issues: ValidationIssue[] = [];
  yield* addTextIssues(value, [...path], issues);
  throwIssues(issues);
}

/** Adds the issues of a value and of the values inside it. `path` is changed during the call. */
function* addTextIssues(value: unknown, path: (string | number)[], issues: ValidationIssue[]): Generator<void> {
  if (typeof value === 'string') {
    if (!isStorable(value)) issues.push(textIssue(value, path));
  } else if (typeof value === 'object' && value !== null) {
    let members = 0;
    for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
      if (issues.length >= MAX_ISSUES) return;
      if (members++ % MEMBERS_OF_STEP === 0) yield;
      path.push(key);
      if (typeof key === 'string' && !isStorable(key)) issues.push(textIssue(key, path));
      yield* addTextIssues((value as Record<string | number, unknown>)[key], path, issues);
      path.pop();
    }
  }
}

/** Returns the issue of a text, or of a key, which is then the last one of the path. */
function textIssue(text: string, path: readonly (string | number)[]): ValidationIssue {
  const shown = path.map((key) => (typeof key === 'string' ? storableText(key) : key));
  const problem = text.isWellFormed()
    ? 'must not contain the character U+0000'
    : 'must be well-formed Unicode, encoded in UTF-8';
  return shown.length > 0 ? toRuleIssue(shown, problem) : { path: [], message: `"body" ${problem}`, code: 'invalid' };
}
