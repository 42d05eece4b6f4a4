import type { EndedRun } from '../../core/app-run.ts';
import type { Platform } from '../../core/platform.ts';

/** Stand-in until records of apps exist: the runs of this process. */
export const RECORDED: EndedRun[] = [];

/** Records a run of a handler. */
export async function recordRun(_platform: Platform, run: EndedRun): Promise<void> {
  RECORDED.push(run);
}
