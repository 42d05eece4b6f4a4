import { ApiError } from '../errors.ts';
import { at } from '../input-checks.ts';

/** Runs a check of one step, and adds the step's number to its error, and `flow` and the index to the paths of its issues. */
export function inStep<T>(index: number, type: string, check: () => T): T {
  try {
    return at(['flow', index], check);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const step = `Flow step ${index + 1}${type ? ` (${type.slice(0, 30)})` : ''}`;
    throw new ApiError(error.status, error.code, `${step}: ${error.message}`, { ...error });
  }
}
