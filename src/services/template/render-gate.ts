import type { Context } from '../../core/context.ts';
import { timedOut } from '../../core/errors.ts';
import { FairGate } from '../../core/fair-gate.ts';
import { withTimeout } from '../../core/with-timeout.ts';

/** Renderings, previews and checks of one process. Each may have 150 MB of files and data in memory. */
const RENDER_GATE = FairGate.shared({ places: 4, maxWaiting: 200, taskNoun: 'renderings' });

/**
 * Runs work on a template in a place of the process, for at most `timeoutMs` milliseconds. Throws TIMEOUT, and UNAVAILABLE
 * when too much work waits.
 */
export const runInRenderPlace = <T>(
  { viewer }: Pick<Context, 'viewer'>,
  timeoutMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> =>
  RENDER_GATE.run(viewer, signal, () =>
    withTimeout(
      timeoutMs,
      () => timedOut(`The template takes longer than ${timeoutMs / 1000} seconds`),
      [signal],
      work,
    ),
  );
