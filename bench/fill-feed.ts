/**
 * Fills the feed of one team of the tenant `bench` (bench/fill.ts) with activities, and with as many that no feed shows.
 * User 2 is a member, and has viewed every second item.
 */
import pg from 'pg';
import { idOf } from './fill.ts';

const TENANT = idOf('bench');

/** Id of the team. */
export const FEED_TEAM = idOf('feed team');

const TEAM = `
  insert into dws.team (id, tenant_id, name, slug) values ('${FEED_TEAM}', '${TENANT}', 'Feed', 'feed')
    on conflict do nothing;
  insert into dws.team_member (id, tenant_id, team_id, user_id, role)
    values ('${idOf('feed member')}', '${TENANT}', '${FEED_TEAM}', '${idOf('user2')}', 'member') on conflict do nothing;`;

const ACTIVITIES = (count: number) => `
  insert into dws.activity
    (id, tenant_id, kind, resource_id, name, owner_id, user_id, type, message, in_feed, created_at)
    select gen_random_uuid(), '${TENANT}', 'query', md5('job' || 1 + n % 10000)::uuid, 'Job', 'team:${FEED_TEAM}',
      md5('user' || 1 + n % 200)::uuid, case when n % 2 = 0 then 'query.updated' else 'query.tagged' end,
      'user' || 1 + n % 200 || ' changed the query of Job ' || n, n % 2 = 0, now() - n * interval '1 minute'
    from generate_series(1, ${2 * count}) n;
  insert into dws.feed_view (activity_id, user_id, tenant_id)
    select id, '${idOf('user2')}', tenant_id from dws.activity
    where in_feed and created_at < now() - interval '4 minutes' and extract(minute from created_at)::int % 4 < 2;`;

/** Adds `count` items to the feed. */
export async function fillFeed(url: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('set role dws_system');
    await client.query(TEAM);
    await client.query(ACTIVITIES(count));
    await client.query('reset role');
    await client.query('vacuum (analyze)');
  } finally {
    await client.end();
  }
}
