import type { Platform } from '../core/platform.ts';
import { dispatchEvents } from '../services/agent/event-dispatch.ts';
import { repeatPass } from './repeated-pass.ts';

/** Options of the dispatcher, in milliseconds. */
export interface DispatcherOptions {
  /** Pause between two searches for events. */
  interval: number;
}

/**
 * Starts the agents that wait for events of apps, in every worker process. See
 * docs/contract/agents.md#events-of-agents.
 */
export function startAgentDispatcher(platform: Platform, { interval }: DispatcherOptions): { stop(): Promise<void> } {
  return repeatPass(platform, { interval, failureMessage: 'Could not dispatch events to agents' }, async (signal) => {
    // One statement while nothing waits, which is most of the time.
    const waiting = await platform.system.query({
      text: `select from dws.app_event where dispatched_at is null limit 1`,
    });
    if (waiting.length > 0) while (!signal.aborted && (await dispatchEvents(platform)) > 0);
  });
}
