import type { AppResponse, SendResponse } from '../../core/app-run.ts';
import { perPlatform } from '../../core/per-platform.ts';
import type { Platform } from '../../core/platform.ts';
import { endRuns } from './handler-ends.ts';

/** The runs of this process whose requests can have a response before their end. */
const runsOf = perPlatform(() => new Set<Promise<void>>());

/**
 * Runs a handler. Returns the response that it sends before its end, else the final one. Failures after a response are
 * logged.
 */
export function runWithResponse(
  platform: Platform,
  run: (send: SendResponse) => Promise<AppResponse>,
): Promise<AppResponse> {
  const sent = Promise.withResolvers<AppResponse>();
  let isSent = false;
  const ended = run(async (response) => {
    isSent = true;
    sent.resolve(response);
  });
  const runs = runsOf(platform);
  const watched: Promise<void> = ended
    .then(
      () => {},
      (error: unknown) => {
        if (isSent) platform.log.error({ err: error }, 'A handler could not be recorded after its response');
      },
    )
    .finally(() => runs.delete(watched));
  runs.add(watched);
  return Promise.race([sent.promise, ended]);
}

/** Ends the runs of this process, and waits until they are recorded. */
export async function finishRuns(platform: Platform): Promise<void> {
  endRuns(platform);
  await Promise.all(runsOf(platform));
}
