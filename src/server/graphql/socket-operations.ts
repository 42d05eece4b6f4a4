import type { FastifyRequest } from 'fastify';
import type { SubscribePayload } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { RequestInfo } from '../../core/context.ts';
import type { Viewer } from '../../core/viewer.ts';
import type { Credential } from '../../services/identity/credential.ts';

/** The authenticated caller of a socket. */
interface SocketCaller {
  credential: Credential;
  /** Updated in place when the caller's permissions change, so that open operations see the change. */
  viewer: Viewer;
  /** The running operations by id. A client may use an id again before the work of the first operation has ended. */
  operations: Map<string, RunningOperation>;
  stop: () => void;
}
/** An operation of a socket. Aborting it ends its work. */
interface RunningOperation {
  payload: SubscribePayload;
  abort: AbortController;
}
/** State of a socket. The caller is absent until it is authenticated. */
export type SocketExtra = { socket: WebSocket; request: FastifyRequest; caller?: SocketCaller };

/** Ends the work of all operations of a closed socket. */
export function endConnection({ caller }: SocketExtra): void {
  caller?.stop();
  for (const { abort } of caller?.operations.values() ?? []) abort.abort();
}

/** Ends the work of an operation; with a payload only if the id still belongs to it. */
export function endOperation({ caller }: SocketExtra, id: string, payload?: SubscribePayload): void {
  const operation = caller?.operations.get(id);
  if (!operation || (payload && operation.payload !== payload)) return;
  operation.abort.abort();
  caller!.operations.delete(id);
}

/** Ends the operation that a client completes. graphql-ws ends subscriptions only, and lets queries continue. */
export function endCompleted(extra: SocketExtra, message: Buffer): void {
  try {
    const { type, id } = JSON.parse(message.toString()) as { type?: unknown; id?: unknown };
    if (type === 'complete' && typeof id === 'string') endOperation(extra, id);
  } catch {
    // graphql-ws closes a socket that sends no JSON object.
  }
}

/** Registers an operation of the socket and returns its facts. */
export function startOperation(extra: SocketExtra, id: string, payload: SubscribePayload): RequestInfo {
  const { request, socket, caller } = extra;
  const abort = new AbortController();
  endOperation(extra, id);
  if (socket.readyState === socket.OPEN) caller!.operations.set(id, { payload, abort });
  else abort.abort();
  return {
    id: request.id,
    address: request.ip,
    channel: 'websocket',
    userAgent: request.headers['user-agent'] ?? null,
    signal: abort.signal,
    setOperation() {},
    setSession() {},
  };
}
