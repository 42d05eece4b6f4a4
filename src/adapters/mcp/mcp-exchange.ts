import { ReadableStream } from 'node:stream/web';
import { setImmediate } from 'node:timers/promises';
import { ApiError, unavailable, upstreamFailed } from '../../core/errors.ts';
import type { McpServer } from '../../core/mcp.ts';
import { quoteUpstream, type OutboundClient } from '../../core/outbound.ts';
import { authorizationRequired, partsOf, tokenRefused } from './exchange-errors.ts';
import { MAX_RESPONSE_BYTES, ResponseBudget } from './response-budget.ts';

/** Time for all requests of one exchange. */
const EXCHANGE_TIMEOUT_MS = 30_000;
/** Maximum number of requests: a server may send its tools on as many pages as it has tools. */
const MAX_REQUESTS = 600;
/** Size of the pieces that the SDK reads. */
const MAX_PIECE_BYTES = 4096;

/** Common options of exchanges. */
export interface ExchangeOptions {
  outbound: OutboundClient;
  /** Version of this service, which servers get. */
  version: string;
  /** Time for all requests. Tests set it. */
  timeoutMs?: number;
}

/** The fetch of the MCP SDK. */
type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * All HTTP requests that serve one purpose at one MCP server. It passes them to the guarded client, adds the access token,
 * and ends with the first failure or past a limit. The SDK then may wait, or report something else: `run` throws that failure.
 */
export class McpExchange {
  /** The status of the last response to a POST; null before the first. */
  lastStatus: number | null = null;
  /** Whether a POST was successful. */
  hasSucceeded = false;
  /** Whether the last response to a POST was 404 for a session that the server itself has started. */
  hasLostSession = false;
  readonly host: string;
  readonly timeoutMs: number;
  readonly #outbound: OutboundClient;
  readonly #server: McpServer;
  readonly #caller: AbortSignal;
  readonly #ended = new AbortController();
  /** Parts of requests that no error message may contain. */
  readonly #secrets: Set<string>;
  readonly #budget = new ResponseBudget((problem) => this.fail(upstreamFailed(`${this.#name} ${problem}`)));
  #token: string | undefined;
  #remainingRequests = MAX_REQUESTS;
  #hasResponse = false;
  /** Whether the last response of the server itself was 403. */
  #isRefused = false;

  constructor({ outbound, timeoutMs = EXCHANGE_TIMEOUT_MS }: ExchangeOptions, server: McpServer, caller: AbortSignal) {
    const url = URL.parse(server.url);
    this.host = url?.hostname ?? '';
    this.timeoutMs = timeoutMs;
    this.#outbound = outbound;
    this.#server = server;
    this.#caller = caller;
    this.#secrets = new Set(Object.values(server.headers).flatMap(partsOf));
    for (const [, value] of url?.searchParams ?? []) this.#addSecret(value);
  }

