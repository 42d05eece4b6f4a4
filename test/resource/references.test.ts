import { describe, expect } from 'vitest';
import { FIXTURES, namesOf, OWNED_PATHS } from '../conformance/fixtures.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { recordStatements } from '../support/statement-log.ts';

const createSource = (client: Client, name: string): Promise<string> => FIXTURES['datasources']!.create(client, name);
const createQuery = async (client: Client, name: string, datasourceId: string): Promise<string> =>
  (await client.creates('/queries', { name, datasourceId, query: 'select 1 as one' })).id;
const createDataset = async (client: Client, name: string, from: object): Promise<string> =>
  (await client.creates('/datasets', { name, ...from })).id;
const readReferences = async (client: Client, path: string) => (await client.get(`${path}/references`)).body;
const labelsOf = (body: { _embedded: { 'svc:reference': { kind: string; name: string }[] } }): string[] =>
  body._embedded['svc:reference'].map(({ kind, name }) => `${kind} ${name}`);

describe('the references of a resource', () => {
  test('are the resources that use it, each once, with a link', async ({ admin }) => {
    const used = await createSource(admin, 'used');
    expect(await readReferences(admin, `/datasources/${used}`)).toMatchObject({
      total: 0,
      hidden: 0,
      _embedded: { 'svc:reference': [] },
    });
    const [asked, other] = [await createQuery(admin, 'asked', used), await createSource(admin, 'other')];
    const [own, following] = [
      await createDataset(admin, 'own', { datasourceId: used, query: 'select 1 as one' }),
      await createDataset(admin, 'following', { queryId: asked }),
    ];
    await admin.creates('/suites', { name: 'together', datasourceIds: [used, other] });
    for (const target of [used, used, other])
      await admin.creates(`/datasources/${other}/links`, {
        targetDatasourceId: target,
        type: 'lookup',
        mappings: { a: 'b' },
      });

    const references = await readReferences(admin, `/datasources/${used}`);
    expect(labelsOf(references)).toEqual(['dataset own', 'datasource other', 'query asked', 'suite together']);
    expect(references).toMatchObject({
      total: 4,
      count: 4,
      start: 0,
      hidden: 0,
      _links: { self: { href: `/api/datasources/${used}/references` } },
    });
    expect(references._embedded['svc:reference'][0]).toEqual({
      kind: 'dataset',
      id: own,
      name: 'own',
      ownerId: admin.id,
      _links: { self: { href: `/api/datasets/${own}` }, 'svc:owner': { href: `/api/users/${admin.id}` } },
    });
    for (const { _links } of references._embedded['svc:reference'])
      expect(await admin.get(_links.self.href.slice(4))).toMatchObject({ status: 200 });
    expect(references._embedded['svc:reference'][3]).toMatchObject({ kind: 'suite', ownerId: null });
    expect(labelsOf(await readReferences(admin, `/queries/${asked}`))).toEqual(['dataset following']);
    expect(
      labelsOf(await readReferences(admin, `/datasources/${other}`)),
      'a link to itself is not a reference',
    ).toEqual(['suite together']);
    for (const path of [`/datasets/${own}`, `/datasets/${following}`])
      expect(labelsOf(await readReferences(admin, path))).toEqual([]);

    const data = await admin.data(
      `{
        datasource(id: "${used}") { references { total hidden items { kind id name ownerId } } }
        savedQuery(id: "${asked}") { references { items { name } } }
      }`,
    );
    expect(data.datasource.references).toMatchObject({
      total: 4,
      hidden: 0,
      items: [{ kind: 'DATASET', id: own, name: 'own', ownerId: admin.id }, {}, {}, { ownerId: null }],
    });
    expect(data.savedQuery.references.items).toEqual([{ name: 'following' }]);
  });

  test('omit resources that the caller may not read, and count them for callers who may delete the resource', async ({
    admin,
    ann,
    bob,
  }) => {
    const used = await createSource(admin, 'shared');
    const [open] = [await createQuery(admin, 'open', used), await createQuery(admin, 'closed', used)];
    await createDataset(admin, 'closed too', { datasourceId: used, query: 'select 1 as one' });
    for (const client of [ann, bob])
      await admin.put(`/datasources/${used}/shares/${client.id}`, { accessLevel: client === ann ? 3 : 1 });
    await admin.put(`/queries/${open}/shares/ann`, { accessLevel: 1 });
    expect(await readReferences(ann, `/datasources/${used}`)).toMatchObject({
      total: 1,
      hidden: 2,
      _embedded: { 'svc:reference': [{ id: open }] },
    });
    expect(await readReferences(bob, `/datasources/${used}`)).toMatchObject({ total: 0, hidden: null });
    expect(
      (await bob.data(`{ datasource(id: "${used}") { references { total hidden items { name } } } }`)).datasource
        .references,
    ).toEqual({ total: 0, hidden: null, items: [] });
    await expectBody(ann.delete(`/datasources/${used}`), 409, {
      code: 'CONFLICT',
      message: 'The datasource is in use by query "open", 2 more',
    });
    expect(await ann.gql(`mutation { deleteDatasource(id: "${used}") }`)).toMatchObject({
      errors: [
        { message: 'The datasource is in use by query "open", 2 more', extensions: { code: 'CONFLICT', status: 409 } },
      ],
    });
    expect(await admin.delete(`/queries/${open}`)).toMatchObject({ status: 204 });
  });

  test('of a list take one more statement', async ({ admin, service }) => {
    const { result, statements } = await recordStatements(service, () =>
      admin.data('{ datasources { items { references { items { name } } } } }'),
    );
    expect(result.datasources.items.length).toBeGreaterThan(2);
    expect(statements).toHaveLength(2);
  });

  test('do not include drafts and snapshots, which still block a deletion', async ({ admin, service }) => {
    const [used, parentSource] = [await createSource(admin, 'kept'), await createSource(admin, 'left')];
    const parent = await createDataset(admin, 'parent', { datasourceId: parentSource, query: 'select 1 as one' });
    await insertChild(service, parent, 'a draft', 'is_draft', used);
    expect(await readReferences(admin, `/datasources/${used}`)).toMatchObject({ total: 0, hidden: 0 });
    await expectError(admin.delete(`/datasources/${used}`), 409, 'The datasource is in use by dataset "a draft"');
    await admin.delete(`/datasets/${parent}`);
    expect(await admin.delete(`/datasources/${used}`)).toMatchObject({ status: 204 });
  });
});

