import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform } from '../core/platform.ts';

/** When a pass is repeated, and what the log says if it fails. */
interface RepeatedPass {
  /** Pause after each pass in milliseconds. */
  interval: number;
  failureMessage: string;
}

/** Repeats a pass until it is stopped, the first one at once. The signal ends with `stop`, which waits for the pass. */
export function repeatPass(
  { log }: Pick<Platform, 'log'>,
  { interval, failureMessage }: RepeatedPass,
  pass: (signal: AbortSignal) => Promise<void>,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await pass(signal).catch((error: unknown) => log.warn({ err: error }, failureMessage));
      await sleep(interval, undefined, { signal }).catch(() => undefined);
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
