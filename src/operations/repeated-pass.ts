import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform } from '../core/platform.ts';

/** The schedule of a repeated pass, and its log message for failures. */
interface RepeatedPass {
  /** Pause after each pass in milliseconds. */
  interval: number;
  /** Pause before the first pass in milliseconds. Default: none. */
  delay?: number;
  failureMessage: string;
}

/**
 * Repeats a pass until it is stopped. The signal ends with `stop`, which waits for the pass. Failures are logged, except the
 * reason of the signal.
 */
export function repeatPass(
  { log }: Pick<Platform, 'log'>,
  { interval, delay = 0, failureMessage }: RepeatedPass,
  pass: (signal: AbortSignal) => Promise<void>,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal }).catch(() => undefined);
  const loop = async (): Promise<void> => {
    if (delay > 0) await pause(delay);
    while (!signal.aborted) {
      await pass(signal).catch((error: unknown) => {
        if (!signal.aborted || error !== signal.reason) log.warn({ err: error }, failureMessage);
      });
      await pause(interval);
    }
  };
  const running = loop();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
