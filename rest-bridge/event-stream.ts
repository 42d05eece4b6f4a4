import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { AdapterCall } from './call.ts';

/** Interval of the comments that keep proxies from closing a stream without events. */
const KEEP_ALIVE_MS = 15_000;
/** Time after which a client whose stream ended connects again. */
const RETRY_MS = 2000;

/** One server-sent event, as the row's presenter returns it. */
export interface StreamedEvent {
  /** Increases from event to event. */
  id: string | number;
  data: unknown;
  /** Whether no event can follow. */
  isFinal?: boolean;
}

/**
 * Creates a handler that sends the values of a subscription as server-sent events of the type `event`. The stream ends
 * with the subscription. A client that reconnects with `Last-Event-ID` gets the current state again, or 204 when it has
 * received the final event, so that an `EventSource` does not connect again.
 */
export const eventStream =
  (event: string) =>
  async ({ subscribe, request, reply }: AdapterCall): Promise<PassThrough | FastifyReply> => {
    const events = (await subscribe()) as AsyncIterableIterator<StreamedEvent>;
    const first = await events.next();
    if (first.done || hasSeenEnd(first.value, request.headers['last-event-id'])) {
      await events.return?.();
      return reply.code(204).send();
    }
    const out = openEventStream(reply, () => void events.return?.());
    writeEvents(first.value, events, event, out).then(
      () => out.end(),
      (error: Error) => out.destroy(error),
    );
    return out;
  };

/** Returns whether an event is the final one and the client has received it. */
const hasSeenEnd = ({ id, isFinal }: StreamedEvent, lastId: string | string[] | undefined): boolean =>
  isFinal === true && /^\d{1,15}$/.test(String(lastId)) && Number(lastId) >= Number(id);

/**
 * Begins a response of server-sent events. `onClose` is called when it ends or the client disconnects, which must end the source
 * immediately: the next value may never come.
 */
export function openEventStream(reply: FastifyReply, onClose: () => void): PassThrough {
  const out = new PassThrough();
  void reply
    .header('content-type', 'text/event-stream; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('x-accel-buffering', 'no');
  const keepAlive = setInterval(() => out.write(':\n\n'), KEEP_ALIVE_MS);
  out.once('close', () => {
    clearInterval(keepAlive);
    onClose();
  });
  return out;
}

/** Writes one event. Resolves when the client can receive the next one, or has disconnected. */
export async function writeEvent(out: PassThrough, text: string): Promise<void> {
  if (!out.write(text)) await Promise.race([once(out, 'drain'), once(out, 'close')]);
}

async function writeEvents(
  first: StreamedEvent,
  rest: AsyncIterable<StreamedEvent>,
  event: string,
  out: PassThrough,
): Promise<void> {
  const write = ({ id, data }: StreamedEvent) =>
    writeEvent(out, `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`);
  out.write(`retry: ${RETRY_MS}\n\n`);
  await write(first);
  for await (const next of rest) {
    if (out.destroyed) return;
    await write(next);
  }
}
