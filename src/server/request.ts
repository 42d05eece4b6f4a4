import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditedMutation, AuditChannel } from '../core/audit.ts';
import type { Authority } from '../core/authority.ts';
import type { Config } from '../core/config.ts';
import type { RequestInfo } from '../core/context.ts';
import type { KeyedMutation } from '../core/idempotency.ts';
import type { GraphqlOperation } from '../core/metrics.ts';
import { SESSION_ABSOLUTE_MS, type Credential } from '../services/identity/credential.ts';
import { LOGIN_LIFETIME_MS } from '../services/identity/provider-login-state.ts';
import { whenComplete } from './unread-responses.ts';

/** Name of the session cookie. */
export const SESSION_COOKIE = 'dws_session';
/** Name of the cookie with the state of a login at an identity provider, and the only path that gets it. */
const LOGIN_COOKIE = 'dws_login';
const LOGIN_PATH = '/api/login';

/**
 * Returns the credential of a request; null without one, and for a malformed one. A bearer token takes precedence over
 * a cookie.
 */
export function credentialOf(authorization: string | undefined, cookie: string | undefined): Credential | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (bearer) return /^dws_[\w-]{43}$/.test(bearer) ? { method: 'token', secret: bearer } : null;
  return cookie && /^[\w-]{43}$/.test(cookie) ? { method: 'session', secret: cookie } : null;
}

/** Why the signal of a request aborts that was not ended early. One for all: its stack trace would cost as much as a query. */
const ENDED = new DOMException('The request has ended', 'AbortError');

/** Calls `end` with an error when the request must end early. Returns a function that stops watching. */
export type WatchRequest = (end: (reason: Error) => void) => () => void;

/**
 * The facts of an HTTP request. `signal` aborts when the response was sent, the client disconnects, or `watch` ends the
 * request: no work of a request continues after it. It is created on first use. This is a class, because V8 creates a
 * hidden class for each object literal with a getter, which delays garbage collection of the request: that cost a fifth
 * of a read.
 */
export class HttpRequestInfo implements RequestInfo {
  readonly id: string;
  readonly address: string;
  readonly userAgent: string | null;
  readonly crossSite: boolean;
  readonly channel: AuditChannel;
  readonly appDepth: number;
  readonly cookieRefusal: string | null;
  readonly hasCredentials: boolean;
  readonly isSafe: boolean;
  readonly authority: Authority | undefined;
  mutation: AuditedMutation | undefined;
  keyed: KeyedMutation | undefined;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #secure: boolean;
  readonly #sameSite: SameSite;
  readonly #watch: WatchRequest;
  #ended: AbortController | null = null;

  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    options: {
      secure: boolean;
      sameSite: SameSite;
      crossSite: boolean;
      channel: AuditChannel;
      watch: WatchRequest;
      appDepth?: number;
      authority?: Authority;
    },
  ) {
    this.id = request.id;
    this.address = request.ip;
    this.userAgent = request.headers['user-agent'] ?? null;
    this.crossSite = options.crossSite;
    this.channel = options.channel;
    this.appDepth = options.appDepth ?? 0;
    this.cookieRefusal = options.sameSite === 'none' ? null : explainUnsentCookie(request);
    this.hasCredentials = request.headers.authorization !== undefined || request.cookies[SESSION_COOKIE] !== undefined;
    this.isSafe = request.method === 'QUERY';
    this.authority = options.authority;
    this.#request = request;
    this.#reply = reply;
    this.#secure = options.secure;
    this.#sameSite = options.sameSite;
    this.#watch = options.watch;
  }

  get signal(): AbortSignal {
    if (!this.#ended) {
      const controller = (this.#ended = new AbortController());
      const { raw } = this.#reply;
      if (raw.writableFinished || raw.destroyed) controller.abort(ENDED);
      else {
        const stop = this.#watch((reason) => controller.abort(reason));
        raw.once('close', () => {
          stop();
          controller.abort(ENDED);
        });
      }
    }
    return this.#ended.signal;
  }

  onComplete(end: () => void): void {
    whenComplete(this.#reply.raw, end);
  }

  setOperation(operation: GraphqlOperation): void {
    this.#request.graphqlOperation = operation;
  }

  setSession(value: string | null): void {
    // An unused session expires earlier, on the server.
    this.#setCookie(SESSION_COOKIE, value, '/', SESSION_ABSOLUTE_MS, this.#sameSite);
  }

  get loginCookie(): NonNullable<RequestInfo['loginCookie']> {
    return {
      get: () => this.#request.cookies[LOGIN_COOKIE],
      set: (value) => this.#setCookie(LOGIN_COOKIE, value, LOGIN_PATH, LOGIN_LIFETIME_MS, 'lax'),
    };
  }

  /** Sets or clears a cookie that scripts cannot read. */
  #setCookie(name: string, value: string | null, path: string, lifetimeMs: number, sameSite: SameSite): void {
    const secure = this.#secure || this.#request.protocol === 'https';
    const common = { path, httpOnly: true, sameSite, secure } as const;
    if (value) void this.#reply.setCookie(name, value, { ...common, maxAge: lifetimeMs / 1000 });
    else void this.#reply.clearCookie(name, common);
  }
}

/**
 * Returns whether a request or the upgrade to a socket lacks proof (`Sec-Fetch-Site` or `Origin`) that it comes from the
 * service's own pages or from `CORS_ORIGINS`. Browsers send the session cookie without this proof, too.
 */
export function isCrossSite(
  { headers: { origin, host, 'sec-fetch-site': site } }: Pick<FastifyRequest, 'headers'>,
  allowed: readonly string[],
): boolean {
  if (origin && allowed.includes(origin)) return false;
  return site !== undefined ? site !== 'same-origin' : origin === undefined || !sameHost(origin, host);
}

type SameSite = Config['COOKIE_SAME_SITE'];

/** Returns why the browser sends no session cookie from the page of a request; null if it does, or does not say. */
function explainUnsentCookie({ headers, hostname }: FastifyRequest): string | null {
  const { origin = 'another site', 'sec-fetch-site': site, authorization } = headers;
  if (site !== 'cross-site' || authorization !== undefined) return null;
  return (
    `Browsers do not send the session cookie from ${origin} to ${hostname}, which is another site: open the page at ` +
    `the host ${hostname}, or set COOKIE_SAME_SITE=none (https only)`
  );
}

/** Returns whether the header `Origin` names the host of the request. */
function sameHost(origin: string, host: string | undefined): boolean {
  try {
    return new URL(origin).host === host;
  } catch {
    return false;
  }
}
