import type { AppRequest, AppResponse } from '../../src/core/app-run.ts';
import type { upstreamFailed } from '../../src/core/errors.ts';
import { findWebhookApp, type WebhookApp } from '../../src/services/app/find-running-app.ts';
import { runOnce } from '../../src/services/app/webhook-idempotency.ts';
import type { Client } from '../support/client.ts';
import type { Service } from '../support/service.ts';

/** A recorded call of a webhook, without what differs from run to run. */
export interface RecordedCall {
  method: string;
  path: string;
  route: string | null;
  status: number;
  error: string | null;
  replayable: boolean;
}

/** Returns the recorded calls of an app, the oldest first. */
export async function recordedCalls(author: Client, appId: string): Promise<RecordedCall[]> {
  const { body } = await author.get(`/apps/${appId}/webhooks/calls`);
  return (body._embedded['svc:webhook-call'] as RecordedCall[])
    .map(({ method, path, route, status, error, replayable }) => ({ method, path, route, status, error, replayable }))
    .toReversed();
}

/** Runs the handler of a webhook. */
type Run = () => Promise<{ response: AppResponse } | { failure: ReturnType<typeof upstreamFailed> }>;

/** Runs `run` once for a key, as the webhook `/` of the app with this id. */
export async function once(
  service: Pick<Service, 'platform'>,
  appId: string,
  request: Partial<AppRequest>,
  run: Run,
  isProven = true,
) {
  return onceOf(service, (await findWebhookApp(service.platform.system, appId))!, request, run, isProven);
}

/** Runs `run` once for a key, as the webhook `/` of an app. */
export function onceOf(
  { platform }: Pick<Service, 'platform'>,
  { app, webhooks }: WebhookApp,
  request: Partial<AppRequest>,
  run: Run,
  isProven = true,
) {
  return runOnce(
    platform,
    {
      app,
      route: webhooks.find(({ path }) => path === '/')!,
      header: 'X-Delivery',
      isProven,
      request: {
        method: 'post',
        path: '/',
        query: {},
        headers: { 'x-delivery': 'k' },
        body: Buffer.from('b'),
        ...request,
      },
    },
    run,
  );
}

/** Returns a run with a response. */
export const responseOf =
  (text: string, status = 200) =>
  async () => ({
    response: { status, headers: { 'x-own': 'a' }, body: Buffer.from(text) },
  });
export const neverRun = () => Promise.reject(new Error('It ran again'));
