import type { EndedRun } from '../../src/core/app-run.ts';
import { RECORDED } from '../../src/services/app/app-run-record.ts';

/** A recorded call of a webhook, without what differs from run to run. */
export interface RecordedCall {
  method: string;
  path: string;
  route: string | null;
  status: number;
  error: string | null;
}

/** Returns the recorded calls of an app, the oldest first. */
export const recordedCalls = (appId: string): RecordedCall[] =>
  runsOf(appId).map(({ call, route, error }) => ({
    method: call!.method,
    path: call!.path,
    route,
    status: call!.status,
    error,
  }));

/** Returns the recorded runs of an app. */
export const runsOf = (appId: string): EndedRun[] => RECORDED.filter(({ app }) => app.id === appId);
