import type { AppRequest, EndedRun } from '../../src/core/app-run.ts';
import { newId } from '../../src/core/id.ts';
import { recordRun } from '../../src/services/app/app-run-record.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

/** The app of runs, as `recordRun` gets it. */
export type RecordedApp = EndedRun['app'];

/** Returns an app as `recordRun` gets it. */
export async function appOf(service: Service, id: string): Promise<RecordedApp> {
  const [app] = await systemQuery<RecordedApp & Record<string, unknown>>(
    service,
    `select id, tenant_id as "tenantId", owner_id as "ownerId" from dws.app where id = $1`,
    id,
  );
  return app!;
}

/** Returns a request for a webhook. */
export const requestOf = (body = '', values: Partial<AppRequest> = {}): AppRequest => ({
  method: 'post',
  path: '/orders/7',
  query: {},
  headers: {},
  body: Buffer.from(body),
  ...values,
});

/** Returns a run without a call: by default a success of 1.5 seconds that logged nothing, paid by the owner. */
export const runOf = (app: RecordedApp, values: Partial<EndedRun> = {}): EndedRun => ({
  app,
  route: '/orders/:id',
  requestId: newId(),
  payerId: app.ownerId.replace(/^(user|team):/, ''),
  durationMs: 1500,
  memoryBytes: 2_000_000,
  logs: [],
  error: null,
  ...values,
});

/** Returns the run of a webhook: by default a `post` with the status 200. */
export const callOf = (
  app: RecordedApp,
  call: Partial<NonNullable<EndedRun['call']>> = {},
  values: Partial<EndedRun> = {},
): EndedRun =>
  runOf(app, {
    ...values,
    call: {
      id: newId(),
      method: 'post',
      path: '/orders/7',
      status: 200,
      request: requestOf(),
      replayOf: null,
      ...call,
    },
  });

/** Records runs one after the other, so that their order is known. */
export async function recordInOrder({ platform }: Service, runs: readonly EndedRun[]): Promise<void> {
  for (const run of runs) await recordRun(platform, run);
}
