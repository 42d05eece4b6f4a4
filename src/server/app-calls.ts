import type { RunApp } from '../../rest-bridge/call.ts';
import type { Context, RequestInfo } from '../core/context.ts';
import { unavailable } from '../core/errors.ts';
import { PerUserLimit } from '../core/per-user-limit.ts';
import type { Platform } from '../core/platform.ts';
import { noRouteFor } from '../services/app/app-route-match.ts';
import { callView } from '../services/app/app-view.ts';
import { callWebhook } from '../services/app/app-webhook.ts';
import { findWebhookApp } from '../services/app/find-running-app.ts';
import type { RateLimiter } from './rate-limit.ts';

/** Bytes of bodies of webhook calls that an app may occupy in the memory of a process. */
const MAX_WEBHOOK_BYTES = 64 << 20;

/** Returns the function that runs handlers of routes below `view` for a caller. */
export const createViewRunner =
  (ctx: Context): RunApp =>
  (id, request, receive) =>
    callView(ctx, id, { request, receive });

interface WebhookOptions {
  platform: Platform;
  /** Counts the calls of unknown apps by address. */
  limiter: RateLimiter;
  /** Counts the calls of apps. */
  webhookLimiter: RateLimiter;
}

/**
 * Creates the function that runs webhooks for any caller. Calls above the limit of an app are refused and not recorded: a
 * record of each would be the load that the limit prevents.
 */
export function createWebhookRunner({ platform, limiter, webhookLimiter }: WebhookOptions) {
  const bodies = new PerUserLimit(MAX_WEBHOOK_BYTES);
  return (info: RequestInfo): RunApp =>
    async (id, request, receive) => {
      const app = await findWebhookApp(platform.system, id);
      if (!app) {
        limiter.count(info.address);
        throw noRouteFor(request);
      }
      webhookLimiter.count(`app ${app.app.id}`);
      let release: (() => void) | null = null;
      try {
        const { result } = await callWebhook(platform, {
          app,
          request,
          replayOf: null,
          info,
          receive: (maxBytes) => {
            const size = Math.min(Number(request.headers['content-length'] ?? maxBytes) || 0, maxBytes);
            release = bodies.acquire(app.app.id, size);
            if (!release) throw unavailable('The app is receiving too many calls', { headers: { 'retry-after': '1' } });
            return receive(maxBytes);
          },
        });
        if ('failure' in result) throw result.failure;
        return result.response;
      } finally {
        (release as (() => void) | null)?.();
      }
    };
}
