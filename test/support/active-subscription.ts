import { setTimeout } from 'node:timers/promises';
import type { Client } from './client.ts';
import { openSocket } from './follow-operation.ts';

/** The last message of the set-up. A second subscriber of the same rows receives it, too. */
export const LAST_SETUP_MESSAGE = 'The subscription is active.';

/**
 * Opens a subscription to new rows. Resolves once it receives them. `create` creates a row with a message; `field` is
 * the root field of the document, `socket` how it is sent: by default over a socket of its own.
 */
export async function subscribeActively<T extends { message: string }>(
  client: Client,
  field: string,
  document: string,
  create: (message: string) => Promise<unknown>,
  socket: Pick<ReturnType<typeof openSocket>, 'iterate' | 'dispose'> = openSocket(client),
) {
  const results = socket.iterate<Record<string, T>>(document, {});
  const next = async () => (await results.next()).value!.data![field]!;
  let isActive = false;
  const first = next().then(() => {
    isActive = true;
  });
  while (!isActive) {
    await create('Is the subscription active?');
    await setTimeout(20);
  }
  await first;
  await create(LAST_SETUP_MESSAGE);
  while ((await next()).message !== LAST_SETUP_MESSAGE);
  return {
    socket,
    results,
    next,
    nextMessage: async () => (await next()).message,
    dispose: () => socket.dispose(),
  };
}
