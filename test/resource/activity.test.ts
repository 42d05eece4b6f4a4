import { describe, expect } from 'vitest';
import { KIND_EVENTS, OWNED_EVENTS } from '../../src/core/activity.ts';
import { sweepRecords } from '../../src/operations/janitor.ts';
import { FIXTURES, READABLE_BY_ALL } from '../conformance/fixtures.ts';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { configOf } from '../support/postgres-source.ts';
import { createDatabase } from '../support/postgres.ts';
import { runSql } from '../support/run-sql.ts';
import type { Service } from '../support/service.ts';

/** The kinds that people own; what is done to each is told the same way. */
const KINDS = Object.keys(FIXTURES).filter((kind) => !READABLE_BY_ALL.has(kind));
const NAMES: Record<string, string> = { queries: 'SavedQuery' };
const typeOf = (kind: string) => NAMES[kind] ?? kind[0]!.toUpperCase() + kind.slice(1, -1);
const lower = (word: string) => word[0]!.toLowerCase() + word.slice(1);
const UNKNOWN = '01900000-0000-7000-8000-000000000000';

interface Told {
  type: string;
  message: string;
  data: Record<string, unknown>;
  userId: string;
}

const toldOf = async (client: Client, path: string): Promise<Told[]> =>
  (await client.get(`${path}/activity`)).body._embedded['svc:activity'];
const typesOf = async (client: Client, path: string): Promise<string[]> =>
  (await toldOf(client, path)).map(({ type }) => type);

/** What the table holds of a resource, in the order of its happening. */
const stored = (
  service: Service,
  id: string,
): Promise<{ type: string; message: string; name: string; owner: string; data: Record<string, unknown> }[]> =>
  service.platform.system.query({
    text: 'select type, message, name, owner_id as owner, data from dws.activity where resource_id = $1 order by created_at',
    values: [id],
  });

