import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform } from '../core/platform.ts';
import { dispatchEvents } from '../services/agent/event-dispatch.ts';

/** Options of the dispatcher, in milliseconds. */
export interface DispatcherOptions {
  /** Pause between two searches for events. */
  interval: number;
}

/** Starts the agents that wait for events of apps, in every worker process. See docs/contract.md#events-of-agents. */
export function startAgentDispatcher(platform: Platform, { interval }: DispatcherOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();

  const pass = async (): Promise<void> => {
    // One statement while nothing waits, which is most of the time.
    const waiting = await platform.system.query({
      text: `select from dws.app_event where dispatched_at is null limit 1`,
    });
    if (waiting.length > 0) while (!stopping.signal.aborted && (await dispatchEvents(platform)) > 0);
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await pass().catch((error: unknown) => platform.log.warn({ err: error }, 'Could not dispatch events to agents'));
      await sleep(interval, undefined, { signal: stopping.signal }).catch(() => undefined);
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
