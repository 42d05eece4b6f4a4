import { addressRange } from '../../core/address-range.ts';
import { toApiError } from '../../core/api-error.ts';
import type { AppRequest, EndedRun, HandlerOutcome, HandlerRoute, SendResponse } from '../../core/app-run.ts';
import { authorityOf } from '../../core/authority.ts';
import type { RequestInfo } from '../../core/context.ts';
import { defineError, unavailable, upstreamFailed, type ApiError } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import type { Platform } from '../../core/platform.ts';
import { idOfPrincipal } from '../../core/viewer.ts';
import { entranceOf, matchRoute, type RouteMatch } from './app-route-match.ts';
import { recordRun } from './app-run-record.ts';
import { openEnv, type WebhookApp } from './find-running-app.ts';
import { disconnected, failureOf } from './handler-failure.ts';
import { runRoute, withoutDetails } from './handler-route.ts';
import { runOnce, type IdempotencyConfig } from './webhook-idempotency.ts';
import { createWebhookContext } from './webhook-owner.ts';
import { countRefusal, refusalReason, type WebhookStep } from './webhook-refusal.ts';
import { isSigned, type VerifyConfig } from './webhook-verify.ts';

/** Limits a call from outside. The methods are called in their order, and throw what refuses the call. */
export interface WebhookGate {
  /** Whether the call has the hook token of the app. */
  readonly hasToken: boolean;
  /** Counts the call to its address. Called before its route is known. */
  enter(): void;
  /** Counts the call to its address and route, until it is proven or ends. */
  open(route: HandlerRoute): void;
  /** Receives the body of a call of a route. */
  receive(route: HandlerRoute): Promise<Uint8Array>;
  /** Ends what is counted to the address: the call has a right signature. */
  prove(): void;
  /** Counts the call to the app. */
  accept(): void;
  /** Counts to the address that the call was refused in a step. */
  refuse(step: WebhookStep): void;
}

/** A call of a webhook. */
export interface WebhookCall {
  app: WebhookApp;
  request: AppRequest;
  /** The limits of the call; null for a call that is repeated, whose `request` has the body. */
  gate: WebhookGate | null;
  /** Id of the call that is repeated; null for a call from outside. Signature and idempotency key do not count then. */
  replayOf: string | null;
  /** The request by which the call came. Its signal ends the run. */
  info: RequestInfo;
  /** Sends a response before the run has ended. Default: it is sent at the end. */
  send?: SendResponse;
}

const wrongSignature = defineError(401, 'UNAUTHENTICATED', () => 'The signature is wrong');
const tokenRequired = defineError(401, 'UNAUTHENTICATED', () => 'The route requires the hook token of the app');
const noOwner = () => unavailable('The app has no owner who can act');
/** Status that is recorded for a caller who disconnected, who gets no response. */
const CLIENT_CLOSED_REQUEST = 499;
const RATE_LIMITED = 429;

/** The record of a call. Each step of the call adds what it knows. */
type CallRecord = Omit<EndedRun, 'call'> & {
  call: NonNullable<EndedRun['call']>;
  /** The last step of the call; null when its app has accepted it. */
  step: WebhookStep | null;
};

/** The response to a caller of a webhook: its failure has no details. */
interface WebhookResult {
  result: HandlerOutcome['result'];
  /** Id of the recorded call; null if it could not be recorded, or was above a limit. */
  callId: string | null;
}

/**
 * Runs a webhook of an app as its owner up to its end, and records the call before it returns. The message for authors of a failure is
 * in the record. Calls above a limit are only counted: a record of each would be the load that the limit prevents.
 */
export async function callWebhook(platform: Platform, call: WebhookCall): Promise<WebhookResult> {
  const { app: found, request, replayOf, info, gate } = call;
  const startedAt = performance.now();
  const { method, path } = request;
  const record: CallRecord = {
    app: found.app,
    route: null,
    requestId: info.id,
    payerId: idOfPrincipal(found.app.ownerId),
    durationMs: 0,
    computeMs: 0,
    memoryBytes: 0,
    logs: [],
    error: null,
    call: { id: newId(), method, path, status: 0, request: null, replayOf },
    step: 'address',
  };
  const result = await takeSteps(platform, call, record).catch((error: unknown) => failed(error, record, info));
  const { step, route } = record;
  if (step && gate && 'failure' in result) {
    const reason = refusalReason(step, result.failure);
    if (reason) countRefusal(platform, { app: found.app, method, route, reason });
    // A lack of memory, or a missing variable of the app, is not the caller's fault.
    if (reason && reason !== 'memory') gate.refuse(step);
    if (result.failure.status === RATE_LIMITED) return { result, callId: null };
  }
  record.durationMs = performance.now() - startedAt;
  record.call.status = statusOf(result);
  const isRecorded = await recordRun(platform, record);
  return { result, callId: isRecorded ? record.call.id : null };
}

