import { notFound } from '../../core/errors.ts';
import { CHANNELS } from '../../core/operations.ts';
import { perPlatform } from '../../core/per-platform.ts';
import type { Platform } from '../../core/platform.ts';

/** What ends the runs of apps in this process, by the id of the app. */
type Runs = Map<string, Set<AbortController>>;

const runsOf = perPlatform((platform) => {
  const runs: Runs = new Map();
  platform.notifications.on(CHANNELS.app, (appId) => {
    for (const controller of runs.get(appId) ?? []) controller.abort(notFound({ what: 'app', id: appId }));
  });
  return runs;
});

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