/** Inserts a draft or snapshot of a dataset. Returns its id. */
async function insertChild(
  service: {
    platform: {
      system: { query: (statement: { text: string; values: unknown[] }) => Promise<Record<string, unknown>[]> };
    };
  },
  parent: string,
  name: string,
  flag: 'is_draft' | 'is_snapshot',
  datasourceId: string | null = null,
): Promise<string> {
  const [inserted] = await service.platform.system.query({
    text: `
      insert into dws.dataset (id, tenant_id, name, slug, owner_id, parent_id, datasource_id, ${flag})
      select gen_random_uuid(), tenant_id, $2, gen_random_uuid()::text, owner_id, id, $3, true
      from dws.dataset
      where id = $1
      returning id`,
    values: [parent, name, datasourceId],
  });
  return inserted!['id'] as string;
}

describe.each(OWNED_PATHS)('deletion and the %s', (kind) => {
  test('the resources of a deleted user are transferred to `transferTo`, by default to the caller', async ({
    admin,
    bob,
    service,
  }) => {
    for (const [heir, transferTo] of [
      [admin, ''],
      [bob, '?transferTo=bob'],
    ] as const) {
      const leaving = await service.user(`owner-${kind}-${heir.username}`);
      const id = await FIXTURES[kind]!.create(admin, `inherited ${kind} ${heir.username}`, `user:${leaving.id}`);
      const {
        permissions: { share },
      } = (await leaving.get(`/${kind}/${id}`)).body;
      expect(share).toBe(true);
      expect(await admin.delete(`/users/${leaving.username}${transferTo}`)).toMatchObject({ status: 204 });
      await expectBody(heir.get(`/${kind}/${id}`), 200, { ownerId: heir.id, permissions: { delete: true } });
      expect(
        (await heir.get(`/search?q=${encodeURIComponent(`inherited ${kind} ${heir.username}`)}&limit=1`)).body
          ._embedded['svc:hit'],
      ).toMatchObject([{ id, ownerId: heir.id }]);
    }
    expect(await admin.delete('/users/bob?transferTo=nobody-there')).toMatchObject({ status: 404 });
  });

  test('the resources of a deleted team are transferred likewise, also to a team', async ({ admin, ann, service }) => {
    const [leaving, heir] = [
      await admin.creates('/teams', { name: `Leaving ${kind}` }),
      await admin.creates('/teams', { name: `Heirs ${kind}` }),
    ];
    await admin.put(`/teams/${heir.id}/members/ann`, { role: 'member' });
    const id = await FIXTURES[kind]!.create(admin, `bequeathed ${kind}`, `team:${leaving.id}`);
    await admin.put(`/${kind}/${id}/shares/team:${leaving.id}`, { accessLevel: 2 });
    expect(await ann.get(`/${kind}/${id}`)).toMatchObject({ status: 404 });
    expect(
      await admin.gql(`mutation { deleteTeam(id: "${leaving.id}", transferTo: "team:${heir.id}") }`),
    ).toMatchObject({ data: { deleteTeam: leaving.id } });
    await expectBody(ann.get(`/${kind}/${id}`), 200, {
      ownerId: `team:${heir.id}`,
      permissions: { read: true, write: false },
    });
    expect((await admin.get(`/${kind}/${id}/shares`)).body.total).toBe(0);
    expect(
      await service.platform.system.query({
        text: 'select id from dws.share where principal = $1',
        values: [`team:${leaving.id}`],
      }),
    ).toEqual([]);
  });

  test('shares, favourites, tags and search entries of a resource are deleted with it', async ({
    admin,
    ann,
    service,
  }) => {
    const id = await FIXTURES[kind]!.create(admin, `gone ${kind}`);
    await admin.put(`/${kind}/${id}/shares/ann`, { accessLevel: 1 });
    await ann.put(`/${kind}/${id}/favorite`);
    await admin.put(`/${kind}/${id}/tags/${(await admin.creates('/tags', { name: `gone ${kind}` })).id}`);
    const children =
      kind === 'datasets'
        ? [
            await insertChild(service, id, 'gone draft', 'is_draft'),
            await insertChild(service, id, 'gone snapshot', 'is_snapshot'),
          ]
        : [];
    for (const one of children) {
      await service.platform.system.query({
        text: `
          insert into dws.share (id, tenant_id, kind, resource_id, principal, access_level)
          select gen_random_uuid(), tenant_id, 'dataset', id, $2, 1
          from dws.dataset
          where id = $1`,
        values: [one, `user:${ann.id}`],
      });
    }
    const ids = [id, ...children];
    expect(await admin.delete(`/${kind}/${id}`)).toMatchObject({ status: 204 });
    for (const table of ['share', 'favorite', 'tag_assignment'])
      expect(
        await service.platform.system.query({
          text: `select id from dws.${table} where resource_id = any($1)`,
          values: [ids],
        }),
        table,
      ).toEqual([]);
    expect(
      await service.platform.system.query({
        text: `select id from dws.search_entry where id = any($1)`,
        values: [ids],
      }),
    ).toEqual([]);
    expect(
      await service.platform.system.query({ text: `select id from dws.dataset where id = any($1)`, values: [ids] }),
    ).toEqual([]);
    for (const one of ids)
      await expectGraphqlError(admin.gql(`{ ${namesOf(kind).one}(id: "${one}") { id } }`), 'NOT_FOUND');
    expect(
      (await ann.get('/me/favorites')).body._embedded['svc:favorite'].map((favorite: { id: string }) => favorite.id),
    ).not.toContain(id);
  });
});