describe.each(KINDS)('the activity of one of the %s', (kind) => {
  const type = typeOf(kind);
  const word = kind === 'queries' ? 'query' : lower(type);

  test('tells who did what to it, the latest first', async ({ admin, ann, bob }) => {
    const id = await FIXTURES[kind]!.create(admin, `told ${kind}`);
    const path = `/${kind}/${id}`;
    const [tag, folder] = [
      await admin.creates('/tags', { name: `told ${kind}` }),
      await admin.creates('/folders', { name: `Told ${kind}` }),
    ];
    expect(await admin.put(path, { name: 'Sales', description: 'Of the year' })).toMatchObject({ status: 200 });
    await admin.put(`${path}/shares/ann`, { accessLevel: 2 });
    await admin.put(`${path}/shares/${ann.id}`, { accessLevel: 3 });
    await ann.put(`${path}/tags/${tag.id}`);
    await ann.delete(`${path}/tags/${tag.id}`);
    await admin.put(path, { folderId: folder.id });
    await admin.post('/folders/_bulk-assign', { entities: [id], folderId: null });
    await ann.delete(`${path}/shares/ann`);
    await admin.put(`${path}/owner`, { ownerId: 'bob' });

    expect(
      (await toldOf(bob, path)).map(({ type: told, userId, message, data }) => [told, userId, message, data]),
    ).toEqual([
      [`${word}.owner.changed`, admin.id, 'admin gave Sales to bob', { from: admin.id, to: bob.id }],
      [`${word}.unshared`, ann.id, 'ann stopped sharing Sales with ann', { principalId: ann.id }],
      [`${word}.folder.moved`, admin.id, 'admin took Sales out of its folder', { folderId: null }],
      [`${word}.folder.moved`, admin.id, `admin moved Sales to the folder Told ${kind}`, { folderId: folder.id }],
      [`${word}.untagged`, ann.id, `ann took the tag told ${kind} off Sales`, { tagId: tag.id }],
      [`${word}.tagged`, ann.id, `ann tagged Sales with told ${kind}`, { tagId: tag.id }],
      [`${word}.shared`, admin.id, 'admin shared Sales with ann (Admin)', { principalId: ann.id, accessLevel: 3 }],
      [`${word}.shared`, admin.id, 'admin shared Sales with ann (Edit)', { principalId: ann.id, accessLevel: 2 }],
      [`${word}.updated`, admin.id, 'admin changed name and description of Sales', { fields: ['name', 'description'] }],
      [`${word}.created`, admin.id, `admin created told ${kind}`, {}],
    ]);
  });

  test('is a collection of records, by pages, in both APIs', async ({ admin }) => {
    const id = await FIXTURES[kind]!.create(admin, `paged ${kind}`);
    for (const description of ['a', 'b', 'c']) await admin.put(`/${kind}/${id}`, { description });
    const { body } = await admin.get(`/${kind}/${id}/activity?limit=2&start=1`);
    expect(body).toMatchObject({
      start: 1,
      count: 2,
      total: 4,
      _links: { next: { href: `/api/${kind}/${id}/activity?limit=2&start=3` } },
    });
    expect(body._embedded['svc:activity'][0]).toEqual({
      id: expect.any(String),
      type: `${word}.updated`,
      userId: admin.id,
      user: { id: admin.id, name: 'admin', type: 'user' },
      [`${word}Id`]: id,
      kind: word,
      name: `paged ${kind}`,
      message: `admin changed description of paged ${kind}`,
      data: { fields: ['description'] },
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      _links: { [`svc:${word}`]: { href: `/api/${kind}/${id}` }, 'svc:user': { href: `/api/users/${admin.id}` } },
    });
    expect(
      await admin.data(
        `{ ${lower(type)}(id: "${id}") { activity(limit: 1) { total count items { type kind resourceId name userId user { name } data } } } }`,
      ),
    ).toEqual({
      [lower(type)]: {
        activity: {
          total: 4,
          count: 1,
          items: [
            {
              type: `${word}.updated`,
              kind: word,
              resourceId: id,
              name: `paged ${kind}`,
              userId: admin.id,
              user: { name: 'admin' },
              data: { fields: ['description'] },
            },
          ],
        },
      },
    });
    expect(await admin.get(`/${kind}/${id}/activity?limit=0`)).toMatchObject({ status: 400 });
  });

  test('is for those who read it, by the right that their share or team gives', async ({
    admin,
    ann,
    stranger,
    anonymous,
  }) => {
    const id = await FIXTURES[kind]!.create(admin, `read ${kind}`);
    for (const [client, status] of [
      [ann, 404],
      [stranger, 404],
      [anonymous, 401],
    ] as const)
      expect(await client.get(`/${kind}/${id}/activity`)).toMatchObject({ status });
    await admin.put(`/${kind}/${id}/shares/ann`, { accessLevel: 1 });
    expect(await typesOf(ann, `/${kind}/${id}`)).toEqual([`${word}.shared`, `${word}.created`]);
    expect(await ann.data(`{ ${lower(type)}(id: "${id}") { activity { items { user { id name } } } } }`)).toMatchObject(
      { [lower(type)]: { activity: { items: [{ user: { id: admin.id, name: 'admin' } }, {}] } } },
    );
  });

  test('says nothing of what changed nothing, was refused or was undone', async ({ admin, ann }) => {
    const id = await FIXTURES[kind]!.create(admin, `quiet ${kind}`);
    const path = `/${kind}/${id}`;
    const { body } = await admin.get(path);
    expect(await admin.put(path, body)).toMatchObject({ status: 200 });
    await admin.put(path, { name: `quiet ${kind}`, folderId: null, tags: [], ownerId: admin.id });
    await admin.put(`${path}/owner`, { ownerId: 'admin' });
    await admin.put(`${path}/favorite`);
    await admin.put(`${path}/shares/ann`, { accessLevel: 1 });
    await admin.put(`${path}/shares/ann`, { accessLevel: 1 });
    expect(await ann.put(path, { name: 'mine' })).toMatchObject({ status: 403 });
    // The name is written already when the tag is looked for.
    expect(await admin.put(path, { name: 'undone', slug: `undone-${kind}`, tags: [UNKNOWN] })).toMatchObject({
      status: 404,
    });
    expect(await typesOf(admin, path)).toEqual([`${word}.shared`, `${word}.created`]);
  });

  test('is one for each thing that a single change does, of which the tags it was made with are none', async ({
    admin,
    ann,
    service,
  }) => {
    const [tag, folder] = [
      await admin.creates('/tags', { name: `single ${kind}` }),
      await admin.creates('/folders', { name: `Single ${kind}` }),
    ];
    const id = await FIXTURES[kind]!.create(admin, `single ${kind}`);
    await admin.put(`/${kind}/${id}`, {
      name: 'Single',
      slug: `single-${kind}-2`,
      tags: [tag.id],
      folderId: folder.id,
      ownerId: 'ann',
    });
    const told = (await stored(service, id)).slice(1);
    expect(told.map((one) => one.type).toSorted()).toEqual([
      `${word}.folder.moved`,
      `${word}.owner.changed`,
      `${word}.tagged`,
      `${word}.updated`,
    ]);
    expect(told.every(({ name, owner }) => name === 'Single' && owner === `user:${ann.id}`)).toBe(true);
    expect(told.find((one) => one.type === `${word}.updated`)).toMatchObject({
      data: { fields: ['name', 'slug'] },
      message: 'admin changed name and slug of Single',
    });
  });

  test('stays when it goes, and when its owner does', async ({ admin, service }) => {
    const leaving = await service.user(`leaver-${kind}`);
    const id = await FIXTURES[kind]!.create(admin, `gone ${kind}`, `user:${leaving.id}`);
    await admin.delete(`/users/leaver-${kind}`);
    await admin.delete(`/${kind}/${id}`);
    expect((await stored(service, id)).map(({ type: told, message, owner }) => [told, message, owner])).toEqual([
      [`${word}.created`, `admin created gone ${kind}`, `user:${leaving.id}`],
      [`${word}.owner.changed`, `admin gave gone ${kind} to admin`, `user:${admin.id}`],
      [`${word}.deleted`, `admin deleted gone ${kind}`, `user:${admin.id}`],
    ]);
  });
});

