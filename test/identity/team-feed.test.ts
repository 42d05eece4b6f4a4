import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { configOf } from '../support/postgres-source.ts';
import { createDatabase } from '../support/postgres.ts';
import { systemQuery } from '../support/system-query.ts';
import { addFeedItem, createTeam, readFeed } from '../support/team-fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

const FEED = `query ($id: ID!, $limit: Int, $start: Int, $viewed: Boolean) {
  team(id: $id) {
    feed(limit: $limit, start: $start, viewed: $viewed) {
      total count hasNextPage
      items { id type entityType entityId entity { id } userId user { username } message createdAt viewed }
    }
  }
}`;
const MARK = 'mutation ($id: ID!, $ids: [ID!]!) { markFeedViewed(id: $id, activityIds: $ids) { viewed } }';

describe('the feed of a team', () => {
  test('shows what happened to the team and to what it owned then, newest first', async ({ admin, ann, bob }) => {
    const team = await createTeam(admin, 'Feeders', ann);
    const tag = await admin.creates('/tags', { name: 'Not in feeds' });
    const ofTeam = { ownerId: `team:${team}` };
    const sales = await admin.creates('/reports', { name: 'Sales', ...ofTeam });
    await admin.put(`/reports/${sales.id}`, { description: 'Of the year' });
    await admin.put(`/reports/${sales.id}/tags/${tag.id}`);
    await admin.put(`/reports/${sales.id}/shares/bob`, { accessLevel: 1 });
    await expectStatus(admin.put(`/reports/${sales.id}/owner`, { ownerId: 'bob' }), 200);
    await expectStatus(bob.put(`/reports/${sales.id}`, { description: 'Of bob' }), 200);
    const given = await bob.creates('/reports', { name: 'Given' });
    await admin.put(`/reports/${given.id}`, ofTeam);
    await admin.put(`/reports/${given.id}`, { name: 'Given away' });
    const brief = await admin.creates('/apps', { name: 'Brief', ...ofTeam });
    await expectStatus(admin.delete(`/apps/${brief.id}`), 204);
    await admin.put(`/teams/${team}`, { description: 'They read' });

    const feed = await readFeed(ann, team);
    expect(feed.map((item) => [item.type, item.entityType, item.entityId, item.message])).toEqual([
      ['teamUpdated', 'team', team, 'admin changed description of Feeders'],
      ['appDeleted', 'app', brief.id, 'admin deleted Brief'],
      ['appCreated', 'app', brief.id, 'admin created Brief'],
      ['reportUpdated', 'report', given.id, 'admin changed name of Given away'],
      ['reportShared', 'report', sales.id, 'admin shared Sales with bob (View)'],
      ['reportUpdated', 'report', sales.id, 'admin changed description of Sales'],
      ['reportCreated', 'report', sales.id, 'admin created Sales'],
      ['teamCreated', 'team', team, 'admin created Feeders'],
    ]);
    expect(feed[4]).toEqual({
      id: expect.any(String),
      type: 'reportShared',
      entityType: 'report',
      entityId: sales.id,
      userId: admin.id,
      user: { username: 'admin', displayName: null },
      message: 'admin shared Sales with bob (View)',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      viewed: false,
      _links: {
        'svc:team': { href: `/api/teams/${team}` },
        'svc:resource': { href: `/api/reports/${sales.id}` },
        'svc:user': { href: `/api/users/${admin.id}` },
      },
    });
    const { items, total } = (await ann.data(FEED, { id: 'feeders' })).team.feed;
    expect(total).toBe(8);
    expect(items.map(({ id }: { id: string }) => id)).toEqual(feed.map(({ id }) => id));
    expect(items.map(({ type }: { type: string }) => type).slice(0, 2)).toEqual(['TEAM_UPDATED', 'APP_DELETED']);
    // ann may read neither what was deleted nor what was given away.
    expect(items.map(({ entity }: { entity: { id: string } | null }) => entity?.id ?? null)).toEqual([
      team,
      null,
      null,
      given.id,
      null,
      null,
      null,
      team,
    ]);
  });

  test('shows committed drafts and failed refreshes, without values of rows', async ({ admin, ann }) => {
    const source = await createDatabase('template0');
    try {
      const team = await createTeam(admin, 'Refreshers', ann);
      const ownerId = `team:${team}`;
      const { id: datasourceId } = await admin.creates('/datasources', {
        name: 'Source',
        type: 'postgres',
        ownerId,
        ...configOf(source.url),
      });
      const query = `select 'value of a row' as one`;
      const { id } = await admin.creates('/datasets', { name: 'Numbers', datasourceId, query, ownerId, refresh: true });
      await expectStatus(admin.put(`/datasets/${id}/draft`, { query: `select 'value of a row'::int as one` }), 200);
      await expectStatus(admin.post(`/datasets/${id}/draft/_commit`), 200);
      const failed = await admin.post(`/datasets/${id}/_refresh`, {});
      expect(failed).toMatchObject({ status: 500, body: { message: expect.stringContaining('value of a row') } });
      await admin.put(`/datasources/${datasourceId}`, { secrets: { password: 'another value' } });

      const feed = await readFeed(ann, team);
      expect(feed.map(({ type, message }) => [type, message])).toEqual([
        ['datasourceConnectionChanged', 'admin changed the connection of Source'],
        ['datasetRefreshFailed', 'A refresh of Numbers by admin failed'],
        ['datasetDraftCommitted', 'admin committed a draft of Numbers'],
        ['datasetCreated', 'admin created Numbers'],
        ['datasourceCreated', 'admin created Source'],
        ['teamCreated', 'admin created Refreshers'],
      ]);
      expect(JSON.stringify(feed)).not.toMatch(/value/);
    } finally {
      await source.drop();
    }
  });

  test('has pages in one order, in both APIs', async ({ service, admin, ann }) => {
    const team = await createTeam(admin, 'Pages', ann);
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) await addFeedItem(service, team, name);
    // Items of one moment are ordered by id.
    await systemQuery(
      service,
      `insert into dws.activity (id, tenant_id, kind, resource_id, owner_id, type, message, in_feed, created_at)
      select gen_random_uuid(), tenant_id, 'team', id, 'team:' || id, 'team.updated', 'same', true, '2026-01-01'
      from dws.team, generate_series(1, 4) where id = $1`,
      team,
    );
    const all = await readFeed(ann, team);
    expect(all.map(({ message }) => message)).toEqual([
      ...names.toReversed(),
      'admin created Pages',
      ...Array(4).fill('same'),
    ]);
    const same = all.slice(6).map(({ id }) => id);
    expect(same).toEqual(same.toSorted().toReversed());

    const parts = [];
    for (const start of [0, 3, 6, 9]) parts.push(...(await readFeed(ann, team, `?limit=3&start=${start}`)));
    expect(parts).toEqual(all);
    await expectBody(ann.get(`/teams/${team}/feed?limit=3&start=3`), 200, {
      start: 3,
      count: 3,
      total: 10,
      _links: {
        up: { href: `/api/teams/${team}` },
        next: { href: `/api/teams/${team}/feed?limit=3&start=6` },
      },
    });
    expect((await ann.data(FEED, { id: team, limit: 3, start: 6 })).team.feed).toMatchObject({
      total: 10,
      count: 3,
      hasNextPage: true,
      items: all.slice(6, 9).map(({ id }) => ({ id })),
    });
    await expectError(ann.get(`/teams/${team}/feed?limit=0`), 400, 'limit must be a whole number from 1 to 1000');
    await expectGraphqlError(ann.gql(FEED, { id: team, limit: 1001 }), 'BAD_USER_INPUT');
  });

  test('keeps the items of a deleted user, without the user', async ({ service, admin, ann }) => {
    const team = await createTeam(admin, 'Left behind', ann);
    const passing = await service.user('passing', { superuser: true });
    await passing.put(`/teams/${team}`, { description: 'Changed' });
    await expectStatus(admin.delete('/users/passing'), 204);
    expect((await readFeed(ann, team))[0]).toMatchObject({
      userId: null,
      user: null,
      message: 'passing changed description of Left behind',
    });
    expect((await ann.data(FEED, { id: team })).team.feed.items[0]).toMatchObject({ userId: null, user: null });
  });

  test('is linked from the team to those who participate, as are comments and marks', async ({ admin, ann, bob }) => {
    const team = await createTeam(admin, 'Linked', ann);
    const links = {
      'svc:feed': { href: `/api/teams/${team}/feed` },
      'svc:comments': { href: `/api/teams/${team}/comments` },
      'svc:mark-feed-viewed': { href: `/api/teams/${team}/_markFeedViewed` },
    };
    const record = await expectBody(ann.get(`/teams/${team}`), 200, {
      permissions: { read: true, edit: false, delete: false, participate: true },
      _links: links,
    });
    await expectStatus(ann.get(record._links['svc:feed'].href.slice('/api'.length)), 200);
    const outside = await expectBody(bob.get(`/teams/${team}`), 200, { permissions: { participate: false } });
    for (const rel of Object.keys(links)) expect(outside._links).not.toHaveProperty(rel);
  });
});

