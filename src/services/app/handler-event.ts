import type { HandlerTask } from '../../core/app-run.ts';
import { tooMany } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { EVENT_NAME_RULE } from '../../core/input-rules.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../core/json-depth.ts';
import { actingPrincipal } from '../../core/viewer.ts';
import { lockKey } from '../resource/lock-key.ts';
import { readText } from './handler-arguments.ts';

const MAX_PAYLOAD_BYTES = 65_536;
/** Events of one app in an hour. */
const MAX_EVENTS = 1000;

/**
 * Stores an event of an app, for the agents that wait for it. Throws BAD_USER_INPUT for a name or payload that is not
 * valid, RATE_LIMITED for too many events of the app.
 */
export async function emitEvent(
  { app, ctx, depth }: Pick<HandlerTask, 'app' | 'ctx' | 'depth'>,
  name: unknown,
  payload: unknown = null,
): Promise<void> {
  const checkedName = readText(name, 'name', EVENT_NAME_RULE);
  if (isDeeperThan(payload, MAX_JSON_DEPTH)) throw invalid('payload', `must nest at most ${MAX_JSON_DEPTH} levels`);
  const json = JSON.stringify(payload);
  if (Buffer.byteLength(json) > MAX_PAYLOAD_BYTES)
    throw invalid('payload', `must have at most ${MAX_PAYLOAD_BYTES / 1024} KiB as JSON`);
  await ctx.transaction(async (tx) => {
    lockKey(tx, `app-events:${app.id}`);
    const inserted = await tx.query({
      text: `
        insert into dws.app_event (id, tenant_id, app_id, name, payload, principal, depth)
        select $3, $1, $2, $4, $5, $6, $7
        where (
          select count(*) from dws.app_event
          where tenant_id = $1 and app_id = $2 and created_at > now() - interval '1 hour'
        ) < $8
        returning id`,
      values: [app.tenantId, app.id, newId(), checkedName, json, actingPrincipal(ctx.viewer), depth, MAX_EVENTS],
    });
    if (inserted.length === 0) throw tooMany(`An app emits at most ${MAX_EVENTS} events in an hour`);
  });
}