test('an activity outlives who did it, whose name its sentence keeps', async ({ admin, service }) => {
  const passing = await service.user('passing');
  const { id } = await passing.creates('/reports', { name: 'Kept' });
  await admin.delete('/users/passing');
  const [last, first] = await toldOf(admin, `/reports/${id}`);
  expect([last, first]).toMatchObject([
    { type: 'report.owner.changed', userId: admin.id },
    { type: 'report.created', userId: null, user: null, message: 'passing created Kept' },
  ]);
});

test('of what is secret or somebody’s text, an activity says the name and no more', async ({ admin, service }) => {
  const datasource = await FIXTURES['datasources']!.create(admin, 'discreet source');
  await admin.put(`/datasources/${datasource}`, {
    config: { host: 'db.hidden.example', port: 1, database: 'd', user: 'u' },
    secrets: { password: 'hidden-password' },
  });
  const app = (await admin.creates('/apps', { name: 'Discreet', env: { KEY: 'hidden-value' } })).id;
  await admin.put(`/apps/${app}`, { env: { KEY: '••••' } });
  await admin.put(`/apps/${app}`, { env: { KEY: 'hidden-too' } });
  const dataset = await FIXTURES['datasets']!.create(admin, 'discreet set');
  await admin.put(`/datasets/${dataset}`, { query: 'select 2 as hidden_column', flow: [{ type: 'limit', n: 7 }] });

  expect((await toldOf(admin, `/datasources/${datasource}`))[0]).toMatchObject({
    type: 'datasource.connection.changed',
    message: 'admin changed the connection of discreet source',
    data: { fields: ['config', 'secrets'] },
  });
  expect((await toldOf(admin, `/apps/${app}`)).map(({ type, data }) => [type, data])).toEqual([
    ['app.updated', { fields: ['env'] }],
    ['app.created', {}],
  ]);
  expect((await toldOf(admin, `/datasets/${dataset}`))[0]).toMatchObject({
    type: 'dataset.updated',
    data: { fields: ['query', 'flow'] },
  });
  const all = await service.platform.system.query({ text: 'select * from dws.activity' });
  expect(JSON.stringify(all)).not.toMatch(/hidden/);
});

