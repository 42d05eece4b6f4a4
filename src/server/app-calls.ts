import type { RunApp } from '../../rest-bridge/call.ts';
import { addressRange } from '../core/address-range.ts';
import type { HandlerRoute, ReceiveBody } from '../core/app-run.ts';
import type { Context, RequestInfo } from '../core/context.ts';
import { rateLimited } from '../core/errors.ts';
import { PerUserLimit } from '../core/per-user-limit.ts';
import type { Platform } from '../core/platform.ts';
import { noRouteFor } from '../services/app/app-route-match.ts';
import { callView } from '../services/app/app-view.ts';
import { callWebhook, type WebhookGate } from '../services/app/app-webhook.ts';
import { findAppByToken, findWebhookApp, type WebhookApp } from '../services/app/find-running-app.ts';
import type { WebhookStep } from '../services/app/webhook-refusal.ts';
import { AppBodies, type BodyLimits, type OpenBody } from './app-bodies.ts';
import type { RateLimiter } from './rate-limit.ts';

/** Creates the function that runs handlers of routes below `view` for a caller. */
export function createViewRunner(limits?: BodyLimits) {
  const bodies = new AppBodies(limits);
  return (ctx: Context): RunApp =>
    async (id, request, receive) => {
      let body: OpenBody | null = null;
      try {
        return await callView(ctx, id, {
          request,
          receive: (maxBytes, appId) => {
            body = bodies.open({ pool: appId, caller: ctx.viewer.userId });
            return receive(maxBytes, body.receipt);
          },
        });
      } finally {
        (body as OpenBody | null)?.close();
      }
    };
}

interface WebhookOptions {
  platform: Platform;
  /** Counts the calls of unknown apps by address. */
  limiter: RateLimiter;
  /** Counts the accepted calls of apps. */
  webhookLimiter: RateLimiter;
  /** Counts the refused calls of apps by address. */
  refusedLimiter: RateLimiter;
  bodyLimits?: BodyLimits | undefined;
}

/** Refused calls of an app a minute after which an address gets 429 for this app. */
export const MAX_REFUSED_CALLS = 60;
/** Calls of a route that an address may have open in a process before they are proven. */
const MAX_OPEN_CALLS = 64;
/** Part of the limit of an app that one address has on routes without `verify`. */
const ADDRESS_SHARE = 1 / 2;
/** Part of the memory for bodies that calls by token have; other calls have the rest. */
const TOKEN_SHARE = 1 / 2;
/** Steps whose refusals do not count to the address: it is limited by them already, or may be right with its next call. */
const UNCOUNTED_STEPS: ReadonlySet<WebhookStep> = new Set(['address', 'limit']);

/**
 * Creates the function that runs webhooks for any caller. What an unproven caller does is counted to its address, and only
 * accepted calls to the app, so that a caller without a signature cannot stop others.
 */
export function createWebhookRunner(options: WebhookOptions) {
  const { platform, limiter } = options;
  const bodies = new AppBodies(options.bodyLimits);
  const createGate = gateFactory(options, bodies);
  const createTokenGate = tokenGateFactory(options, bodies);
  return (info: RequestInfo, hasToken: boolean): RunApp =>
    async (key, request, receive) => {
      const app = await (hasToken ? findAppByToken : findWebhookApp)(platform.system, key);
      if (!app) {
        limiter.count(addressRange(info.address));
        throw noRouteFor(request);
      }
      const { gate, close } = (hasToken ? createTokenGate : createGate)(app, info, receive);
      try {
        const { result } = await callWebhook(platform, { app, request, replayOf: null, info, gate });
        if ('failure' in result) throw result.failure;
        return result.response;
      } finally {
        close();
      }
    };
}

/** Creates the gate of a call, and the function that ends its counts. */
type CreateGate = (
  app: WebhookApp,
  info: RequestInfo,
  receive: ReceiveBody,
) => { gate: WebhookGate; close: () => void };

/** Creates the function that creates gates of calls by token. They have a part of what the app has, and no address. */
function tokenGateFactory({ webhookLimiter }: WebhookOptions, bodies: AppBodies): CreateGate {
  return ({ app }, _info, receive) => {
    let body: OpenBody | null = null;
    const ignore = () => {};
    const gate: WebhookGate = {
      hasToken: true,
      enter: ignore,
      open: ignore,
      receive: (maxBytes) => {
        body = bodies.open({ pool: `token ${app.id}`, caller: null, share: TOKEN_SHARE });
        return receive(maxBytes, body.receipt);
      },
      prove: ignore,
      accept: () => webhookLimiter.count(`token ${app.id}`),
      refuse: ignore,
    };
    return { gate, close: () => (body as OpenBody | null)?.close() };
  };
}

/** Creates the function that creates gates of calls by the id of an app. */
function gateFactory({ webhookLimiter, refusedLimiter }: WebhookOptions, bodies: AppBodies): CreateGate {
  const openCalls = new PerUserLimit(MAX_OPEN_CALLS);
  return ({ app }, { address }, receive) => {
    const range = addressRange(address);
    const ofAddress = `${app.id} ${range}`;
    let [isProven, body, leave]: [boolean, OpenBody | null, (() => void) | null] = [false, null, null];
    const gate: WebhookGate = {
      hasToken: false,
      enter: () => refusedLimiter.check(`refused ${ofAddress}`),
      open: ({ method, path }: HandlerRoute) => {
        leave = openCalls.acquire(`${ofAddress} ${method} ${path}`);
        if (!leave) throw rateLimited(undefined, { headers: { 'retry-after': '1' } });
      },
      receive: (maxBytes) => {
        body = bodies.open({ pool: app.id, caller: range, share: TOKEN_SHARE });
        return receive(maxBytes, body.receipt);
      },
      prove: () => {
        isProven = true;
        body?.prove();
        leave?.();
      },
      accept: () => {
        const caller = `app ${app.id}`;
        if (isProven) return webhookLimiter.count(caller);
        webhookLimiter.check(`${caller} ${range}`, ADDRESS_SHARE);
        webhookLimiter.count(caller);
        webhookLimiter.add(`${caller} ${range}`);
      },
      refuse: (step) => {
        if (!UNCOUNTED_STEPS.has(step)) refusedLimiter.add(`refused ${ofAddress}`);
      },
    };
    const close = () => {
      body?.close();
      leave?.();
    };
    return { gate, close };
  };
}
