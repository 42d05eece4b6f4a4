import type { RunApp } from '../../rest-bridge/call.ts';
import type { AppRequest, ReceiveBody } from '../core/app-run.ts';
import type { Context, RequestInfo } from '../core/context.ts';
import { unavailable } from '../core/errors.ts';
import { PerUserLimit } from '../core/per-user-limit.ts';
import type { Platform } from '../core/platform.ts';
import { noRouteFor } from '../services/app/app-route-match.ts';
import { callView } from '../services/app/app-view.ts';
import { callWebhook } from '../services/app/app-webhook.ts';
import { findWebhookApp } from '../services/app/find-running-app.ts';
import type { RateLimiter } from './rate-limit.ts';

/** Bytes of bodies that an app may occupy in the memory of a process: for its views, and again for its webhooks. */
const MAX_BODY_BYTES = 64 << 20;

/** Receives the body of a call of an app. */
type ReceiveOfApp = (maxBytes: number, appId: string) => Promise<Uint8Array>;

/** Creates the function that runs calls, and counts their bodies from when they arrive until the call ends. */
function createBodyLimit() {
  const bodies = new PerUserLimit(MAX_BODY_BYTES);
  return async <T>(
    { headers }: AppRequest,
    receive: ReceiveBody,
    run: (receive: ReceiveOfApp) => Promise<T>,
  ): Promise<T> => {
    let release: (() => void) | null = null;
    try {
      return await run((maxBytes, appId) => {
        release = bodies.acquire(appId, maxSizeOf(headers, maxBytes));
        if (!release) throw unavailable('The app is receiving too many calls', { headers: { 'retry-after': '1' } });
        return receive(maxBytes);
      });
    } finally {
      (release as (() => void) | null)?.();
    }
  };
}

/** Returns how many bytes of a body are received at most. A request without a length has a body only in chunks. */
function maxSizeOf(headers: AppRequest['headers'], maxBytes: number): number {
  const length = headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : maxBytes);
  return Math.min(Number(length) || 0, maxBytes);
}

/** Creates the function that runs handlers of routes below `view` for a caller. */
export function createViewRunner() {
  const withBody = createBodyLimit();
  return (ctx: Context): RunApp =>
    (id, request, receive) =>
      withBody(request, receive, (receiveOfApp) => callView(ctx, id, { request, receive: receiveOfApp }));
}

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
  const withBody = createBodyLimit();
  return (info: RequestInfo): RunApp =>
    async (id, request, receive) => {
      const app = await findWebhookApp(platform.system, id);
      if (!app) {
        limiter.count(info.address);
        throw noRouteFor(request);
      }
      webhookLimiter.count(`app ${app.app.id}`);
      const { result } = await withBody(request, receive, (receiveOfApp) =>
        callWebhook(platform, {
          app,
          request,
          replayOf: null,
          info,
          receive: (maxBytes) => receiveOfApp(maxBytes, app.app.id),
        }),
      );
      if ('failure' in result) throw result.failure;
      return result.response;
    };
}