  /**
   * Runs work on this exchange, in which all requests end with the work. Throws the first failure as a client sees it.
   * `expected` names in it what the server sends.
   */
  async run<T>(expected: string, work: () => Promise<T>): Promise<T> {
    const { signal } = this.#ended;
    const failed = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => failed.reject(signal.reason), { once: true });
    const timer = setTimeout(() => this.#end(this.#timeout(expected)), this.timeoutMs);
    const leave = () => this.#end(this.#caller.reason);
    this.#caller.addEventListener('abort', leave, { once: true });
    if (this.#caller.aborted) leave();
    try {
      return await Promise.race([work(), failed.promise]);
    } catch (error) {
      throw signal.aborted ? signal.reason : this.#toError(error);
    } finally {
      clearTimeout(timer);
      this.#caller.removeEventListener('abort', leave);
      this.#end(new Error('The exchange has ended'));
    }
  }

  /** Sends a request to the server itself, with its headers and token. */
  readonly fetch: Fetch = async (url, init = {}) => {
    const response = await this.#send(url, init, await this.#withToken(init, this.#token));
    this.#isRefused = response.status === 403;
    if (response.status !== 401) return response;
    const { token } = this.#server;
    if (!token) return this.fail(authorizationRequired(this.host));
    await response.body?.cancel();
    const renewed = await token(this.#token).catch((error: unknown) => this.fail(error));
    const second = await this.#send(url, init, await this.#withToken(init, renewed));
    this.#isRefused = second.status === 403;
    return second.status === 401 ? this.fail(tokenRefused(this.host)) : second;
  };

  /** Sends a request without headers and token of the server, e.g. to its authorization server. */
  readonly fetchPublic: Fetch = (url, init = {}) =>
    this.#send(url, init, Object.fromEntries(new Headers(init.headers)));

  /** Sends a request to the server itself, whose response and failure do not count. */
  async notify(url: string, init: RequestInit, timeoutMs: number): Promise<void> {
    const headers = await this.#withToken(init, this.#token);
    const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(timeoutMs)]);
    const request = { method: init.method, headers, signal, maxBytes: MAX_RESPONSE_BYTES, followsRedirects: false };
    await this.#outbound.fetch(url, request).then(
      (response) => response.body?.cancel(),
      () => undefined,
    );
  }

  /** Returns the beginning of a server's text for an error message. */
  quote(text: string): string {
    return quoteUpstream(this.mask(text));
  }

  /** Returns a text of the server with dots in place of the secrets that were sent to it. */
  mask(text: string): string {
    // A secret may be within another one.
    const secrets = [...this.#secrets].toSorted((a, b) => b.length - a.length);
    return secrets.reduce((masked, secret) => masked.replaceAll(secret, '…'), text);
  }

  async #withToken(init: RequestInit, token: string | undefined): Promise<Record<string, string>> {
    const headers = new Headers(init.headers);
    // Headers of the protocol come first.
    for (const [name, value] of Object.entries(this.#server.headers)) if (!headers.has(name)) headers.set(name, value);
    this.#token = token ?? (await this.#server.token?.().catch((error: unknown) => this.fail(error)));
    if (this.#token !== undefined) {
      this.#addSecret(this.#token);
      headers.set('authorization', `Bearer ${this.#token}`);
    }
    return Object.fromEntries(headers);
  }

  async #send(url: string | URL, init: RequestInit, headers: Record<string, string>): Promise<Response> {
    if (--this.#remainingRequests < 0)
      this.fail(upstreamFailed(`${this.#name} takes more than ${MAX_REQUESTS} requests`));
    const { method = 'GET', body = null, signal } = init;
    const response = await this.#outbound
      .fetch(String(url), {
        method,
        headers,
        body: body === null ? null : String(body as string | URLSearchParams),
        signal: signal ? AbortSignal.any([this.#ended.signal, signal]) : this.#ended.signal,
        maxBytes: MAX_RESPONSE_BYTES,
        followsRedirects: false,
      })
      .catch((error: unknown) => this.#failUnless(signal, error));
    this.#hasResponse = true;
    if (method === 'POST') {
      this.lastStatus = response.status;
      this.hasSucceeded ||= response.ok;
      this.hasLostSession = response.status === 404 && headers['mcp-session-id'] !== undefined;
    }
    if (response.status >= 300 && response.status < 400) this.fail(this.#redirected(url, response));
    return this.#bounded(response, signal);
  }

  /** Returns the response with a body that ends the exchange past its limits. */
  #bounded(response: Response, signal: AbortSignal | null | undefined): Response {
    const { body, status, headers } = response;
    if (!body) return response;
    const check = this.#budget.createCheck(headers.get('content-type') ?? '');
    const failUnless = (error: unknown) => this.#failUnless(signal, error);
    const ended = this.#ended.signal;
    async function* checked(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      try {
        for await (const part of parts) {
          check(part);
          // Other requests of this process have their turn between the pieces.
          for (let at = 0; at < part.length; at += MAX_PIECE_BYTES) {
            if (at > 0) await setImmediate(undefined, { signal: ended });
            yield part.subarray(at, at + MAX_PIECE_BYTES);
          }
        }
      } catch (error) {
        failUnless(error);
      }
    }
    return new Response(ReadableStream.from(checked(body)) as unknown as BodyInit, { status, headers });
  }

  /** Fails, unless the SDK itself has ended the request. */
  #failUnless(signal: AbortSignal | null | undefined, error: unknown): never {
    if (signal?.aborted) throw error;
    return this.fail(error);
  }

  /** Ends the exchange with an error. */
  fail(error: unknown): never {
    this.#end(error);
    throw error;
  }

  #end(reason: unknown): void {
    if (!this.#ended.signal.aborted) this.#ended.abort(reason);
  }

  #addSecret(value: string): void {
    for (const part of partsOf(value)) this.#secrets.add(part);
  }

  get #name(): string {
    return `The MCP server "${this.host}"`;
  }

  #timeout(expected: string): ApiError {
    const limit = `within ${this.timeoutMs / 1000} seconds`;
    return this.#hasResponse
      ? upstreamFailed(`${this.#name} did not send ${expected} ${limit}`)
      : unavailable(`${this.#name} did not respond ${limit}`);
  }

  #redirected(url: string | URL, { headers }: Response): ApiError {
    const target = URL.parse(headers.get('location') ?? '', String(url));
    const place = target ? ` to "${this.quote(`${target.origin}${target.pathname}`)}"` : '';
    return upstreamFailed(
      `The host "${new URL(url).hostname}" redirects${place}. Redirects are not followed: use the URL of the server itself`,
    );
  }

  /**
   * Returns a client's error for an error of the SDK. The SDK's error has the whole response of the server, which may
   * repeat secrets, so it is not the cause.
   */
  #toError(error: unknown): ApiError {
    for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof ApiError) return cause;
    const reason = error instanceof Error ? error.message : String(error);
    return upstreamFailed(`${this.#name} ${this.#describeFailure()}: ${this.quote(reason)}`);
  }

  #describeFailure(): string {
    if (this.#isRefused) return 'refuses access with 403';
    return this.hasLostSession ? 'responds with 404 to its own sessions' : 'does not follow the protocol';
  }
}