function statusOf(result: HandlerOutcome['result']): number {
  if ('response' in result) return result.response.status;
  return result.failure.code === 'CANCELLED' ? CLIENT_CLOSED_REQUEST : result.failure.status;
}

/** Returns the failure of a call that threw, and adds it to the record. Throws unexpected errors. */
function failed(error: unknown, record: CallRecord, { signal }: RequestInfo): { failure: ApiError } {
  const failure = toApiError(signal.aborted ? signal.reason : error) ?? (signal.aborted ? disconnected() : null);
  if (!failure) throw error;
  record.error ??= failure.message;
  return { failure };
}

/** Takes the steps of a call in their order. Throws the failures of those before the handler runs. */
async function takeSteps(platform: Platform, call: WebhookCall, record: CallRecord): Promise<HandlerOutcome['result']> {
  const { app: found, gate } = call;
  gate?.enter();
  record.step = 'route';
  const match = matchRoute(found.webhooks, call.request);
  record.route = match.route.path;
  record.step = 'address';
  gate?.open(match.route);
  record.step = 'token';
  if (gate && !gate.hasToken && match.route.config['token'] === true) throw tokenRequired();
  record.step = 'body';
  const body = gate ? await gate.receive(match.route) : call.request.body;
  const request = { ...call.request, body };
  const { verify, idempotency } = match.route.config as { verify?: VerifyConfig; idempotency?: IdempotencyConfig };
  record.step = 'signature';
  if (verify && gate) {
    checkSignature(platform, found, verify, request, record);
    gate.prove();
  }
  record.step = 'limit';
  gate?.accept();
  record.step = null;
  record.call.request = request;
  const run = (send = call.send) => runAsOwner(platform, { ...call, request }, match, record, send);
  if (!idempotency || !gate) return run();
  const { route } = match;
  const isProven = entranceOf(route, gate.hasToken) === 'proven';
  return runOnce(platform, { app: found.app, route, request, header: idempotency.header, isProven }, run, call.send);
}

/** Throws UNAUTHENTICATED unless a request has the signature that the config of its route requires. */
function checkSignature(
  { secrets }: Platform,
  { app }: WebhookApp,
  config: VerifyConfig,
  request: AppRequest,
  record: CallRecord,
): void {
  const secret = openEnv(secrets, app).get(config.secret);
  if (secret === undefined) {
    record.error = `The environment variable ${config.secret} of config.verify is missing`;
    throw withoutDetails(upstreamFailed(record.error));
  }
  if (!isSigned(config, secret, request)) throw wrongSignature();
}

/** Returns who shares the places of webhooks with others: who has the token or the secret of an app, else an address. */
function senderOf(appId: string, route: HandlerRoute, hasToken: boolean, address: string): string {
  if (hasToken) return `token ${appId}`;
  return entranceOf(route, false) === 'proven' ? `signature ${appId}` : addressRange(address);
}

async function runAsOwner(
  platform: Platform,
  { app: { app, owner }, request, info, gate }: WebhookCall,
  { route, params }: RouteMatch,
  record: CallRecord,
  send: SendResponse | undefined,
): Promise<HandlerOutcome['result']> {
  if (!owner || !app.accepted) throw noOwner();
  const ctx = await createWebhookContext(platform, app, info).catch((error: unknown) => {
    throw toApiError(error)?.code === 'FORBIDDEN' ? noOwner() : error;
  });
  const outcome = await runRoute(platform, {
    app,
    route,
    params,
    request,
    ctx,
    // A handler that calls it passes on only its own authority.
    authority: info.authority ?? authorityOf(ctx.viewer, request.method),
    user: owner,
    roles: [],
    depth: info.appDepth ?? 0,
    // A call that is repeated has an author who asked for it.
    entrance: entranceOf(route, gate?.hasToken ?? true),
    visitorId: gate ? senderOf(app.id, route, gate.hasToken, info.address) : undefined,
    send,
  });
  const { result, logs, memoryBytes, durationMs: computeMs } = outcome;
  Object.assign(record, { logs, memoryBytes, computeMs, error: failureOf(result)?.message ?? null });
  return 'response' in result ? result : { failure: withoutDetails(result.failure) };
}
