import { Repeater } from '@graphql-yoga/subscription';
import { Dataset } from '../../../entities/dataset.ts';
import type { Context } from '../../core/context.ts';
import { CHANNELS } from '../../core/operations.ts';
import type { Platform } from '../../core/platform.ts';

/** An update of a dataset: its new rows as the subscriptions of one user read them. */
export interface DatasetUpdate {
  id: string;
  /** Reads by their selection. Subscriptions with the same selection share one. */
  reads: Map<string, Promise<unknown>>;
}

interface Subscriber {
  ctx: Context;
  publish(update: DatasetUpdate): void;
  end(error?: unknown): void;
}

/**
 * The subscriptions of one user to one dataset. They share the check whether it still exists, and reads with the same
 * selection.
 */
interface Watch {
  subscribers: Set<Subscriber>;
  stop(): void;
}

/** Watches of each process by user and dataset. */
const watches = new WeakMap<Platform['notifications'], Map<string, Watch>>();

/**
 * Watches a dataset. Yields an update immediately, and again each time its rows are replaced, until it is deleted.
 * Throws NOT_FOUND unless the viewer can read it.
 */
export async function watchDataset(ctx: Context, key: string): Promise<AsyncIterable<DatasetUpdate>> {
  const { id } = await ctx.read.one(Dataset, key, ['id']);
  return new Repeater(async (push, stop) => {
    let isSending = false;
    let missed: DatasetUpdate | undefined;
    const publish = (update: DatasetUpdate) => {
      // While an update is sent, only the latest of the following updates is retained.
      missed = isSending ? update : undefined;
      if (isSending) return;
      isSending = true;
      void push(update).then(() => {
        isSending = false;
        if (missed) publish(missed);
      });
    };
    const leave = joinWatch(id, { ctx, publish, end: stop });
    publish({ id, reads: new Map() });
    await stop;
    leave();
  });
}

/** Adds a subscriber to the watch of its user. Returns the function that removes it. */
function joinWatch(id: string, subscriber: Subscriber): () => void {
  const { platform, viewer } = subscriber.ctx;
  const ofProcess = watches.get(platform.notifications) ?? new Map<string, Watch>();
  watches.set(platform.notifications, ofProcess);
  const key = `${viewer.userId} ${id}`;
  const watch = ofProcess.get(key) ?? startWatch(platform, id);
  ofProcess.set(key, watch);
  watch.subscribers.add(subscriber);
  return () => {
    watch.subscribers.delete(subscriber);
    if (watch.subscribers.size > 0) return;
    watch.stop();
    if (ofProcess.get(key) === watch) ofProcess.delete(key);
  };
}

function startWatch({ notifications }: Platform, id: string): Watch {
  const subscribers = new Set<Subscriber>();
  const check = async () => {
    const [first] = subscribers;
    try {
      const found = await first?.ctx.read.find(Dataset, id, ['id']);
      const update: DatasetUpdate = { id, reads: new Map() };
      for (const subscriber of subscribers) {
        if (found) subscriber.publish(update);
        else subscriber.end();
      }
    } catch (error) {
      for (const subscriber of subscribers) subscriber.end(error);
    }
  };
  const unsubscribe = [
    notifications.on(CHANNELS.dataset, (updatedId) => {
      if (updatedId === id) void check();
    }),
    // Notifications are lost while disconnected, so a reconnect publishes the dataset again.
    notifications.onResync(() => void check()),
  ];
  return {
    subscribers,
    stop: () => {
      for (const end of unsubscribe) end();
    },
  };
}
