import { ApiError, badInput, type ValidationIssue } from '../../core/errors.ts';
import { TemplateError, type TemplateMistake } from '../../core/template-engine.ts';

/** Code of the validation issues of mistakes in files of a template. */
const MISTAKE = 'TEMPLATE';

/** Maximum number of mistakes in one error. */
export const MAX_MISTAKES = 100;

/** Code of the warnings about characters that the fonts of PDFs lack. */
export const MISSING_CHARACTER = 'CHARACTER';

/** A mistake in a file of a template or a warning about it, as clients get it. */
export interface TemplateProblem extends Omit<TemplateMistake, 'path'> {
  path: [string];
  code: typeof MISTAKE | typeof MISSING_CHARACTER;
}

/** Returns mistakes as clients get them. */
export const toProblems = (mistakes: readonly TemplateMistake[]): (TemplateProblem & { code: typeof MISTAKE })[] =>
  mistakes
    .slice(0, MAX_MISTAKES)
    .map(({ path, message, line, column }) => ({ path: [path], message, code: MISTAKE, line, column }));

/** Returns BAD_USER_INPUT for mistakes in files of a template, with their places; any other error unchanged. */
export function toMistakeError(error: unknown): unknown {
  if (!(error instanceof TemplateError)) return error;
  const validation: ValidationIssue[] = toProblems(error.mistakes);
  const [first] = error.mistakes;
  if (!first) return badInput('The template has mistakes');
  const place = first.line === null ? first.path : `${first.path}, line ${first.line}`;
  return badInput(`${place}: ${first.message}`, { validation, cause: error });
}

/** Returns whether an error is about mistakes in files of a template. */
export const isMistakeError = (error: unknown): boolean =>
  error instanceof ApiError && error.validation?.some(({ code }) => code === MISTAKE) === true;