test('a refresh is told when it succeeds and when it fails, without a word of the source', async ({
  admin,
  service,
}) => {
  const source = await createDatabase('template0');
  await runSql(source.url, `create table hidden_table as select id from generate_series(1, 3) id`);
  try {
    const datasourceId = (
      await admin.creates('/datasources', { name: 'Source', type: 'postgres', ...configOf(source.url) })
    ).id;
    const { id } = await admin.creates('/datasets', {
      name: 'Numbers',
      datasourceId,
      query: 'select id from hidden_table',
      refresh: true,
    });
    await admin.put(`/datasets/${id}`, { query: 'select id / 0 from hidden_table' });
    expect(await admin.post(`/datasets/${id}/_refresh`, {})).toMatchObject({ status: 500 });
    expect((await stored(service, id)).map(({ type, message, data }) => [type, message, data])).toEqual([
      ['dataset.created', 'admin created Numbers', {}],
      ['dataset.refreshed', 'admin refreshed Numbers', { records: 3, duration: expect.any(Number) }],
      ['dataset.updated', 'admin changed query of Numbers', { fields: ['query'] }],
      [
        'dataset.refresh.failed',
        'A refresh of Numbers by admin failed',
        { code: 'UPSTREAM_FAILED', duration: expect.any(Number) },
      ],
    ]);
  } finally {
    await source.drop();
  }
});

test('copies and snapshots are told of at their dataset, and to the audit log', async ({ admin }) => {
  const source = await createDatabase('template0');
  try {
    const datasourceId = (
      await admin.creates('/datasources', { name: 'Source', type: 'postgres', ...configOf(source.url) })
    ).id;
    const { id } = await admin.creates('/datasets', {
      name: 'Kept',
      datasourceId,
      query: 'select 1 as one',
      refresh: true,
    });
    const copy = await admin.creates(`/datasets/${id}/copy`, { name: 'Copy' });
    const path = `/datasets/${id}/snapshots`;
    const [may, june] = [await admin.creates(path, { name: 'May' }), await admin.creates(path, { name: 'June' })];
    expect(await admin.post(`${path}/${may.id}/promote`, { name: 'Free' })).toMatchObject({ status: 200 });
    expect(await admin.delete(`${path}/${june.id}`)).toMatchObject({ status: 204 });
    expect((await toldOf(admin, `/datasets/${id}`)).slice(0, 5).map(({ type, message }) => [type, message])).toEqual([
      ['dataset.snapshot.deleted', 'admin deleted the snapshot June of Kept'],
      ['dataset.snapshot.promoted', 'admin promoted the snapshot May of Kept'],
      ['dataset.snapshot.created', 'admin created the snapshot June of Kept'],
      ['dataset.snapshot.created', 'admin created the snapshot May of Kept'],
      ['dataset.copied', 'admin copied Kept'],
    ]);
    expect((await toldOf(admin, `/datasets/${copy.id}`)).map(({ type, message }) => [type, message])).toEqual([
      ['dataset.created', 'admin created Copy'],
    ]);
    expect((await toldOf(admin, `/datasets/${may.id}`)).map(({ message }) => message)).toEqual([
      'admin created Free',
      'admin created May',
    ]);
    const audited = async (of: string) =>
      (await admin.get(`/audit?resourceId=${of}`)).body._embedded['svc:audit-event'].map(
        ({ action }: { action: string }) => action,
      );
    expect(await audited(id)).toEqual([
      'deleteSnapshot',
      'promoteSnapshot',
      'createSnapshot',
      'createSnapshot',
      'copyDataset',
      'createDataset',
    ]);
  } finally {
    await source.drop();
  }
});

