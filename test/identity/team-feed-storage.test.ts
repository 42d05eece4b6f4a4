import { expect } from 'vitest';
import { sweepRecords } from '../../src/operations/janitor.ts';
import { migrate } from '../../src/server/migrate.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import { recordStatements } from '../support/statement-log.ts';
import { systemQuery } from '../support/system-query.ts';
import { createTeam, readFeed } from '../support/team-fixture.ts';

test('a page of a large feed is one range of an index, and so are its marks', async ({ service, admin, ann }) => {
  const team = await createTeam(admin, 'Large', ann);
  // Most activities of the team are not in its feed, and most of the others are of another team.
  await runSql(
    service.databaseUrl,
    `insert into dws.activity (id, tenant_id, kind, resource_id, owner_id, type, message, in_feed, created_at)
    select gen_random_uuid(), tenant_id, 'dataset', gen_random_uuid(),
      'team:' || case when n % 3 = 0 then id else gen_random_uuid() end, 'dataset.updated', 'Large', n % 2 = 0,
      now() - n * interval '1 minute'
    from dws.team, generate_series(1, 30000) n where id = '${team}'`,
  );
  await runSql(
    service.databaseUrl,
    `insert into dws.feed_view (activity_id, user_id, tenant_id)
    select id, '${ann.id}', tenant_id from dws.activity where in_feed`,
  );
  await runSql(service.databaseUrl, 'vacuum (analyze) dws.activity, dws.feed_view');
  const document = `{ team(id: "${team}") { feed(limit: 30) { items { id type viewed message user { username } } } } }`;
  const { statements } = await recordStatements(service, () => ann.data(document));
  expect(statements).toHaveLength(2);
  const { tenantId, text, values } = statements[1]!;
  const [explained] = await service.platform.database.query<{ 'QUERY PLAN': unknown }>(tenantId, {
    text: `explain (analyze, costs off, timing off, summary off, format json) ${text}`,
    values,
  });
  const plan = JSON.stringify(explained!['QUERY PLAN']);
  expect(plan).toMatch(/"Node Type":"Index Scan"[^{}]*"Index Name":"activity_feed"[^{}]*"Actual Rows":30[.,]/);
  expect(plan).toContain('"Index Name":"feed_view_pkey"');
  expect(plan).not.toMatch(/"Node Type":"Seq Scan"[^{}]*"Relation Name":"(activity|feed_view)"/);
  expect(plan).not.toMatch(/"Node Type":"(Incremental )?Sort"/);
});

test('an item and its marks are deleted after 400 days and not before', async ({ service, admin, ann }) => {
  const team = await createTeam(admin, 'Old', ann);
  for (const days of [399, 401])
    await systemQuery(
      service,
      `insert into dws.activity (id, tenant_id, kind, resource_id, owner_id, type, message, in_feed, created_at)
      select gen_random_uuid(), tenant_id, 'team', id, 'team:' || id, 'team.updated', $2, true,
        now() - $3 * interval '1 day'
      from dws.team where id = $1`,
      team,
      `of day ${days}`,
      days,
    );
  const activityIds = (await readFeed(ann, team)).map(({ id }) => id);
  await expectStatus(ann.post(`/teams/${team}/_markFeedViewed`, { activityIds }), 200);
  await sweepRecords((statement) => service.platform.system.query(statement));
  expect((await readFeed(ann, team)).map(({ message, viewed }) => [message, viewed])).toEqual([
    ['admin created Old', true],
    ['of day 399', true],
  ]);
  const marks = await systemQuery(service, 'select from dws.feed_view where activity_id = any($1)', activityIds);
  expect(marks).toHaveLength(2);
});

test('marks are deleted with their user', async ({ service, admin, ann }) => {
  const passing = await service.user('passing');
  const team = await createTeam(admin, 'Marked', ann, passing);
  const activityIds = (await readFeed(ann, team)).map(({ id }) => id);
  for (const client of [ann, passing]) await client.post(`/teams/${team}/_markFeedViewed`, { activityIds });
  await expectStatus(admin.delete('/users/passing'), 204);
  const marks = await systemQuery(
    service,
    'select user_id from dws.feed_view where activity_id = any($1)',
    activityIds,
  );
  expect(marks).toEqual([{ user_id: ann.id }]);
});

test('the migration adds earlier activities of teams to their feeds', async () => {
  const database = await createDatabase('template0');
  try {
    await migrate(database.url, { last: 'm017-cheaper-writes' });
    const [tenant, team] = ['01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000002'];
    const types = ['report.created', 'dataset.refresh.failed', 'dataset.draft.committed', 'team.updated'];
    const hidden = ['dataset.refreshed', 'dataset.snapshot.created', 'team.member.added', 'report.owner.changed'];
    await runSql(database.url, `insert into dws.tenant (id, slug) values ('${tenant}', 'old')`);
    for (const [owner, type] of [
      ...[...types, ...hidden].map((one) => [`'team:${team}'`, one] as const),
      [`'user:${team}'`, 'report.created'],
      ['null', 'report.created'],
    ])
      await runSql(
        database.url,
        `set role dws_system;
        insert into dws.activity (id, tenant_id, kind, resource_id, owner_id, type, message)
        values (gen_random_uuid(), '${tenant}', 'report', gen_random_uuid(), ${owner}, '${type}', 'Old')`,
      );
    await migrate(database.url);
    const shown = await runSql(
      `${database.url}?options=-c%20role%3Ddws_system`,
      'select owner_id as owner, type from dws.activity where in_feed order by type',
    );
    expect(shown).toEqual(types.toSorted().map((type) => ({ owner: `team:${team}`, type })));
  } finally {
    await database.drop();
  }
});
