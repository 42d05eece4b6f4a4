import type { HandlerTask } from '../../core/app-run.ts';
import { tooMany } from '../../core/errors.ts';
import { newId } from '../../core/id.ts';
import { invalid } from '../../core/input-checks.ts';
import { EVENT_NAME_RULE } from '../../core/input-rules.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../core/json-depth.ts';
import { lockKey } from '../../core/locks.ts';
import { currentTraceparent } from '../../core/tracing.ts';
import { actingPrincipal } from '../../core/viewer.ts';
import { readText } from './handler-arguments.ts';

const MAX_PAYLOAD_BYTES = 65_536;
/** Events of one app in an hour, and of all apps of one owner. */
const MAX_EVENTS = 1000;
const MAX_EVENTS_OF_OWNER = 2000;

/**
 * Stores an event of an app, for the agents that wait for it. Throws BAD_USER_INPUT for a name or payload that is not
 * valid, RATE_LIMITED for too many events of the app, or of all apps of its owner.
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
    lockKey(tx, `app-events:${app.ownerId}`);
    const [sent] = await tx.query<{ ofApp: number; ofOwner: number }>({
      text: `
        select count(*) filter (where e.app_id = $2)::int as "ofApp", count(*)::int as "ofOwner"
        from dws.app a
        join dws.app_event e on e.app_id = a.id and e.created_at > now() - interval '1 hour'
        where a.tenant_id = $1 and (a.id = $2 or a.owner_id = $3)`,
      values: [app.tenantId, app.id, app.ownerId],
    });
    if (sent!.ofApp >= MAX_EVENTS) throw tooMany(`An app emits at most ${MAX_EVENTS} events in an hour`);
    if (sent!.ofOwner >= MAX_EVENTS_OF_OWNER)
      throw tooMany(`The apps of an owner emit at most ${MAX_EVENTS_OF_OWNER} events in an hour`);
    await tx.query({
      text: `
        insert into dws.app_event (id, tenant_id, app_id, name, payload, principal, depth, traceparent)
        values ($3, $1, $2, $4, $5, $6, $7, $8)`,
      values: [
        app.tenantId,
        app.id,
        newId(),
        checkedName,
        json,
        actingPrincipal(ctx.viewer),
        depth,
        currentTraceparent(),
      ],
    });
  });
}
