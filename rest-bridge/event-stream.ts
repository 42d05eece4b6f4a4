import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { AdapterCall } from './call.ts';

/** Interval of the comments that keep proxies from closing a stream without events. */
const KEEP_ALIVE_MS = 15_000;

/** One server-sent event, as the row's presenter returns it. */
export interface StreamedEvent {
  id: string | number;
  data: unknown;
}

/**
 * Creates a handler that sends the values of a subscription as server-sent events of the type `event`. The stream ends
 * with the subscription. A client that reconnects gets the current state, so `Last-Event-ID` is ignored.
 */
export const eventStream =
  (event: string) =>
  async ({ subscribe, reply }: AdapterCall): Promise<PassThrough> => {
    const events = (await subscribe()) as AsyncIterableIterator<StreamedEvent>;
    const out = new PassThrough();
    void reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('x-accel-buffering', 'no');
    const keepAlive = setInterval(() => out.write(':\n\n'), KEEP_ALIVE_MS);
    // A client that disconnects ends the subscription at once: the next value may never come.
    out.once('close', () => {
      clearInterval(keepAlive);
      void events.return?.();
    });
    writeEvents(events, event, out).then(
      () => out.end(),
      (error: Error) => out.destroy(error),
    );
    return out;
  };

async function writeEvents(events: AsyncIterable<StreamedEvent>, event: string, out: PassThrough): Promise<void> {
  for await (const { id, data } of events) {
    if (out.destroyed) return;
    if (!out.write(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`))
      await Promise.race([once(out, 'drain'), once(out, 'close')]);
  }
}
