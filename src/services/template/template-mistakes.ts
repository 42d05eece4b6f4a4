import { ApiError, badInput, type ValidationIssue } from '../../core/errors.ts';
import { TemplateError, type TemplateMistake } from '../../core/template-engine.ts';

/** Code of the validation issues of mistakes in files of a template. */
const MISTAKE = 'TEMPLATE';

/** Maximum number of mistakes in one error. */
const MAX_MISTAKES = 100;

/** A mistake in a file of a template, as clients get it. */
export interface TemplateProblem extends TemplateMistake {
  code: typeof MISTAKE;
}

/** Returns mistakes as clients get them. */
export const toProblems = (mistakes: readonly TemplateMistake[]): TemplateProblem[] =>
  mistakes
    .slice(0, MAX_MISTAKES)
    .map(({ path, message, line, column }) => ({ path, message, code: MISTAKE, line, column }));

/** Returns BAD_USER_INPUT for mistakes in files of a template, with their places; any other error as it is. */
export function toMistakeError(error: unknown): unknown {
  if (!(error instanceof TemplateError)) return error;
  const validation = toProblems(error.mistakes).map(({ path, ...problem }): ValidationIssue => ({
    path: [path],
    ...problem,
  }));
  const [first] = error.mistakes;
  if (!first) return badInput('The template has mistakes');
  const place = first.line === null ? first.path : `${first.path}, line ${first.line}`;
  return badInput(`${place}: ${first.message}`, { validation, cause: error });
}

/** Returns whether an error is about mistakes in files of a template. */
export const isMistakeError = (error: unknown): boolean =>
  error instanceof ApiError && error.validation?.some(({ code }) => code === MISTAKE) === true;
