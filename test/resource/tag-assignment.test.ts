import { describe, expect } from 'vitest';
import { FIXTURES, letWrite, namesOf, OWNED_PATHS } from '../conformance/fixtures.ts';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { recordStatements } from '../support/statement-log.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

describe.each(OWNED_PATHS)('tags of one of the %s', (kind) => {
  const { word, type, one: field, many } = namesOf(kind);
  const isApp = kind === 'apps';

  test('are assigned and removed, with the documented statuses and records', async ({ admin }) => {
    const id = await FIXTURES[kind]!.create(admin, `tagged ${kind}`);
    const [red, blue] = [
      await admin.creates('/tags', { name: `red ${kind}`, color: '#f00' }),
      await admin.creates('/tags', { name: `blue ${kind}` }),
    ];
    const path = `/${kind}/${id}/tags`;
    expect((await admin.get(path)).body).toMatchObject({ total: 0, _embedded: { 'svc:tag-entity': [] } });

    const links = {
      self: { href: `/api${path}/${red.id}` },
      [`svc:${word}`]: { href: `/api/${kind}/${id}` },
      'svc:tag': { href: `/api/tags/${red.id}` },
    };
    const assigned = await admin.put(`${path}/${red.id}`);
    const dates = { createdAt: expect.any(String), updatedAt: expect.any(String) };
    const embedded = { 'svc:tag': expect.objectContaining({ id: red.id, name: `red ${kind}`, color: '#f00' }) };
    const record = isApp
      ? { id: expect.any(String), appId: id, tagId: red.id, ...dates, _embedded: embedded, _links: links }
      : { tagId: red.id, [`${word}Id`]: id, _links: links };
    expect(assigned).toMatchObject({ status: isApp ? 201 : 200 });
    const { curies: _, ..._links } = assigned.body._links;
    expect({ ...assigned.body, _links }).toEqual(record);
    const again = await admin.put(`${path}/${red.id}`, {});
    expect(again).toMatchObject({ status: 200, body: JSON.parse(JSON.stringify(assigned.body)) });
    await admin.put(`${path}/${blue.id}`);

    const one = await admin.get(`${path}/${red.id}`);
    expect(one.status).toBe(200);
    const tag = { id: red.id, name: `red ${kind}`, color: '#f00', description: null, createdAt: red.createdAt };
    expect(one.body).toMatchObject(
      isApp ? assigned.body : { tagId: red.id, [`${word}Id`]: id, tag, _embedded: embedded, _links: links },
    );
    expect((await admin.get(path)).body).toMatchObject({
      count: 2,
      total: 2,
      _embedded: {
        'svc:tag-entity': isApp
          ? [{ tagId: red.id, _embedded: embedded }, { tagId: blue.id }]
          : [
              { tagId: red.id, [`${word}Id`]: id, tag },
              { tagId: blue.id, tag: { name: `blue ${kind}` } },
            ],
      },
    });
    expect((await admin.get(`/${kind}/${id}`)).body.tags).toEqual([red.id, blue.id]);

    expect(await admin.delete(`${path}/${red.id}`)).toMatchObject({ status: 204, body: '' });
    await expectError(admin.delete(`${path}/${red.id}`), 404, `There is no tag assignment ${red.id}`);
    await expectError(admin.get(`${path}/${red.id}`), 404, `There is no tag assignment ${red.id}`);
    expect((await admin.get(`/${kind}/${id}`)).body.tags).toEqual([blue.id]);
    expect(await admin.delete(`/tags/${blue.id}`)).toMatchObject({ status: 204 });
    expect((await admin.get(`/${kind}/${id}`)).body.tags).toEqual([]);
  });

  test('are part of the input that creates it, and replaced by the input that updates it', async ({ admin, ann }) => {
    const id = await FIXTURES[kind]!.create(admin, `body ${kind}`);
    const [one, two] = [
      await admin.creates('/tags', { name: `one ${kind}` }),
      await admin.creates('/tags', { name: `two ${kind}` }),
    ];
    const before = await admin.get(`/${kind}/${id}`);
    await expectBody(admin.put(`/${kind}/${id}`, { tags: [two.id, one.id.toUpperCase(), two.id] }), 200, {
      tags: [one.id, two.id],
    });
    expect(await admin.put(`/${kind}/${id}`, { tags: [] }, { 'if-match': before.headers.get('etag')! })).toMatchObject({
      status: 412,
    });
    await expectBody(admin.put(`/${kind}/${id}`, { tags: [two.id] }), 200, { tags: [two.id] });
    await expectBody(admin.put(`/${kind}/${id}`, { description: 'other' }), 200, { tags: [two.id] });
    await expectError(
      admin.put(`/${kind}/${id}`, { tags: [two.id, UNKNOWN_ID] }),
      404,
      `There is no tag ${UNKNOWN_ID}`,
    );
    await expectError(admin.put(`/${kind}/${id}`, { tags: ['no id'] }), 404, 'There is no tag no id');
    expect((await admin.get(`/${kind}/${id}`)).body.tags).toEqual([two.id]);

    const { body } = await admin.get(`/${kind}/${id}`);
    await expectBody(admin.put(`/${kind}/${id}`, body), 200, { tags: [two.id] });
    await expectBody(admin.put(`/${kind}/${id}`, { tags: null }), 200, { tags: [] });

    await letWrite(admin, kind, id, 'ann');
    await expectBody(ann.put(`/${kind}/${id}`, { tags: [one.id] }), 200, { tags: [one.id] });
    const inputs = await admin.data(`{ create: __type(name: "Create${type}Input") { inputFields { name } } }`);
    expect(inputs.create.inputFields).toContainEqual({ name: 'tags' });
  });

  test('are fields in GraphQL, for which a list takes no further statement', async ({ admin, service }) => {
    const id = await FIXTURES[kind]!.create(admin, `listed ${kind}`);
    const tag = await admin.creates('/tags', { name: `list ${kind}` });
    const assigned = await admin.data(
      `mutation { tag${type}(id: "${id}", tagId: "${tag.id}") { created resourceId tagId tag { name } } }`,
    );
    expect(assigned[`tag${type}`]).toEqual({
      created: true,
      resourceId: id,
      tagId: tag.id,
      tag: { name: `list ${kind}` },
    });
    expect(
      (await admin.data(`mutation { tag${type}(id: "${id}", tagId: "${tag.id}") { created } }`))[`tag${type}`],
    ).toEqual({ created: false });

    const { result, statements } = await recordStatements(service, () =>
      admin.data(
        `{
          ${many}(q: "listed ${kind}") {
            items { name tags tagAssignments { tag { name permissions { edit } } } }
            total
          }
        }`,
      ),
    );
    expect(result[many].items.find(({ name }: { name: string }) => name === `listed ${kind}`)).toEqual({
      name: `listed ${kind}`,
      tags: [tag.id],
      tagAssignments: [{ tag: { name: `list ${kind}`, permissions: { edit: true } } }],
    });
    expect(statements).toHaveLength(1);
    const list = await recordStatements(service, () => admin.get(`/${kind}?q=listed ${kind}&sort=-createdAt`));
    expect(list.result.body._embedded[`svc:${word}`][0]).toMatchObject({ id, tags: [tag.id] });
    expect(list.statements).toHaveLength(1);

    expect(
      (await admin.data(`{ ${field}(id: "${id}") { tags tagAssignment(tagId: "${tag.id}") { tagId created } } }`))[
        field
      ],
    ).toEqual({ tags: [tag.id], tagAssignment: { tagId: tag.id, created: false } });
    await expectGraphqlError(
      admin.gql(`{ ${field}(id: "${id}") { tagAssignment(tagId: "${UNKNOWN_ID}") { tagId } } }`),
      'NOT_FOUND',
    );
    expect((await admin.data(`mutation { untag${type}(id: "${id}", tagId: "${tag.id}") }`))[`untag${type}`]).toBe(
      tag.id,
    );
    expect((await admin.data(`{ ${field}(id: "${id}") { tags } }`))[field].tags).toEqual([]);
  });

  test('require the permission assignTags and a tag of the tenant', async ({ admin, ann, stranger }) => {
    const id = await FIXTURES[kind]!.create(admin, `guarded ${kind}`);
    const tag = await admin.creates('/tags', { name: `guard ${kind}` });
    const foreign = await stranger.creates('/tags', { name: `foreign ${kind}` });
    const path = `/${kind}/${id}/tags`;
    expect(await ann.put(`${path}/${tag.id}`)).toMatchObject({ status: 404 });
    await admin.put(`/${kind}/${id}/shares/ann`, { accessLevel: 1 });
    const lacking = { status: 403, body: { message: `You lack the permission ${word}:assignTags` } };
    expect(await ann.put(`${path}/${tag.id}`)).toMatchObject(lacking);
    expect(await ann.delete(`${path}/${tag.id}`)).toMatchObject(lacking);
    await expectGraphqlError(
      ann.gql(`mutation { tag${type}(id: "${id}", tagId: "${tag.id}") { id } }`),
      'FORBIDDEN',
      lacking.body.message,
    );
    expect((await ann.get(path)).body.total).toBe(0);

    await letWrite(admin, kind, id, 'ann');
    for (const unknown of [foreign.id, UNKNOWN_ID, 'no-id']) {
      await expectError(ann.put(`${path}/${unknown}`), 404, `There is no tag ${unknown}`);
      await expectError(ann.put(`/${kind}/${id}`, { tags: [unknown] }), 404, `There is no tag ${unknown}`);
      expect(await ann.get(`${path}/${unknown}`)).toMatchObject({ status: 404 });
      expect(await ann.delete(`${path}/${unknown}`)).toMatchObject({ status: 404 });
      await expectError(ann.get(`/${kind}?tag=${unknown}`), 404, `There is no tag ${unknown}`);
    }
    expect((await ann.put(`${path}/${tag.id}`)).status).toBeLessThan(300);
    expect(await stranger.get(path)).toMatchObject({ status: 404 });
    expect(await stranger.put(`${path}/${foreign.id}`)).toMatchObject({ status: 404 });
  });

  test('filter lists by id or name, with access checks, as folders do', async ({ admin, bob }) => {
    const [id, other] = [
      await FIXTURES[kind]!.create(admin, `found ${kind}`),
      await FIXTURES[kind]!.create(admin, `unfound ${kind}`),
    ];
    const tag = await admin.creates('/tags', { name: `Look for ${kind}` });
    await admin.put(`/${kind}/${id}/tags/${tag.id}`);
    for (const key of [tag.id, `look FOR ${kind}`]) {
      expect((await admin.get(`/${kind}?tag=${key}`)).body).toMatchObject({
        total: 1,
        _embedded: { [`svc:${word}`]: [{ id }] },
      });
      expect((await admin.data(`{ ${many}(tag: "${key}") { items { id } total } }`))[many]).toEqual({
        items: [{ id }],
        total: 1,
      });
      expect((await bob.get(`/${kind}?tag=${key}`)).body).toMatchObject({ total: 0 });
    }
    await admin.delete(`/${kind}/${id}`);
    await admin.delete(`/${kind}/${other}`);
    expect((await admin.get(`/${kind}?tag=${tag.id}`)).body.total).toBe(0);
    await expectError(admin.get(`/${kind}?folderId=${UNKNOWN_ID}`), 404, `There is no folder ${UNKNOWN_ID}`);
    expect(await admin.get(`/${kind}?folderId=none`)).toMatchObject({ status: 404 });
  });

  test('are removed when it is deleted', async ({ admin, service }) => {
    const id = await FIXTURES[kind]!.create(admin, `leaving ${kind}`);
    const tag = await admin.creates('/tags', { name: `stays ${kind}` });
    await admin.put(`/${kind}/${id}/tags/${tag.id}`);
    await admin.delete(`/${kind}/${id}`);
    expect(
      await service.platform.system.query({
        text: 'select id from dws.tag_assignment where resource_id = $1',
        values: [id],
      }),
    ).toEqual([]);
    expect(await admin.get(`/tags/${tag.id}`)).toMatchObject({ status: 200 });
  });
});
