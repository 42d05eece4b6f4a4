import { Repeater } from '@graphql-yoga/subscription';
import { Dataset } from '../../../entities/dataset.ts';
import type { Context } from '../../core/context.ts';
import { CHANNELS } from '../../core/operations.ts';

/** Follows a dataset: its id at first, and again whenever its rows have been replaced, until it is deleted. 404 when the viewer may not read it. */
export async function updates(
  { read, platform: { notifications } }: Context,
  key: string,
): Promise<AsyncIterable<string>> {
  const { id } = await read.one(Dataset, key, ['id']);
  return new Repeater(async (push, stop) => {
    let untold = false;
    const tell = () => {
      // Who has not yet asked for the last change sees this one with it.
      if (untold) return;
      untold = true;
      void push(id).then(() => {
        untold = false;
      });
    };
    // What happened while nobody listened is not known, so after a reconnect the dataset is shown again.
    const look = () => void read.find(Dataset, id, ['id']).then((found) => (found ? tell() : stop()), stop);
    const off = [
      notifications.on(CHANNELS.dataset, (updated) => {
        if (updated === id) look();
      }),
      notifications.onResync(look),
    ];
    tell();
    await stop;
    for (const end of off) end();
  });
}
