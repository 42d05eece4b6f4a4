import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestFacts } from '../core/context.ts';
import { refused } from '../core/errors.ts';
import { SESSION_ABSOLUTE, type Credential } from '../services/credential.ts';

export const SESSION_COOKIE = 'dws_session';

/** A credential the request brings. A bearer wins over a cookie: whoever sends one means it. What is not shaped like one of ours is none. */
export function credentialOf(authorization: string | undefined, cookie: string | undefined): Credential | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (bearer) return /^dws_[\w-]{43}$/.test(bearer) ? { method: 'token', secret: bearer } : null;
  return cookie && /^[\w-]{43}$/.test(cookie) ? { method: 'session', secret: cookie } : null;
}

/** Calls back, with the error that the request shall end with, when it has to end early; answers how to stop. */
export type Watch = (end: (reason: Error) => void) => () => void;

/** What the request tells about itself; aborted when the client hangs up before the answer, or `watch` says so. Who looks at nothing costs nothing. */
export function factsOf(request: FastifyRequest, reply: FastifyReply, secure: boolean, watch: Watch): RequestFacts {
  let over: AbortController | null = null;
  return {
    id: request.id,
    address: request.ip,
    userAgent: request.headers['user-agent'] ?? null,
    get signal() {
      if (!over) {
        const controller = over = new AbortController();
        const stop = watch((reason) => controller.abort(reason));
        reply.raw.once('close', () => {
          stop();
          if (!reply.raw.writableFinished) controller.abort();
        });
      }
      return over.signal;
    },
    setSession(value) {
      const common = { path: '/', httpOnly: true, sameSite: 'lax', secure: secure || request.protocol === 'https' } as const;
      // The session itself ends sooner when it is not used; the browser need not know.
      if (value) void reply.setCookie(SESSION_COOKIE, value, { ...common, maxAge: SESSION_ABSOLUTE / 1000 });
      else void reply.clearCookie(SESSION_COOKIE, common);
    },
  };
}

/** Whether a request fails to show that it comes from our own pages or from `CORS_ORIGINS`. Browsers say so by `Sec-Fetch-Site` or `Origin`. */
export function isForeign({ headers: { origin, host, 'sec-fetch-site': site } }: FastifyRequest, allowed: readonly string[]): boolean {
  if (origin && allowed.includes(origin)) return false;
  return site !== undefined ? site !== 'same-origin' : origin === undefined || !sameHost(origin, host);
}

/** Refuses a change that a foreign request asks for with the cookie that browsers send along unasked. */
export function checkOrigin(facts: RequestFacts): void {
  if (facts.foreign) throw refused('A request with a session cookie must come from the same origin');
}

/** Whether an Origin header names the host that the request was sent to. */
export function sameHost(origin: string, host: string | undefined): boolean {
  try {
    return new URL(origin).host === host;
  } catch {
    return false;
  }
}
