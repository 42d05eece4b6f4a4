import { Team } from '../../../entities/team.ts';
import type { Context } from '../../core/context.ts';
import { forbidden, notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/id.ts';
import { CHANNELS } from '../../core/operations.ts';
import type { AccessFilter } from '../../core/read/condition.ts';
import { requireUser } from '../../core/viewer.ts';
import { HORIZON, inWindow, type NewRow } from '../resource/new-row-poller.ts';
import { followNewRows } from '../resource/new-rows.ts';
import { checkTeamPermission, loadTeam } from './team-access.ts';

/** Filters feed items: items of the teams in which the viewer participates. */
export const throughFeeds: AccessFilter = ({ superuser, principals }) =>
  superuser ? null : { sql: 'r.owner_id = any(?)', params: [principals] };

/** Number of newly marked items, and ids of the requested ones that are in the feed. */
interface MarkedRow extends Record<string, unknown> {
  viewed: number;
  found: string[];
}

/**
 * Marks items of a team's feed as viewed by the viewer. Returns the number of those that were not marked before. Throws
 * NOT_FOUND, without any effect, for an id that is not in the feed.
 */
export function markViewed(ctx: Context, id: string, activityIds: readonly string[]): Promise<number> {
  const { tenantId } = ctx.viewer;
  const userId = requireUser(ctx.viewer);
  return ctx.transaction(async (tx) => {
    const team = await loadTeam(ctx, tx, id, 'team:participate');
    const ids = [...new Set(activityIds.map((activityId) => activityId.toLowerCase()))];
    const [row] = await tx.query<MarkedRow>({
      text: `
        with found as (
          select id from dws.activity where tenant_id = $1 and owner_id = $2 and in_feed and id = any($3)
        ), marked as (
          insert into dws.feed_view (tenant_id, activity_id, user_id)
          select $1, id, $4::uuid from found order by id
          on conflict do nothing
          returning 1
        )
        select (select count(*)::int from marked) as viewed, array(select id::text from found) as found`,
      values: [tenantId, `team:${team.id}`, ids.filter(isUuid), userId],
    });
    const found = new Set(row!.found);
    const missing = activityIds.find((activityId) => !found.has(activityId.toLowerCase()));
    if (missing !== undefined) throw notFound({ what: 'feed item', id: missing });
    return row!.viewed;
  });
}

/** A row of a poll for the items of a feed. */
interface PolledRow extends Record<string, unknown> {
  exists: boolean;
  /** The polled users who may read the feed. */
  allowed: string[];
  ids: string[];
  horizon: string;
}

/**
 * Subscribes to the items of a team's feed that are created from now on, by any process. Yields each once, in order.
 * Throws NOT_FOUND for an unknown team and FORBIDDEN for others than members and superusers. Ends with the same errors
 * once the team is deleted or the viewer may no longer read the feed.
 */
export async function subscribe(ctx: Context, key: string): Promise<AsyncIterable<NewRow>> {
  const { tenantId } = ctx.viewer;
  const team = await ctx.read.one(Team, key, ['id']);
  checkTeamPermission(ctx.viewer, team.id, 'team:participate');
  const principal = `team:${team.id}`;
  return followNewRows(ctx, {
    channel: CHANNELS.feed,
    payload: principal,
    async find({ since, horizon }, userIds) {
      const [row] = await ctx.query<PolledRow>({
        text: `
          select
            exists (select from dws.team where tenant_id = $1 and id = $2) as exists,
            array(
              select id::text from dws.app_user where tenant_id = $1 and id = any($3) and superuser
              union
              select user_id::text from dws.team_member where tenant_id = $1 and team_id = $2 and user_id = any($3)
            ) as allowed,
            array(
              select id::text from dws.activity
              where tenant_id = $1 and owner_id = $4 and in_feed and ${inWindow('$5', '$6')}
              order by created_at, id
            ) as ids,
            ${HORIZON} as horizon`,
        values: [tenantId, team.id, userIds, principal, since, horizon],
      });
      const { exists, ids, allowed, horizon: nextHorizon } = row!;
      const isAllowed = new Set(allowed);
      return {
        ids,
        horizon: nextHorizon,
        refusalOf(userId) {
          if (!exists) return notFound({ what: 'team', id: team.id });
          return isAllowed.has(userId) ? undefined : forbidden({ permission: 'team:participate' });
        },
      };
    },
  });
}
