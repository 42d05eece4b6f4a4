import { Repeater } from '@graphql-yoga/subscription';
import { Dataset } from '../../../entities/dataset.ts';
import type { Context } from '../../core/context.ts';
import { CHANNELS } from '../../core/operations.ts';

/**
 * Watches a dataset. Yields its id at once and again each time its rows are replaced, until it is deleted. Throws
 * NOT_FOUND unless the viewer can read it.
 */
export async function watchDataset(
  { read, platform: { notifications } }: Context,
  key: string,
): Promise<AsyncIterable<string>> {
  const { id } = await read.one(Dataset, key, ['id']);
  return new Repeater(async (push, stop) => {
    let pending = false;
    const publish = () => {
      // A subscriber that has not consumed the last update gets this one with it.
      if (pending) return;
      pending = true;
      void push(id).then(() => {
        pending = false;
      });
    };
    const check = () => void read.find(Dataset, id, ['id']).then((found) => (found ? publish() : stop()), stop);
    const unsubscribe = [
      notifications.on(CHANNELS.dataset, (updatedId) => {
        if (updatedId === id) check();
      }),
      // Notifications are lost while disconnected, so a reconnect publishes the dataset again.
      notifications.onResync(check),
    ];
    publish();
    await stop;
    for (const end of unsubscribe) end();
  });
}