test('a team is told of with its members', async ({ admin, ann, bob, service }) => {
  const { id } = await admin.creates('/teams', { name: 'Readers' });
  await admin.put(`/teams/${id}`, { description: 'They read' });
  await admin.put(`/teams/${id}/members/bob`, { role: 'member' });
  await admin.put(`/teams/${id}/members/bob`, { role: 'admin' });
  await bob.delete(`/teams/${id}/members/bob`);
  await admin.delete(`/teams/${id}`);
  const told = await stored(service, id);
  expect(told.map(({ type, message, data }) => [type, message, data])).toEqual([
    ['team.created', 'admin created Readers', {}],
    ['team.updated', 'admin changed description of Readers', { fields: ['description'] }],
    ['team.member.added', 'admin added bob to Readers as member', { userId: bob.id, role: 'member' }],
    ['team.member.role.changed', 'admin made bob admin of Readers', { userId: bob.id, role: 'admin' }],
    ['team.member.removed', 'bob left Readers', { userId: bob.id }],
    ['team.deleted', 'admin deleted Readers', {}],
  ]);
  expect(new Set(told.map(({ owner }) => owner))).toEqual(new Set([`team:${id}`]));
  expect(await ann.get('/session')).toMatchObject({ status: 200 });
});

test('the commit of a draft is told by what it changed, not as a change besides', async ({ admin, service }) => {
  const id = await FIXTURES['datasets']!.create(admin, 'Drafted');
  expect(await admin.put(`/datasets/${id}/draft`, { settings: { color: 'red' }, name: 'Done' })).toMatchObject({
    status: 200,
  });
  expect(await admin.post(`/datasets/${id}/draft/_commit`)).toMatchObject({ status: 200 });
  expect((await stored(service, id)).map(({ type, message, data }) => [type, message, data])).toEqual([
    ['dataset.created', 'admin created Drafted', {}],
    ['dataset.draft.committed', 'admin committed a draft of Done', { fields: ['name', 'settings'] }],
  ]);
});

test('every type that was told of is one of those listed', async ({ service }) => {
  const owned = KINDS.map((kind) => (kind === 'queries' ? 'query' : kind.slice(0, -1)));
  const listed = [
    ...owned.flatMap((word) => OWNED_EVENTS.map((event) => `${word}.${event}`)),
    ...Object.entries(KIND_EVENTS).flatMap(([word, events]) => events.map((event) => `${word}.${event}`)),
  ];
  const told = await service.platform.system.query<{ type: string }>({
    text: 'select distinct type from dws.activity',
  });
  expect(told.map(({ type }) => type).toSorted()).toEqual(listed.toSorted());
});

test('activities and audit events are deleted after 400 days and not before', async ({ admin, service }) => {
  const { system } = service.platform;
  const { id } = await admin.creates('/reports', { name: 'Old' });
  // Nobody but a migration may change what was done.
  await expect(service.platform.system.query({ text: `update dws.activity set message = 'forged'` })).rejects.toThrow(
    'permission denied',
  );
  const [row] = await system.query<{ tenant: string }>({
    text: 'select tenant_id as tenant from dws.activity where resource_id = $1',
    values: [id],
  });
  for (const days of [399, 401]) {
    await system.query({
      text: `insert into dws.activity (id, tenant_id, kind, resource_id, type, message, created_at) values (gen_random_uuid(), $1, 'report', $2, 'report.updated', $3, now() - $4 * interval '1 day')`,
      values: [row!.tenant, id, `of day ${days}`, days],
    });
    await system.query({
      text: `insert into dws.audit_event (id, tenant_id, username, action, resource_id, outcome, channel, request_id, created_at) values (gen_random_uuid(), $1, 'x', $3, $2, 'succeeded', 'rest', 'r', now() - $4 * interval '1 day')`,
      values: [row!.tenant, id, `of day ${days}`, days],
    });
  }
  await sweepRecords((statement) => system.query(statement));
  expect((await toldOf(admin, `/reports/${id}`)).map(({ message }) => message)).toEqual([
    'admin created Old',
    'of day 399',
  ]);
  expect(
    (await admin.get(`/audit?resourceId=${id}`)).body._embedded['svc:audit-event'].map(
      ({ action }: { action: string }) => action,
    ),
  ).toEqual(['createReport', 'of day 399']);
});
