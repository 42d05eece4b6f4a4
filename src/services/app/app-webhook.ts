import type { AppRequest, AppResponse } from '../../core/app-run.ts';
import type { Platform } from '../../core/platform.ts';
import { recordRun } from './app-run-record.ts';

/** Stand-in: the file of the slice of routes replaces it. */
export async function callWebhook(
  platform: Platform,
  call: {
    tenantId: string;
    appId: string;
    request: AppRequest;
    requestId: string;
    replayOf: string | null;
    signal: AbortSignal;
  },
): Promise<AppResponse> {
  const { tenantId, appId, request, requestId, replayOf } = call;
  const [app] = await platform.database.query<{ ownerId: string }>(tenantId, {
    text: `select owner_id as "ownerId" from dws.app where tenant_id = $1 and id = $2`,
    values: [tenantId, appId],
  });
  await recordRun(platform, {
    app: { id: appId, tenantId, ownerId: app!.ownerId },
    route: request.path,
    requestId,
    payerId: app!.ownerId.slice(5),
    durationMs: 1,
    memoryBytes: 1,
    logs: [{ level: 'info', text: Buffer.from(request.body).toString() }],
    error: null,
    call: { method: request.method, path: request.path, status: 200, request, replayOf },
  });
  return { status: 200, headers: {}, body: new Uint8Array() };
}
