import { OWNED_KINDS } from '../../../entities/owned-kinds.ts';
import type { UserContent } from '../../../entities/user-content.ts';
import type { Context } from '../../core/context.ts';
import { RESOURCES } from '../resource/resource-models.ts';

const NO_CONTENT: Readonly<Record<string, number>> = Object.fromEntries(OWNED_KINDS.map(({ kind }) => [kind, 0]));

/**
 * Counts the resources that each user of the tenant owns, of every kind with owners, whether or not the viewer may read
 * them. Users are sorted by username, up to `limit`.
 */
export async function countContent({ query, viewer }: Context, limit: number): Promise<UserContent[]> {
  const users = await query<UserContent & Record<string, unknown>>({
    text: `
      with kind_count as (
        select owner_id, kind, count(*)::int as count
        from ${RESOURCES} r
        where tenant_id = $1 and owner_id like 'user:%'
        group by owner_id, kind
      ), owner_count as (
        select owner_id, jsonb_object_agg(kind, count) as counts, sum(count)::int as total
        from kind_count
        group by owner_id
      )
      select u.id as "userId", u.username, u.display_name as "displayName", o.counts, coalesce(o.total, 0) as total
      from dws.app_user u
      left join owner_count o on o.owner_id = 'user:' || u.id
      where u.tenant_id = $1
      order by lower(u.username), u.id
      limit $2`,
    values: [viewer.tenantId, limit],
  });
  for (const user of users) user.counts = { ...NO_CONTENT, ...user.counts };
  return users;
}
