import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/** How long a connection stays open for its client to read the response. */
export const CLOSE_MS = 5000;

/** How long, and how much of, the rest of a body is received after a refusal. */
export const DISCARD_MS = 15_000;
const MAX_DISCARDED_BYTES = 64 << 20;

const closing = new WeakSet<Socket>();

/** Returns whether a connection closes after its current response: further requests on it do not run. */
export const isClosing = (socket: Socket): boolean => closing.has(socket);

/**
 * Closes the connection of a request that is refused while its body arrives. It waits until the response was sent and
 * the rest of the body has been received, because a client that is still sending might not read the response otherwise.
 * After `closeMs` it closes in any case. Requests of handlers to the API have no connection: what stands for their
 * socket is not closed.
 */
export function closeAfterResponse(response: ServerResponse, body: Readable, closeMs = CLOSE_MS): void {
  const { socket } = response;
  if (!(socket instanceof Socket)) return;
  closing.add(socket);
  // Node calls it after a response with this header. The client would lose the response if it was not all received.
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => void socket.end();
  if (!response.headersSent) response.setHeader('connection', 'close');
  const timer = setTimeout(() => socket.destroy(), closeMs).unref();
  socket.once('close', () => clearTimeout(timer));
  let missing = 2;
  const close = () => {
    if (--missing === 0) destroySoon();
  };
  response.once('finish', close);
  body.once('end', close);
}

/**
 * Receives and discards the rest of the body of a refused request, because clients read the response when they have sent it. A body that
 * has much left, or takes long, closes the connection.
 */
export function discardRest(body: IncomingMessage): void {
  const { socket } = body;
  const timer = setTimeout(() => socket.destroy(), DISCARD_MS).unref();
  body.once('close', () => clearTimeout(timer));
  let discarded = 0;
  body.unpipe().on('data', ({ length }: Buffer) => {
    discarded += length;
    if (discarded > MAX_DISCARDED_BYTES) socket.destroy();
  });
  body.resume();
}
