import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditedMutation, AuditChannel } from '../core/audit.ts';
import type { RequestInfo } from '../core/context.ts';
import { refused } from '../core/errors.ts';
import { SESSION_ABSOLUTE_MS, type Credential } from '../services/identity/credential.ts';

export const SESSION_COOKIE = 'dws_session';

/** A credential the request brings. A bearer wins over a cookie: whoever sends one means it. What is not shaped like one of ours is none. */
export function credentialOf(authorization: string | undefined, cookie: string | undefined): Credential | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (bearer) return /^dws_[\w-]{43}$/.test(bearer) ? { method: 'token', secret: bearer } : null;
  return cookie && /^[\w-]{43}$/.test(cookie) ? { method: 'session', secret: cookie } : null;
}

/** Calls back, with the error that the request shall end with, when it has to end early; answers how to stop. */
export type Watch = (end: (reason: Error) => void) => () => void;

/**
 * What the request tells about itself; aborted when the client hangs up before the answer, or `watch` says so. Who looks at nothing costs nothing.
 * A class, because V8 makes a shape of its own for every literal with a getter, and that keeps all of its request alive for the scavenger: a fifth of a read.
 */
export class HttpFacts implements RequestInfo {
  readonly id: string;
  readonly address: string;
  readonly userAgent: string | null;
  readonly crossSite: boolean;
  readonly channel: AuditChannel;
  mutation: AuditedMutation | undefined;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #secure: boolean;
  readonly #watch: Watch;
  #over: AbortController | null = null;

  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    more: { secure: boolean; foreign: boolean; channel: AuditChannel; watch: Watch },
  ) {
    this.id = request.id;
    this.address = request.ip;
    this.userAgent = request.headers['user-agent'] ?? null;
    this.crossSite = more.foreign;
    this.channel = more.channel;
    this.#request = request;
    this.#reply = reply;
    this.#secure = more.secure;
    this.#watch = more.watch;
  }

  get signal(): AbortSignal {
    if (!this.#over) {
      const controller = (this.#over = new AbortController());
      const { raw } = this.#reply;
      const stop = this.#watch((reason) => controller.abort(reason));
      raw.once('close', () => {
        stop();
        if (!raw.writableFinished) controller.abort();
      });
    }
    return this.#over.signal;
  }

  setSession(value: string | null): void {
    const common = {
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: this.#secure || this.#request.protocol === 'https',
    } as const;
    // The session itself ends sooner when it is not used; the browser need not know.
    if (value) void this.#reply.setCookie(SESSION_COOKIE, value, { ...common, maxAge: SESSION_ABSOLUTE_MS / 1000 });
    else void this.#reply.clearCookie(SESSION_COOKIE, common);
  }
}

/** Whether a request fails to show that it comes from our own pages or from `CORS_ORIGINS`. Browsers say so by `Sec-Fetch-Site` or `Origin`. */
export function isForeign(
  { headers: { origin, host, 'sec-fetch-site': site } }: FastifyRequest,
  allowed: readonly string[],
): boolean {
  if (origin && allowed.includes(origin)) return false;
  return site !== undefined ? site !== 'same-origin' : origin === undefined || !sameHost(origin, host);
}

/** Refuses a change that a foreign request asks for with the cookie that browsers send along unasked. */
export function checkOrigin(facts: RequestInfo): void {
  if (facts.crossSite) throw refused('A request with a session cookie must come from the same origin');
}

/** Whether an Origin header names the host that the request was sent to. */
export function sameHost(origin: string, host: string | undefined): boolean {
  try {
    return new URL(origin).host === host;
  } catch {
    return false;
  }
}
