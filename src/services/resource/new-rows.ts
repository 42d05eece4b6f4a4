import { Repeater } from '@graphql-yoga/subscription';
import type { Context } from '../../core/context.ts';
import { ApiError } from '../../core/errors.ts';
import { CHANNELS } from '../../core/operations.ts';

/** The rows that a subscription follows. */
export interface NewRowSource {
  /** The channel that announces new rows, and the payload that concerns these. */
  channel: string;
  payload: string;
  /**
   * Returns the ids of the rows that were created after a time, oldest first. Throws if the viewer may not read them
   * (any more), which ends the subscription with this error.
   */
  findIds(since: Date): Promise<string[]>;
}

/**
 * How far each poll looks back, for rows created before the last poll and committed after it. Longer than any
 * transaction that creates one, and than clocks differ.
 */
const LOOKBACK_MS = 600_000;

/** Delay before the next poll after Postgres was unavailable. */
const RETRY_AFTER_MS = 1000;

/**
 * Subscribes to the rows of a source that are committed from now on, by any process. Yields each id once, in order of
 * creation. Continues after a restart of Postgres. Ends as soon as the viewer may not read the rows any more.
 */
export async function followNewRows(ctx: Context, source: NewRowSource): Promise<AsyncIterable<string>> {
  const { notifications } = ctx.platform;
  const { userId } = ctx.viewer;
  const findNewIds = await createPoller(source);
  return new Repeater(async (push, stop) => {
    const loop = createPollLoop(findNewIds, push, stop);
    // Beside the polls, because a slow client delays these.
    const checkAccess = () => void source.findIds(new Date()).catch(loop.fail);
    const unsubscribers = [
      notifications.on(source.channel, (payload) => {
        if (payload === source.payload) loop.poll();
      }),
      notifications.on(CHANNELS.credential, (changedId) => {
        if (changedId === userId) checkAccess();
      }),
      // A reconnect polls for rows created while the connection was lost.
      notifications.onResync(loop.poll),
    ];
    loop.poll();
    await stop;
    loop.stop();
    for (const unsubscribe of unsubscribers) unsubscribe();
  });
}

/** The polls of one subscription, one after the other. */
interface PollLoop {
  /** Polls now, or once more after the poll that runs. */
  poll(): void;
  /** Ends the subscription with an error, or polls again later if Postgres was unavailable. */
  fail(error: unknown): void;
  stop(): void;
}

function createPollLoop(
  findNewIds: () => Promise<string[]>,
  push: (id: string) => Promise<unknown>,
  end: (error: unknown) => void,
): PollLoop {
  let pending = false;
  let polling = false;
  let stopped = false;
  let retry: NodeJS.Timeout | undefined;
  const pollUntilIdle = async () => {
    pending = true;
    if (polling) return;
    polling = true;
    try {
      while (pending && !stopped) {
        pending = false;
        for (const id of await findNewIds()) await push(id);
      }
    } catch (error) {
      fail(error);
    } finally {
      polling = false;
    }
  };
  const poll = () => void pollUntilIdle();
  // A restart of Postgres does not end a subscription.
  const fail = (error: unknown) => {
    if (!(error instanceof ApiError && error.status === 503)) return end(error);
    clearTimeout(retry);
    if (!stopped) retry = setTimeout(poll, RETRY_AFTER_MS);
  };
  const stop = () => {
    stopped = true;
    clearTimeout(retry);
  };
  return { poll, fail, stop };
}

/** Returns a function that finds the rows that are new since its last call, oldest first. */
async function createPoller({ findIds }: NewRowSource): Promise<() => Promise<string[]>> {
  let knownIds = new Set<string>();
  let since = Date.now() - LOOKBACK_MS;
  const poll = async (): Promise<string[]> => {
    const nextSince = Date.now() - LOOKBACK_MS;
    const ids = await findIds(new Date(since));
    const newIds = ids.filter((id) => !knownIds.has(id));
    knownIds = new Set(ids);
    since = nextSince;
    return newIds;
  };
  await poll();
  return poll;
}
