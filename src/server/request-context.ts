import type { FastifyReply, FastifyRequest } from 'fastify';
import { addressRange } from '../core/address-range.ts';
import type { AuditChannel } from '../core/audit.ts';
import { isPrivate, keepingIssue } from '../core/authority.ts';
import type { PublicContext } from '../core/context.ts';
import { unauthenticated, unavailable } from '../core/errors.ts';
import type { InternalCall } from '../core/internal-api.ts';
import type { Platform } from '../core/platform.ts';
import { limitKeyOf, type Viewer } from '../core/viewer.ts';
import { CHAIN_HEADER, readChain } from '../services/agent/agent-chain.ts';
import type { Authenticator } from '../services/identity/authenticator.ts';
import type { Credential } from '../services/identity/credential.ts';
import { createRequestContext } from '../services/resource/viewer-context.ts';
import type { InternalCalls } from './internal-api.ts';
import type { RateLimiter } from './rate-limit.ts';
import { credentialOf, HttpRequestInfo, isCrossSite, SESSION_COOKIE, type WatchRequest } from './request.ts';
import { assignResponse } from './unread-responses.ts';

/** Creates contexts of requests. */
export interface CreateContext {
  /** Creates the context of a request: caller, address, limits. Throws 429 above a limit. */
  (request: FastifyRequest, reply: FastifyReply, channel: AuditChannel): Promise<PublicContext>;
  /** Creates the context of a request without a caller, whatever its credentials are. Counts nothing. */
  anonymous(request: FastifyRequest, reply: FastifyReply, channel: AuditChannel): PublicContext;
}

interface ContextOptions {
  platform: Platform;
  authenticator: Authenticator;
  limiter: RateLimiter;
  internalCalls: InternalCalls;
  /** Aborted when the server closes. Long requests end then. */
  closing: AbortSignal;
}

/** Creates the factory of request contexts. */
export function createContextFactory({
  platform,
  authenticator,
  limiter,
  internalCalls,
  closing,
}: ContextOptions): CreateContext {
  const { CORS_ORIGINS, COOKIE_SAME_SITE: sameSite } = platform.config;
  const secure = platform.publicUrl.startsWith('https://');

  /** A tool of an agent may send the request: the runs of the chain count as handlers that called each other. */
  const chainDepthOf = ({ headers }: FastifyRequest): number =>
    readChain(platform, String(headers[CHAIN_HEADER] ?? ''));

  const createWatch =
    (credential: Credential | null, viewer: Viewer | null): WatchRequest =>
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

  const createAppContext = (request: FastifyRequest, reply: FastifyReply, call: InternalCall): PublicContext => {
    const { authority, depth } = call;
    const ofPrivateRun = isPrivate(authority);
    const viewer: Viewer = { ...call.viewer, authMethod: 'app', credentialId: '', ofPrivateRun };
    limiter.count(limitKeyOf(viewer));
    const origin = { secure, sameSite, crossSite: false } as const;
    const options = { ...origin, channel: 'app', appDepth: depth + 1, authority } as const;
    return createRequestContext(
      platform,
      new HttpRequestInfo(request, reply, { ...options, watch: createWatch(null, viewer) }),
      viewer,
    );
  };

  const createContext = async (request: FastifyRequest, reply: FastifyReply, channel: AuditChannel) => {
    const call = internalCalls.take(request, reply);
    if (call) return createAppContext(request, reply, call);
    const credential = credentialOf(request.headers.authorization, request.cookies[SESSION_COOKIE]);
    const viewer = credential && (await identify(credential, request.ip, authenticator, limiter));
    const caller = viewer ? viewer.userId : addressRange(request.ip);
    limiter.count(caller);
    void reply.headers(limiter.headersOf(caller));
    if (viewer) assignResponse(reply.raw, viewer);
    const crossSite = viewer?.authMethod === 'session' && isCrossSite(request, CORS_ORIGINS);
    const appDepth = chainDepthOf(request);
    return createRequestContext(
      platform,
      new HttpRequestInfo(request, reply, {
        secure,
        sameSite,
        crossSite,
        channel,
        appDepth,
        watch: createWatch(credential, viewer),
      }),
      viewer,
    );
  };
  const anonymous: CreateContext['anonymous'] = (request, reply, channel) => {
    // A handler may call a webhook, too.
    const call = internalCalls.take(request, reply);
    // Its call is recorded, including the contents of the request.
    const issue = call && keepingIssue(call.authority);
    if (issue) throw issue;
    const options = {
      secure,
      sameSite,
      crossSite: false,
      channel,
      watch: createWatch(null, null),
      appDepth: chainDepthOf(request),
      ...(call && { channel: 'app' as const, appDepth: call.depth + 1, authority: call.authority }),
    };
    return createRequestContext(platform, new HttpRequestInfo(request, reply, options), null);
  };
  return Object.assign(createContext, { anonymous });
}

/**
 * Returns the caller with this credential, null for an invalid one. An address with too many invalid credentials gets
 * 429 without a query.
 */
export async function identify(
  credential: Credential,
  address: string,
  authenticator: Authenticator,
  limiter: RateLimiter,
): Promise<Viewer | null> {
  const guesses = `guesses ${addressRange(address)}`;
  const viewer = await authenticator.authenticate(credential, () => limiter.check(guesses));
  if (!viewer) limiter.count(guesses);
  return viewer;
}
