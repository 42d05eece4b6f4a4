import type { RunApp } from '../../rest-bridge/call.ts';
import { addressRange } from '../core/address-range.ts';
import type { HandlerRoute, ReceiveBody } from '../core/app-run.ts';
import type { Context, RequestInfo } from '../core/context.ts';
import { rateLimited } from '../core/errors.ts';
import { PerUserLimit } from '../core/per-user-limit.ts';
import type { Platform } from '../core/platform.ts';
import { entranceOf, maxBodyOf, noRouteFor } from '../services/app/app-route-match.ts';
import { callView } from '../services/app/app-view.ts';
import { callWebhook, type WebhookGate } from '../services/app/app-webhook.ts';
import { findAppByToken, findWebhookApp, type WebhookApp } from '../services/app/find-running-app.ts';
import { runWithResponse } from '../services/app/late-run.ts';
import type { WebhookStep } from '../services/app/webhook-refusal.ts';
import type { AppBodies, OpenBody } from './app-bodies.ts';
import type { RateLimiter } from './rate-limit.ts';

/** Creates the function that runs handlers of routes below `view` for a caller. */
export const createViewRunner =
  (bodies: AppBodies) =>
  (ctx: Context): RunApp =>
  (id, request, receive) =>
    runWithResponse(ctx.platform, async (send) => {
      let body: OpenBody | null = null;
      try {
        return await callView(ctx, id, {
          request,
          receive: (maxBytes, owner) => {
            body = bodies.open({ pool: 'view', owner, caller: ctx.viewer.userId });
            return receive(maxBytes, body.receipt);
          },
          send,
        });
      } finally {
        (body as OpenBody | null)?.close();
      }
    });

interface WebhookOptions {
  platform: Platform;
  /** Counts the calls of unknown apps by address. */
  limiter: RateLimiter;
  /** Counts the accepted calls of apps. */
  webhookLimiter: RateLimiter;
  /** Counts the refused calls of apps by address. */
  refusedLimiter: RateLimiter;
  /** Counts the bodies of all calls of apps. */
  bodies: AppBodies;
}

/** Refused calls of an app a minute after which an address gets 429 for this app. */
export const MAX_REFUSED_CALLS = 60;
/** Calls of a route that an address may have open in a process before they are proven. */
const MAX_OPEN_CALLS = 64;
/** Part of the limit of an app that one address has on routes without `verify`. */
const ADDRESS_SHARE = 1 / 2;
/** Steps whose refusals do not count to the address: it is limited by them already, or may be right with its next call. */
const UNCOUNTED_STEPS: ReadonlySet<WebhookStep> = new Set(['address', 'limit']);

/**
 * Creates the function that runs webhooks for any caller. Calls of unproven callers count against their address. Only
 * accepted calls count against the app, so a caller without a signature cannot block others.
 */
export function createWebhookRunner(options: WebhookOptions) {
  const { platform, limiter } = options;
  const createGate = gateFactory(options);
  const createTokenGate = tokenGateFactory(options);
  return (info: RequestInfo, hasToken: boolean): RunApp =>
    async (key, request, receive) => {
      const app = await (hasToken ? findAppByToken : findWebhookApp)(platform.system, key);
      if (!app) {
        limiter.count(addressRange(info.address));
        throw noRouteFor(request);
      }
      return runWithResponse(platform, async (send) => {
        const { gate, close } = (hasToken ? createTokenGate : createGate)(app, info, receive);
        try {
          const { result } = await callWebhook(platform, { app, request, replayOf: null, info, gate, send });
          if ('failure' in result) throw result.failure;
          return result.response;
        } finally {
          close();
        }
      });
    };
}

/** Creates the gate of a call, and the function that ends its counts. */
type CreateGate = (
  app: WebhookApp,
  info: RequestInfo,
  receive: ReceiveBody,
) => { gate: WebhookGate; close: () => void };

/** Creates the function that creates gates of calls by token, which count to no address. */
function tokenGateFactory({ webhookLimiter, bodies }: WebhookOptions): CreateGate {
  return ({ app }, _info, receive) => {
    let body: OpenBody | null = null;
    const ignore = () => {};
    const gate: WebhookGate = {
      hasToken: true,
      enter: ignore,
      open: ignore,
      receive: (route) => {
        body = bodies.open({ pool: entranceOf(route, true), owner: app.id, caller: null });
        return receive(maxBodyOf(route), body.receipt);
      },
      prove: ignore,
      accept: () => webhookLimiter.count(`token ${app.id}`),
      refuse: ignore,
    };
    return { gate, close: () => (body as OpenBody | null)?.close() };
  };
}

/** Creates the function that creates gates of calls by the id of an app. */
function gateFactory({ webhookLimiter, refusedLimiter, bodies }: WebhookOptions): CreateGate {
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
      receive: (route) => {
        body = bodies.open({ pool: entranceOf(route, false), owner: app.id, caller: range });
        return receive(maxBodyOf(route), body.receipt);
      },
      prove: () => {
        isProven = true;
        body?.prove();
        leave?.();
      },
      accept: () => {
        if (isProven) return webhookLimiter.count(`signed ${app.id}`);
        const caller = `app ${app.id}`;
        webhookLimiter.check(`${caller} ${range}`, ADDRESS_SHARE);
        webhookLimiter.count(caller);
        webhookLimiter.add(`${caller} ${range}`);
      },
      refuse: (step) => {
        // The record of the call does not contain it.
        body?.close();
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
