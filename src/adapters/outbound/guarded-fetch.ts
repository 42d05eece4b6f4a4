import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import { ReadableStream } from 'node:stream/web';
import { Response as UndiciResponse, fetch, type Agent, type Dispatcher } from 'undici';
import { ApiError, badInput, unavailable, upstreamFailed } from '../../core/errors.ts';
import { quoteUpstream, type OutboundClient, type OutboundRequest } from '../../core/outbound.ts';
import { AddressRules } from './address-rules.ts';
import { checkLiteralHost, createGuardedAgent, notResponding, type OutboundTimeouts } from './guarded-agent.ts';

const MAX_REDIRECTS = 5;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Statuses of a host, or of a proxy before it, that is unreachable or overloaded. */
const UNAVAILABLE_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Codes of errors of an open connection: ended, reset, too slow, or refused by TLS after the handshake. */
const LOST_CONNECTION =
  /^(?:UND_ERR_(?:SOCKET|CLOSED|DESTROYED|(?:HEADERS|BODY)_TIMEOUT)|ECONN(?:RESET|ABORTED)|EPIPE|ETIMEDOUT|EPROTO|ERR_SSL_.+)$/;
const TIMEOUTS: OutboundTimeouts = {
  connect: 10_000,
  firstByte: 30_000,
  idle: 30_000,
  total: 300_000,
  unpacedDownload: 60_000,
};
/** Lowest average speed of a download, the same as for bodies that the service receives. */
const MIN_BYTES_PER_SECOND = 16_000;

/** Options of the guarded client. Tests set `timeouts` and `lookup`. */
export interface GuardedFetchOptions {
  /** The value of `OUTBOUND_ALLOW`. */
  allowed: readonly string[];
  timeouts?: Partial<OutboundTimeouts>;
  /** Resolves host names. Default: the resolver of the system. */
  lookup?: LookupFunction;
}

/** Creates the client of `src/core/outbound.ts`. */
export function createGuardedFetch({ allowed, timeouts, lookup = dns.lookup }: GuardedFetchOptions): OutboundClient {
  const limits = { ...TIMEOUTS, ...timeouts };
  const rules = new AddressRules(allowed);
  const agent = createGuardedAgent({ rules, lookup, timeouts: limits });
  return {
    async fetch(url, request) {
      const signal = request.isDownload
        ? request.signal
        : AbortSignal.any([request.signal, AbortSignal.timeout(limits.total)]);
      const response = await followRedirects(agent, toUrl(url), request, signal);
      return limitBody(response, request, limits.unpacedDownload);
    },
    async checkUrl(text) {
      const { hostname, protocol } = toUrl(text);
      checkLiteralHost(rules, hostname, protocol === 'https:');
    },
    close: () => agent.destroy(),
  };
}

function toUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base);
  if (!url || !/^https?:$/.test(url.protocol))
    throw badInput(`Outgoing calls go to https: URLs, not to ${JSON.stringify(text.slice(0, 100))}`);
  if (url.username !== '' || url.password !== '')
    throw badInput(`The URL of the host "${url.hostname}" must not contain a username or password`);
  return url;
}

/** A response with the host that it came from. */
interface OpenedResponse {
  response: UndiciResponse;
  host: string;
}

