import { toApiError } from '../../core/api-error.ts';
import type { HandlerOutcome, HandlerTask } from '../../core/app-run.ts';
import { ApiError } from '../../core/errors.ts';
import type { Platform } from '../../core/platform.ts';
import { noRouteFor } from './app-route-match.ts';
import { runHandler } from './handler-run.ts';

/** Runs the handler of a route like `runHandler`. An app that is deleted meanwhile has no route any more. */
export const runRoute = (platform: Platform, task: HandlerTask): Promise<HandlerOutcome> =>
  runHandler(platform, task).catch((error: unknown) => {
    throw toApiError(error)?.code === 'NOT_FOUND' ? noRouteFor(task.request) : error;
  });

/** Returns a failure as those see it who may not see the code of the app. */
export const withoutDetails = ({ status, code, headers }: ApiError): ApiError =>
  new ApiError(status, code, 'The handler failed', { headers });