describe('items of a feed', () => {
  test('are marked as viewed by each user alone, in both APIs', async ({ service, admin, ann, bob }) => {
    const team = await createTeam(admin, 'Viewers', ann, bob);
    for (const name of ['a', 'b', 'c']) await addFeedItem(service, team, name);
    const [c, b, a] = (await readFeed(ann, team)).map(({ id }) => id) as [string, string, string];
    const mark = (ids: string[]) => ann.post(`/teams/${team}/_markFeedViewed`, { activityIds: ids });

    expect(await mark([])).toMatchObject({ status: 200, body: { viewed: 0 } });
    expect(await mark([a, b, a, b.toUpperCase()])).toMatchObject({ status: 200, body: { viewed: 2 } });
    expect((await mark([a, b])).body).toEqual({ viewed: 0 });
    expect((await mark([a, c])).body).toEqual({ viewed: 1 });
    expect((await ann.data(MARK, { id: 'viewers', ids: [a, c] })).markFeedViewed).toEqual({ viewed: 0 });
    expect((await bob.data(MARK, { id: team, ids: [c] })).markFeedViewed).toEqual({ viewed: 1 });

    const viewedBy = async (client: typeof ann) =>
      (await readFeed(client, team)).map(({ message, viewed }) => [message, viewed]);
    const created = 'admin created Viewers';
    expect(await viewedBy(ann)).toEqual([
      ['c', true],
      ['b', true],
      ['a', true],
      [created, false],
    ]);
    expect(await viewedBy(bob)).toEqual([
      ['c', true],
      ['b', false],
      ['a', false],
      [created, false],
    ]);
    for (const [viewed, expected] of [
      [true, ['c']],
      [false, ['b', 'a', created]],
    ] as const) {
      expect((await readFeed(bob, team, `?viewed=${viewed}`)).map(({ message }) => message)).toEqual(expected);
      const { items, total } = (await bob.data(FEED, { id: team, viewed })).team.feed;
      expect(items.map(({ message }: { message: string }) => message)).toEqual(expected);
      expect(total).toBe(expected.length);
    }
  });

  test('of other feeds, and ids of other things, are 404 and nothing is marked', async ({
    service,
    admin,
    ann,
    stranger,
  }) => {
    const team = await createTeam(admin, 'Strict', ann);
    const other = await createTeam(admin, 'Other', ann);
    const foreign = await createTeam(stranger, 'Foreign');
    const tag = await admin.creates('/tags', { name: 'Strict' });
    const { id: report } = await admin.creates('/reports', { name: 'Tagged', ownerId: `team:${team}` });
    await expectStatus(admin.put(`/reports/${report}/tags/${tag.id}`), 200);
    const [hidden] = await systemQuery<{ id: string }>(
      service,
      `select id from dws.activity where resource_id = $1 and type = 'report.tagged'`,
      report,
    );
    const own = (await readFeed(ann, team)).map(({ id }) => id);
    const ofOther = (await readFeed(ann, other))[0]!.id;
    const ofForeign = (await readFeed(stranger, foreign))[0]!.id;
    for (const id of [ofOther, ofForeign, hidden!.id, UNKNOWN_ID, newId(), 'no uuid']) {
      const message = `There is no feed item ${id}`;
      const ids = [own[0]!, id, own[1]!];
      await expectError(ann.post(`/teams/${team}/_markFeedViewed`, { activityIds: ids }), 404, message);
      await expectGraphqlError(ann.gql(MARK, { id: team, ids }), 'NOT_FOUND', message);
    }
    expect(await readFeed(ann, team, '?viewed=true')).toEqual([]);
    expect(await systemQuery(service, 'select from dws.feed_view where activity_id = any($1)', own)).toEqual([]);
  });

  test('are at most 1000 in one call, each a text', async ({ service, admin, ann }) => {
    const team = await createTeam(admin, 'Many', ann);
    const path = `/teams/${team}/_markFeedViewed`;
    const many = Array.from({ length: 1001 }, () => UNKNOWN_ID);
    const tooMany = 'activityIds must have at most 1000 items';
    await expectError(ann.post(path, { activityIds: many }), 400, tooMany);
    await expectGraphqlError(ann.gql(MARK, { id: team, ids: many }), 'BAD_USER_INPUT', tooMany);
    for (const body of [
      {},
      { activityIds: null },
      { activityIds: UNKNOWN_ID },
      { activityIds: [1] },
      { activityIds: [null] },
    ])
      await expectError(ann.post(path, body), 400, /activityIds/);
    await systemQuery(
      service,
      `insert into dws.activity (id, tenant_id, kind, resource_id, owner_id, type, message, in_feed)
      select gen_random_uuid(), tenant_id, 'team', id, 'team:' || id, 'team.updated', 'one of many', true
      from dws.team, generate_series(1, 999) where id = $1`,
      team,
    );
    const all = (await readFeed(ann, team)).map(({ id }) => id);
    expect(all).toHaveLength(1000);
    expect((await ann.post(path, { activityIds: all })).body).toEqual({ viewed: 1000 });
    expect((await readFeed(ann, team, '?viewed=false')).length).toBe(0);
  });

  test('are marked once by concurrent calls', async ({ service, admin, ann }) => {
    const team = await createTeam(admin, 'Concurrent', ann);
    for (const name of ['a', 'b', 'c', 'd']) await addFeedItem(service, team, name);
    const activityIds = (await readFeed(ann, team)).map(({ id }) => id);
    const responses = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        ann.post(`/teams/${team}/_markFeedViewed`, { activityIds: n % 2 ? activityIds : activityIds.toReversed() }),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(responses.reduce((sum, { body }) => sum + body.viewed, 0)).toBe(5);
  });
});
