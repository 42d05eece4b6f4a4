import { ApiError, badInput } from '../errors.ts';

/** Runs a check of one step and adds the step's number to its error. */
export function inStep<T>(index: number, type: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw badInput(`Flow step ${index + 1}${type ? ` (${type.slice(0, 30)})` : ''}: ${error.message}`);
  }
}