async function followRedirects(
  agent: Agent,
  start: URL,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<OpenedResponse> {
  const { method = 'GET', followsRedirects = true } = request;
  const follows = method === 'GET' && followsRedirects;
  let [url, headers] = [start, request.headers ?? {}];
  for (let count = 0; ; count += 1) {
    const response = await send(agent, url, { ...request, headers }, signal);
    const location = follows && REDIRECT_STATUSES.has(response.status) ? response.headers.get('location') : null;
    if (location === null) return { response, host: url.hostname };
    await response.body?.cancel();
    if (count === MAX_REDIRECTS)
      throw upstreamFailed(`The host "${start.hostname}" redirects more than ${MAX_REDIRECTS} times`);
    const next = toUrl(location, url);
    // Credentials of the caller are in headers of any name.
    if (next.origin !== url.origin) headers = {};
    url = next;
  }
}

async function send(agent: Agent, url: URL, request: OutboundRequest, signal: AbortSignal): Promise<UndiciResponse> {
  const { method, headers, body, signal: callerSignal, returnsAnyStatus } = request;
  const response = await fetch(url, {
    method,
    headers: { 'user-agent': 'data-workspace-service', ...headers },
    body,
    signal,
    redirect: 'manual',
    dispatcher: dispatcherOf(agent, request),
  }).catch((error: unknown) => {
    throw toOutboundError(error, url.hostname, callerSignal);
  });
  request.onStatus?.(response.status);
  if (returnsAnyStatus || !UNAVAILABLE_STATUSES.has(response.status)) return response;
  await response.body?.cancel();
  throw unavailable(`The host "${url.hostname}" is not available at present: it responded with ${response.status}`);
}

/**
 * Returns a dispatcher that waits longer, or shorter, for the headers of responses than the agent does, and awaits
 * `beforeSend`.
 */
function dispatcherOf(agent: Agent, { firstByteTimeoutMs: headersTimeout, beforeSend }: OutboundRequest): Dispatcher {
  if (headersTimeout === undefined && !beforeSend) return agent;
  return agent.compose(
    (dispatch) => (options, handler) =>
      dispatch(
        {
          ...options,
          ...(headersTimeout !== undefined && { headersTimeout }),
          ...(beforeSend && { body: delayed(options.body as AsyncIterable<Uint8Array>, beforeSend) as never }),
        },
        handler,
      ),
  );
}

/** Returns a body whose first part comes after `beforeSend`. The client writes the headers of the request with that part. */
async function* delayed(
  body: AsyncIterable<Uint8Array>,
  beforeSend: () => Promise<void>,
): AsyncGenerator<Uint8Array, void> {
  await beforeSend();
  yield* body;
}

/**
 * Returns the response with a body that fails past the maximum size, which applies after decompression. The body of a
 * download also fails when it arrives too slowly.
 */
function limitBody({ response, host }: OpenedResponse, request: OutboundRequest, unpacedMs: number): Response {
  const { body, status, statusText, headers } = response;
  const { maxBytes, isDownload, signal } = request;
  if (!body) return response as unknown as Response;
  async function* limited(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0;
    try {
      for await (const part of isDownload ? checkSpeed(parts, host, unpacedMs) : parts) {
        size += part.length;
        if (size > maxBytes) throw upstreamFailed(`The response of the host "${host}" has more than ${maxBytes} bytes`);
        yield part;
      }
    } catch (error) {
      throw toOutboundError(error, host, signal);
    }
  }
  const stream = ReadableStream.from(limited(body));
  return new UndiciResponse(stream as never, { status, statusText, headers }) as unknown as Response;
}

/**
 * Yields the parts of a download. Throws UNAVAILABLE when they are too slow on average, after `unpacedMs`. Only waiting for
 * the host counts, not the time until the next part is read.
 */
async function* checkSpeed(
  parts: AsyncIterable<Uint8Array>,
  host: string,
  unpacedMs: number,
): AsyncGenerator<Uint8Array> {
  let [size, waitedMs, since] = [0, 0, performance.now()];
  for await (const part of parts) {
    size += part.length;
    waitedMs += performance.now() - since;
    if (waitedMs > unpacedMs && size < (waitedMs / 1000) * MIN_BYTES_PER_SECOND)
      throw unavailable(`The host "${host}" sends less than ${MIN_BYTES_PER_SECOND} bytes a second`);
    yield part;
    since = performance.now();
  }
}

/**
 * Returns the error that clients see. Errors of the guard and the connector, and the reason of the caller's signal,
 * stay unchanged. A connection that was lost or timed out is UNAVAILABLE, and a response that is not HTTP is
 * UPSTREAM_FAILED.
 */
function toOutboundError(error: unknown, host: string, callerSignal: AbortSignal): unknown {
  if (callerSignal.aborted) return callerSignal.reason;
  let innermost = error;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ApiError) return cause;
    if (isLostConnection(cause)) return notResponding(host, { cause: error });
    innermost = cause;
  }
  const reason = innermost instanceof Error ? innermost.message : String(innermost);
  return upstreamFailed(`The response of the host "${host}" is not valid HTTP: ${quoteUpstream(reason)}`, {
    cause: error,
  });
}

/** Returns whether an error comes from an open connection, or from a limit of time. */
const isLostConnection = ({ name, code }: NodeJS.ErrnoException): boolean =>
  name === 'TimeoutError' || (code !== undefined && LOST_CONNECTION.test(code));
