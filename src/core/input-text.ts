import { isUtf8 } from 'node:buffer';
import type { ValidationIssue } from './errors.ts';
import { MAX_ISSUES, throwIssues } from './input-checks.ts';
import { toRuleIssue } from './input-rules.ts';
import { isStorable, storableText } from './storable-text.ts';

/** Replaces bytes that are not UTF-8: in decoded texts, a lone surrogate has no other cause. */
const INVALID_BYTES = '\ud800';

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

/** Parses JSON, and throws BAD_USER_INPUT with the paths of texts that cannot be stored. Throws SyntaxError. */
export function parseStorableJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Only escapes contain characters that cannot be stored, in a text that is well-formed itself.
  if (!text.isWellFormed() || (text.includes('\\u') && /\\u(?:0000|d[89a-f])/i.test(text))) checkTexts(value);
  return value;
}

/** Throws BAD_USER_INPUT with the paths of the texts inside an input that cannot be stored. `path` is its own. */
export function checkTexts(value: unknown, path: readonly (string | number)[] = []): void {
  const issues: ValidationIssue[] = [];
  addTextIssues(value, [...path], issues);
  throwIssues(issues);
}

/** Adds the issues of a value and of the values inside it. `path` is changed during the call. */
function addTextIssues(value: unknown, path: (string | number)[], issues: ValidationIssue[]): void {
  if (issues.length >= MAX_ISSUES) return;
  if (typeof value === 'string') {
    if (!isStorable(value)) issues.push(textIssue(value, path));
  } else if (typeof value === 'object' && value !== null)
    for (const key of Object.keys(value)) {
      path.push(Array.isArray(value) ? Number(key) : key);
      if (!isStorable(key)) issues.push(textIssue(key, path));
      addTextIssues((value as Record<string, unknown>)[key], path, issues);
      path.pop();
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
