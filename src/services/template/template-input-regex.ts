import { RE2JS } from 're2js';
import { ApiError, badInput } from '../../core/errors.ts';

/** Instructions of one pattern, with repetitions written out. */
const MAX_PROGRAM = 2000;

/** A pattern that is tested in a time linear in the text. */
export interface LinearPattern {
  test(text: string): boolean;
  /** Number of instructions, which determines the time of a test. */
  size: number;
  /** Distinguishes patterns in compiled validators. */
  toString(): string;
}

/**
 * Compiles a regular expression of ECMAScript for a matcher that never backtracks. Throws BAD_USER_INPUT with the pattern
 * for one with parts that it does not support, e.g. look-ahead or back-references.
 */
export function compileLinear(pattern: string): LinearPattern {
  const shown = JSON.stringify(pattern.slice(0, 100));
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    const size = compiled.programSize();
    if (size > MAX_PROGRAM) throw badInput(`the pattern ${shown} is too large when its repetitions are written out`);
    return { test: (text) => compiled.test(text), size, toString: () => pattern };
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : '';
    throw badInput(`the pattern ${shown} is not supported: ${reason}`, { cause: error });
  }
}
