import { APP } from '../../../entities/owned-kinds.ts';
import type { Context } from '../../core/context.ts';
import { conflict, notFound, unavailable } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { loadResource } from '../resource/load-resource.ts';
import { callWebhook } from './app-webhook.ts';
import { findWebhookApp } from './find-running-app.ts';
import { openRequest } from './webhook-call-request.ts';

/**
 * Repeats a call of a webhook of an app: the current release gets the same request, without a check of its signature.
 * Returns the id of the new call. Throws CONFLICT if the request is not kept, and UNAVAILABLE
 * if the new call could not be recorded.
 */
export async function replayWebhookCall(ctx: Context, appId: string, callId: string): Promise<string> {
  const { platform, request: outer } = ctx;
  const { app, sealed } = await ctx.transaction(async (tx) => {
    const found = await loadResource(ctx, tx, APP, appId, 'app:write');
    const [call] = isUuid(callId)
      ? await tx.query<{ request: string | null }>({
          text: `select request from dws.webhook_call where tenant_id = $1 and app_id = $2 and id = $3`,
          values: [found.tenantId, found.id, callId],
        })
      : [];
    if (!call) throw notFound({ what: 'call of a webhook', id: callId });
    if (call.request === null) throw conflict('The request of the call is not kept, so it cannot be replayed');
    return { app: found, sealed: call.request };
  });
  const deployed = await findWebhookApp(platform.system, app.id);
  if (!deployed) throw conflict('The app is not deployed');
  const { callId: replayedId } = await callWebhook(platform, {
    app: deployed,
    request: openRequest(platform.secrets, sealed),
    gate: null,
    replayOf: callId,
    info: outer,
  });
  if (replayedId === null) throw unavailable('The call was replayed, but could not be recorded');
  return replayedId;
}
