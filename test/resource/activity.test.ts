import { describe, expect } from 'vitest';
import { sweepRecords } from '../../src/operations/janitor.ts';
import { FIXTURES, namesOf, OWNED_PATHS } from '../conformance/fixtures.ts';
import { readActivities, readAuditActions } from '../support/activity.ts';
import { test } from '../support/fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

describe.each(OWNED_PATHS)('the activity of one of the %s', (kind) => {
  const { word, one } = namesOf(kind);

  test('is a collection of records with pages in both APIs', async ({ admin }) => {
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
        `{
          ${one}(id: "${id}") {
            activity(limit: 1) { total count items { type kind resourceId name userId user { name } data } }
          }
        }`,
      ),
    ).toEqual({
      [one]: {
        activity: {
          total: 4,
          count: 1,
          items: [
            {
              type: `${word.toUpperCase()}_UPDATED`,
              kind: word.toUpperCase(),
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

  test('requires read access to the resource', async ({ admin, ann, stranger, anonymous }) => {
    const id = await FIXTURES[kind]!.create(admin, `read ${kind}`);
    for (const [client, status] of [
      [ann, 404],
      [stranger, 404],
      [anonymous, 401],
    ] as const)
      expect(await client.get(`/${kind}/${id}/activity`)).toMatchObject({ status });
    await admin.put(`/${kind}/${id}/shares/ann`, { accessLevel: 1 });
    expect((await readActivities(ann, `/${kind}/${id}`)).map(({ type }) => type)).toEqual([
      `${word}.shared`,
      `${word}.created`,
    ]);
    expect(await ann.data(`{ ${one}(id: "${id}") { activity { items { user { id name } } } } }`)).toMatchObject({
      [one]: { activity: { items: [{ user: { id: admin.id, name: 'admin' } }, {}] } },
    });
  });

  test('does not contain changes without effect, refused changes and undone changes', async ({ admin, ann }) => {
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
    expect(await admin.put(path, { name: 'undone', slug: `undone-${kind}`, tags: [UNKNOWN_ID] })).toMatchObject({
      status: 404,
    });
    expect((await readActivities(admin, path)).map(({ type }) => type)).toEqual([`${word}.shared`, `${word}.created`]);
  });
});

test('an activity is stored after the deletion of its user, with the name in its message', async ({
  admin,
  service,
}) => {
  const passing = await service.user('passing');
  const { id } = await passing.creates('/reports', { name: 'Kept' });
  await admin.delete('/users/passing');
  const [last, first] = await readActivities(admin, `/reports/${id}`);
  expect([last, first]).toMatchObject([
    { type: 'report.owner.changed', userId: admin.id },
    { type: 'report.created', userId: null, user: null, message: 'passing created Kept' },
  ]);
});

test('activities and audit events are deleted after 400 days and not before', async ({ admin, service }) => {
  const { system } = service.platform;
  const { id } = await admin.creates('/reports', { name: 'Old' });
  // Only a migration can change a stored activity.
  await expect(service.platform.system.query({ text: `update dws.activity set message = 'forged'` })).rejects.toThrow(
    'permission denied',
  );
  const [row] = await system.query<{ tenant: string }>({
    text: 'select tenant_id as tenant from dws.activity where resource_id = $1',
    values: [id],
  });
  for (const days of [399, 401]) {
    await system.query({
      text: `
        insert into dws.activity (id, tenant_id, kind, resource_id, type, message, created_at)
        values (gen_random_uuid(), $1, 'report', $2, 'report.updated', $3, now() - $4 * interval '1 day')`,
      values: [row!.tenant, id, `of day ${days}`, days],
    });
    await system.query({
      text: `
        insert into dws.audit_event
          (id, tenant_id, username, action, resource_id, outcome, channel, request_id, created_at)
        values (gen_random_uuid(), $1, 'x', $3, $2, 'succeeded', 'rest', 'r', now() - $4 * interval '1 day')`,
      values: [row!.tenant, id, `of day ${days}`, days],
    });
  }
  await sweepRecords((statement) => system.query(statement));
  expect((await readActivities(admin, `/reports/${id}`)).map(({ message }) => message)).toEqual([
    'admin created Old',
    'of day 399',
  ]);
  expect(await readAuditActions(admin, id)).toEqual(['createReport', 'of day 399']);
});
