import {
  ApiError,
  badInput,
  conflict,
  defineError,
  refused,
  timedOut,
  tooLarge,
  unavailable,
  upstreamFailed,
  type ValidationIssue,
} from '../../../../core/errors.ts';
import { isMistakeError } from '../../../template/template-mistakes.ts';

const missing = defineError(
  404,
  'NOT_FOUND',
  () => 'The template, or data that it reads, does not exist or is not readable by the owner of the job',
);

/** Runs checks of settings. Their errors name the keys below `data`. */
export function runDataChecks(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { message, validation } = error;
    throw badInput(validation ? `data.${message}` : message, {
      validation: validation?.map((issue): ValidationIssue => ({
        ...issue,
        path: ['data', ...issue.path],
        message: `data.${issue.message}`,
      })),
      cause: error,
    });
  }
}

/**
 * Returns the error of a rendering for the readers of a job, who may be unable to read the template: without names and
 * places of the template. Its owner sees them when they render it.
 */
export function hideTemplateDetails(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  if (isMistakeError(error)) return badInput('The template has mistakes', { cause: error });
  switch (error.status) {
    case 400:
      return badInput('The template does not accept these params or settings', { cause: error });
    case 403:
      return refused('The owner of the job lacks a permission for data of the template', { cause: error });
    case 404:
      return missing(undefined, { cause: error });
    case 409:
      return error.code === 'CANCELLED'
        ? error
        : conflict('The template has no file, or was changed', { cause: error });
    default:
      return hideProcessor(error);
  }
}

/** Returns the error of a processor without its name and the text of its source; any other error unchanged. */
function hideProcessor(error: ApiError): ApiError {
  if (error.validation?.[0]?.path[0] !== 'processors') return error;
  const cause = { cause: error };
  if (error.status === 413) return tooLarge('The data of the template is too large', cause);
  if (error.status === 503) return unavailable('The data of the template cannot be read at the moment', cause);
  if (error.status === 504) return timedOut('Reading the data of the template took too long', cause);
  return upstreamFailed('The data of the template could not be read', cause);
}
