import { notFound, unavailable } from '../../core/errors.ts';
import { CHANNELS } from '../../core/operations.ts';
import { perPlatform } from '../../core/per-platform.ts';
import type { Platform } from '../../core/platform.ts';

/** The controllers that end the runs of apps in this process, by the id of the app. */
type Runs = Map<string, Set<AbortController>>;

const runsOf = perPlatform((platform) => {
  const runs: Runs = new Map();
  platform.notifications.on(CHANNELS.app, (appId) => {
    for (const controller of runs.get(appId) ?? []) controller.abort(notFound({ what: 'app', id: appId }));
  });
  return runs;
});

/** Ends all runs of apps in this process, which stops. */
export function endRuns(platform: Platform): void {
  for (const ofApp of runsOf(platform).values())
    for (const controller of ofApp) controller.abort(unavailable('The service is shutting down'));
}

/** A signal that aborts with another one, until it no longer follows it. */
export interface FollowingSignal {
  readonly signal: AbortSignal;
  stop(): void;
}

/** Creates a signal that follows another one. */
export function followSignal(followed: AbortSignal): FollowingSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(followed.reason);
  if (followed.aborted) abort();
  else followed.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, stop: () => followed.removeEventListener('abort', abort) };
}

/** Runs work with a signal that aborts with NOT_FOUND when the app is deleted, in whichever process. */
export async function runUntilDeleted<T>(
  platform: Platform,
  appId: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const runs = runsOf(platform);
  const controller = new AbortController();
  const ofApp = runs.get(appId) ?? new Set();
  runs.set(appId, ofApp.add(controller));
  try {
    return await work(AbortSignal.any([signal, controller.signal]));
  } finally {
    ofApp.delete(controller);
    if (ofApp.size === 0 && runs.get(appId) === ofApp) runs.delete(appId);
  }
}
