import { toApiError } from '../../core/api-error.ts';
import type { HandlerOutcome, HandlerTask } from '../../core/app-run.ts';
import { ApiError } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import { noRouteFor } from './app-route-match.ts';
import { runHandler } from './handler-run.ts';

/** Runs the handler of a route like `runHandler`. An app that is deleted during the run no longer has the route. */
export async function runRoute(platform: Platform, task: HandlerTask): Promise<HandlerOutcome> {
  const isDeleted = (error: unknown): boolean => toApiError(error)?.code === 'NOT_FOUND';
  const outcome = await runHandler(platform, task).catch((error: unknown) => {
    throw isDeleted(error) ? noRouteFor(task.request) : error;
  });
  const { result } = outcome;
  return 'failure' in result && isDeleted(result.failure)
    ? { ...outcome, result: { failure: noRouteFor(task.request) } }
    : outcome;
}

/** Returns a failure as shown to callers who may not see the code of the app. */
export const withoutDetails = (failure: ApiError): ApiError =>
  failure.code === 'NOT_FOUND'
    ? failure
    : new ApiError(failure.status, failure.code, 'The handler failed', { headers: failure.headers });
