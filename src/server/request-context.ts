import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditChannel } from '../core/audit.ts';
import type { PublicContext } from '../core/context.ts';
import { unauthenticated, unavailable } from '../core/errors.ts';
import type { Platform } from '../core/platform.ts';
import type { Viewer } from '../core/viewer.ts';
import type { Authenticator } from '../services/identity/authenticator.ts';
import type { Credential } from '../services/identity/credential.ts';
import { createRequestContext } from '../services/resource/viewer-context.ts';
import type { RateLimiter } from './rate-limit.ts';
import { credentialOf, HttpFacts, isForeign, SESSION_COOKIE, type Watch } from './request.ts';

/** Makes the context of a request: who calls, from where, within which limits. */
export type ContextFactory = (
  request: FastifyRequest,
  reply: FastifyReply,
  channel: AuditChannel,
) => Promise<PublicContext>;

export interface ContextParts {
  platform: Platform;
  authenticator: Authenticator;
  limiter: RateLimiter;
  /** Aborted when the server closes: what would run on ends then. */
  closing: AbortSignal;
}

export function contextFactory({ platform, authenticator, limiter, closing }: ContextParts): ContextFactory {
  const { CORS_ORIGINS } = platform.config;
  const secure = platform.publicUrl.startsWith('https://');

  const watchOf =
    (credential: Credential | null, viewer: Viewer | null): Watch =>
    (end) => {
      const close = () => end(unavailable('The service is shutting down'));
      closing.addEventListener('abort', close);
      const stop =
        credential && viewer
          ? authenticator.watch(credential, viewer, { onEnd: () => end(unauthenticated()) })
          : undefined;
      return () => {
        stop?.();
        closing.removeEventListener('abort', close);
      };
    };

  return async (request, reply, channel) => {
    const credential = credentialOf(request.headers.authorization, request.cookies[SESSION_COOKIE]);
    const viewer = credential && (await identify(credential, request.ip, authenticator, limiter));
    limiter.count(viewer ? viewer.userId : request.ip);
    const foreign = viewer?.authMethod === 'session' && isForeign(request, CORS_ORIGINS);
    return createRequestContext(
      platform,
      new HttpFacts(request, reply, { secure, foreign, channel, watch: watchOf(credential, viewer) }),
      viewer,
    );
  };
}

/** Who holds the credential. An address that keeps inventing credentials is refused before the database is asked. */
export async function identify(
  credential: Credential,
  address: string,
  authenticator: Authenticator,
  limiter: RateLimiter,
): Promise<Viewer | null> {
  const guesses = `guesses ${address}`;
  const viewer = await authenticator.authenticate(credential, () => limiter.check(guesses));
  if (!viewer) limiter.count(guesses);
  return viewer;
}
