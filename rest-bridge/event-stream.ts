import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { AdapterCall } from './call.ts';

/** Milliseconds between the comments that keep proxies from closing a quiet stream. */
const KEEP_ALIVE_MS = 15_000;

/** One server-sent event: the row's presenter makes it. */
export interface StreamedEvent {
  id: string | number;
  data: unknown;
}

/** Sends what a subscription tells as server-sent events of the type `event`, and ends when it does. A client that comes back gets the current state, so `Last-Event-ID` needs no memory of ours. */
export const eventStream =
  (event: string) =>
  async ({ subscribe, reply }: AdapterCall): Promise<PassThrough> => {
    const events = (await subscribe()) as AsyncIterableIterator<StreamedEvent>;
    const out = new PassThrough();
    void reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('x-accel-buffering', 'no');
    const comment = setInterval(() => out.write(':\n\n'), KEEP_ALIVE_MS);
    // A client that hung up ends the subscription at once, not with its next value, which may never come.
    out.once('close', () => {
      clearInterval(comment);
      void events.return?.();
    });
    writeEvents(events, event, out).then(
      () => out.end(),
      (error: Error) => out.destroy(error),
    );
    return out;
  };

async function writeEvents(told: AsyncIterable<StreamedEvent>, event: string, out: PassThrough): Promise<void> {
  for await (const { id, data } of told) {
    if (out.destroyed) return;
    if (!out.write(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`))
      await Promise.race([once(out, 'drain'), once(out, 'close')]);
  }
}
