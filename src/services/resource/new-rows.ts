import { Repeater } from '@graphql-yoga/subscription';
import type { Context } from '../../core/context.ts';
import type { Platform } from '../../core/platform.ts';
import { NewRowPoller, type NewRow, type NewRowSource } from './new-row-poller.ts';

/** The pollers of each process, by channel and payload. */
const pollers = new WeakMap<Platform['notifications'], Map<string, NewRowPoller>>();

/**
 * Subscribes to the rows of a source that are committed from now on, by any process. Yields each once, in order of
 * creation. Continues after a restart of Postgres. Ends as soon as the viewer may no longer read the rows. All
 * subscriptions of a process to the same rows share one poller.
 */
export function followNewRows({ platform, viewer }: Context, source: NewRowSource): AsyncIterable<NewRow> {
  return new Repeater(async (push, stop) => {
    const waiting: NewRow[] = [];
    let isSending = false;
    const send = async () => {
      if (isSending) return;
      isSending = true;
      for (let row = waiting.shift(); row; row = waiting.shift()) await push(row);
      isSending = false;
    };
    const leave = join(platform.notifications, source, {
      userId: viewer.userId,
      hasBegun: false,
      publish(rows) {
        for (const row of rows) waiting.push(row);
        void send().catch(stop);
      },
      end: stop,
    });
    await stop;
    waiting.length = 0;
    leave();
  });
}

/** Adds a subscriber to the poller of its rows. Returns the function that removes it. */
function join(
  notifications: Platform['notifications'],
  source: NewRowSource,
  subscriber: Parameters<NewRowPoller['add']>[0],
): () => void {
  const ofProcess = pollers.get(notifications) ?? new Map<string, NewRowPoller>();
  pollers.set(notifications, ofProcess);
  const key = `${source.channel} ${source.payload}`;
  const poller = ofProcess.get(key) ?? new NewRowPoller(notifications, source);
  ofProcess.set(key, poller);
  poller.add(subscriber);
  return () => {
    const isLast = poller.remove(subscriber);
    if (isLast && ofProcess.get(key) === poller) ofProcess.delete(key);
  };
}
