import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { AppResponse } from '../core/app-run.ts';
import { ApiError, upstreamFailed } from '../core/errors.ts';
import { handlersTooDeep, MAX_HANDLER_DEPTH } from '../core/handler-depth.ts';
import { isOfConnection, isRefusedFromApps } from '../core/http-headers.ts';
import { MAX_FETCHED_BYTES, type InternalApi, type InternalCall } from '../core/internal-api.ts';
import { generateSecret } from '../core/secret.ts';
import { currentTraceparent } from '../core/tracing.ts';

/** Routes that run handlers or templates, as Fastify names them. */
const NESTING_ROUTE = /^\/api\/(?:apps\/:\w+\/(?:view|_hook)(?:\/|$)|hooks\/:\w+(?:\/|$)|templates\/:\w+\/_render$)/;
/** Header with the key of a call. Keys are random, and each is for one request of this process. */
const KEY_HEADER = 'dws-internal-call';

/** The requests of handlers to this process that were not received yet. */
export class InternalCalls {
  readonly #calls = new Map<string, InternalCall>();

  /** Calls `send` with a key, by which the request is recognized. */
  async register<T>(call: InternalCall, send: (key: string) => Promise<T>): Promise<T> {
    const key = generateSecret();
    this.#calls.set(key, call);
    try {
      return await send(key);
    } finally {
      this.#calls.delete(key);
    }
  }

  /**
   * Returns the call whose request this is, once. Returns undefined for a request from outside, whatever its headers are.
   * Throws UNAVAILABLE if too many handlers called each other.
   */
  take(request: FastifyRequest, reply: FastifyReply): InternalCall | undefined {
    const { headers } = request.raw;
    const key = headers[KEY_HEADER];
    if (key === undefined) return undefined;
    delete headers[KEY_HEADER];
    const call = this.#calls.get(String(key));
    if (!call) return undefined;
    this.#calls.delete(String(key));
    endWith(call.signal, reply);
    if (call.depth + 1 >= MAX_HANDLER_DEPTH && NESTING_ROUTE.test(request.routeOptions.url ?? ''))
      throw handlersTooDeep();
    return call;
  }
}

/** Ends a response when the signal aborts: the server then ends the work for it, as for a client that disconnects. */
function endWith(signal: AbortSignal, { raw }: FastifyReply): void {
  const end = () => void raw.destroy();
  if (signal.aborted) return end();
  signal.addEventListener('abort', end, { once: true });
  raw.once('close', () => signal.removeEventListener('abort', end));
}

/** Creates the API that handlers call, of a server with the same `calls`. */
export const createInternalApi = (app: FastifyInstance, calls: InternalCalls, publicUrl: string): InternalApi => ({
  async call(call) {
    call.signal.throwIfAborted();
    const failed = new AbortController();
    const ending = { ...call, signal: AbortSignal.any([call.signal, failed.signal]) };
    try {
      return await calls.register(ending, (key) => send(app, ending, { key, authority: new URL(publicUrl).host }));
    } catch (error) {
      failed.abort(error);
      if (call.signal.aborted) throw call.signal.reason;
      throw error instanceof ApiError ? error : upstreamFailed('The response was interrupted', { cause: error });
    }
  },
});

async function send(
  app: FastifyInstance,
  { request: { url, method, headers, body }, address, requestId }: InternalCall,
  { key, authority }: { key: string; authority: string },
): Promise<AppResponse> {
  const traceparent = currentTraceparent();
  const response = await app.inject({
    method: method as HTTPMethods,
    url,
    authority,
    remoteAddress: address,
    headers: {
      'user-agent': 'data-workspace-service',
      ...Object.fromEntries(Object.entries(headers).filter(([name]) => !isRefusedFromApps(name.toLowerCase()))),
      [KEY_HEADER]: key,
      'x-request-id': requestId,
      ...(traceparent && { traceparent }),
    },
    ...(body && { payload: Buffer.from(body) }),
    payloadAsStream: true,
  });
  return {
    status: response.statusCode,
    headers: Object.fromEntries(
      Object.entries(response.headers).flatMap(([name, value]) =>
        isOfConnection(name) || name === 'set-cookie' ? [] : [[name, String(value)]],
      ),
    ),
    body: await readBody(response.stream()),
  };
}

/** Reads a body. Throws UPSTREAM_FAILED, and ends the request, past the maximum size. */
async function readBody(stream: Readable): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of stream as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > MAX_FETCHED_BYTES) throw upstreamFailed(`The response has more than ${MAX_FETCHED_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
