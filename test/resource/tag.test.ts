import { describe, expect } from 'vitest';
import { FIXTURES, READABLE_BY_ALL } from '../conformance/fixtures.ts';
import { test } from '../support/fixture.ts';
import { counted } from '../support/statement-log.ts';

/** The kinds that people own and tag; each is tried the same way. */
const KINDS = Object.keys(FIXTURES).filter((kind) => !READABLE_BY_ALL.has(kind));
const NAMES: Record<string, string> = { queries: 'SavedQuery' };
const typeOf = (kind: string) => NAMES[kind] ?? kind[0]!.toUpperCase() + kind.slice(1, -1);
const lower = (word: string) => word[0]!.toLowerCase() + word.slice(1);
const UNKNOWN = '01900000-0000-7000-8000-000000000000';

describe.each(KINDS)('tags of one of the %s', (kind) => {
  const type = typeOf(kind);
  const word = kind === 'queries' ? 'query' : lower(type);
  const isApp = kind === 'apps';

  test('are put on and taken off, with the statuses and shapes of the specification', async ({ admin }) => {
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
    const made = await admin.put(`${path}/${red.id}`);
    const dates = { createdAt: expect.any(String), updatedAt: expect.any(String) };
    const embedded = { 'svc:tag': expect.objectContaining({ id: red.id, name: `red ${kind}`, color: '#f00' }) };
    const record = isApp
      ? { id: expect.any(String), appId: id, tagId: red.id, ...dates, _embedded: embedded, _links: links }
      : { tagId: red.id, [`${word}Id`]: id, _links: links };
    expect(made).toMatchObject({ status: isApp ? 201 : 200 });
    expect(made.body).toEqual(record);
    const again = await admin.put(`${path}/${red.id}`, {});
    expect(again).toMatchObject({ status: 200, body: JSON.parse(JSON.stringify(made.body)) });
    await admin.put(`${path}/${blue.id}`);

    const one = await admin.get(`${path}/${red.id}`);
    expect(one.status).toBe(200);
    const tag = { id: red.id, name: `red ${kind}`, color: '#f00', description: null, createdAt: red.createdAt };
    expect(one.body).toMatchObject(
      isApp ? made.body : { tagId: red.id, [`${word}Id`]: id, tag, _embedded: embedded, _links: links },
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
    expect(await admin.delete(`${path}/${red.id}`)).toMatchObject({
      status: 404,
      body: { message: `There is no tag assignment ${red.id}` },
    });
    expect(await admin.get(`${path}/${red.id}`)).toMatchObject({
      status: 404,
      body: { message: `There is no tag assignment ${red.id}` },
    });
    expect((await admin.get(`/${kind}/${id}`)).body.tags).toEqual([blue.id]);
    expect(await admin.delete(`/tags/${blue.id}`)).toMatchObject({ status: 204 });
    expect((await admin.get(`/${kind}/${id}`)).body.tags).toEqual([]);
  });

  test('come with the body that makes it, and are replaced by the one that changes it', async ({ admin, ann }) => {
    const id = await FIXTURES[kind]!.create(admin, `body ${kind}`);
    const [one, two] = [
      await admin.creates('/tags', { name: `one ${kind}` }),
      await admin.creates('/tags', { name: `two ${kind}` }),
    ];
    const before = await admin.get(`/${kind}/${id}`);
    expect(await admin.put(`/${kind}/${id}`, { tags: [two.id, one.id.toUpperCase(), two.id] })).toMatchObject({
      status: 200,
      body: { tags: [one.id, two.id] },
    });
    expect(await admin.put(`/${kind}/${id}`, { tags: [] }, { 'if-match': before.headers.get('etag')! })).toMatchObject({
      status: 412,
    });
    expect(await admin.put(`/${kind}/${id}`, { tags: [two.id] })).toMatchObject({
      status: 200,
      body: { tags: [two.id] },
    });
    expect(await admin.put(`/${kind}/${id}`, { description: 'other' })).toMatchObject({
      status: 200,
      body: { tags: [two.id] },
    });
    expect(await admin.put(`/${kind}/${id}`, { tags: [two.id, UNKNOWN] })).toMatchObject({
      status: 404,
      body: { message: `There is no tag ${UNKNOWN}` },
    });
    expect(await admin.put(`/${kind}/${id}`, { tags: ['no id'] })).toMatchObject({
      status: 404,
      body: { message: 'There is no tag no id' },
    });
    expect((await admin.get(`/${kind}/${id}`)).body.tags).toEqual([two.id]);

    const { body } = await admin.get(`/${kind}/${id}`);
    expect(await admin.put(`/${kind}/${id}`, body)).toMatchObject({ status: 200, body: { tags: [two.id] } });
    expect(await admin.put(`/${kind}/${id}`, { tags: null })).toMatchObject({ status: 200, body: { tags: [] } });

    await admin.put(`/${kind}/${id}/shares/ann`, { accessLevel: 2 });
    expect(await ann.put(`/${kind}/${id}`, { tags: [one.id] })).toMatchObject({
      status: 200,
      body: { tags: [one.id] },
    });
    const inputs = await admin.data(`{ create: __type(name: "Create${type}Input") { inputFields { name } } }`);
    expect(inputs.create.inputFields).toContainEqual({ name: 'tags' });
  });

  test('are the same in GraphQL, in lists at no further statement', async ({ admin, service }) => {
    const id = await FIXTURES[kind]!.create(admin, `listed ${kind}`);
    const tag = await admin.creates('/tags', { name: `list ${kind}` });
    const made = await admin.data(
      `mutation { tag${type}(id: "${id}", tagId: "${tag.id}") { created resourceId tagId tag { name } } }`,
    );
    expect(made[`tag${type}`]).toEqual({ created: true, resourceId: id, tagId: tag.id, tag: { name: `list ${kind}` } });
    expect(
      (await admin.data(`mutation { tag${type}(id: "${id}", tagId: "${tag.id}") { created } }`))[`tag${type}`],
    ).toEqual({ created: false });

    const many = kind === 'queries' ? 'savedQueries' : kind;
    const { answer, statements } = await counted(service, () =>
      admin.data(
        `{ ${many}(q: "listed ${kind}") { items { name tags tagAssignments { tag { name permissions { edit } } } } total } }`,
      ),
    );
    expect(answer[many].items.find(({ name }: { name: string }) => name === `listed ${kind}`)).toEqual({
      name: `listed ${kind}`,
      tags: [tag.id],
      tagAssignments: [{ tag: { name: `list ${kind}`, permissions: { edit: true } } }],
    });
    expect(statements).toHaveLength(1);
    const list = await counted(service, () => admin.get(`/${kind}?q=listed ${kind}&sort=-createdAt`));
    expect(list.answer.body._embedded[`svc:${word}`][0]).toMatchObject({ id, tags: [tag.id] });
    expect(list.statements).toHaveLength(1);

    const field = lower(type);
    expect(
      (await admin.data(`{ ${field}(id: "${id}") { tags tagAssignment(tagId: "${tag.id}") { tagId created } } }`))[
        field
      ],
    ).toEqual({ tags: [tag.id], tagAssignment: { tagId: tag.id, created: false } });
    expect(await admin.gql(`{ ${field}(id: "${id}") { tagAssignment(tagId: "${UNKNOWN}") { tagId } } }`)).toMatchObject(
      { errors: [{ extensions: { code: 'NOT_FOUND' } }] },
    );
    expect((await admin.data(`mutation { untag${type}(id: "${id}", tagId: "${tag.id}") }`))[`untag${type}`]).toBe(
      tag.id,
    );
    expect((await admin.data(`{ ${field}(id: "${id}") { tags } }`))[field].tags).toEqual([]);
  });

  test('need a permission of their own, and a tag of the tenant', async ({ admin, ann, stranger }) => {
    const id = await FIXTURES[kind]!.create(admin, `guarded ${kind}`);
    const tag = await admin.creates('/tags', { name: `guard ${kind}` });
    const foreign = await stranger.creates('/tags', { name: `foreign ${kind}` });
    const path = `/${kind}/${id}/tags`;
    expect(await ann.put(`${path}/${tag.id}`)).toMatchObject({ status: 404 });
    await admin.put(`/${kind}/${id}/shares/ann`, { accessLevel: 1 });
    const lacking = { status: 403, body: { message: `You lack the permission ${word}:assignTags` } };
    expect(await ann.put(`${path}/${tag.id}`)).toMatchObject(lacking);
    expect(await ann.delete(`${path}/${tag.id}`)).toMatchObject(lacking);
    expect(await ann.gql(`mutation { tag${type}(id: "${id}", tagId: "${tag.id}") { id } }`)).toMatchObject({
      errors: [{ message: lacking.body.message, extensions: { code: 'FORBIDDEN' } }],
    });
    expect((await ann.get(path)).body.total).toBe(0);

    await admin.put(`/${kind}/${id}/shares/ann`, { accessLevel: 2 });
    for (const unknown of [foreign.id, UNKNOWN, 'no-id']) {
      expect(await ann.put(`${path}/${unknown}`)).toMatchObject({
        status: 404,
        body: { message: `There is no tag ${unknown}` },
      });
      expect(await ann.put(`/${kind}/${id}`, { tags: [unknown] })).toMatchObject({
        status: 404,
        body: { message: `There is no tag ${unknown}` },
      });
      expect(await ann.get(`${path}/${unknown}`)).toMatchObject({ status: 404 });
      expect(await ann.delete(`${path}/${unknown}`)).toMatchObject({ status: 404 });
      expect(await ann.get(`/${kind}?tag=${unknown}`)).toMatchObject({
        status: 404,
        body: { message: `There is no tag ${unknown}` },
      });
    }
    expect((await ann.put(`${path}/${tag.id}`)).status).toBeLessThan(300);
    expect(await stranger.get(path)).toMatchObject({ status: 404 });
    expect(await stranger.put(`${path}/${foreign.id}`)).toMatchObject({ status: 404 });
  });

  test('and the folder narrow lists, by id or name, to what the caller reads', async ({ admin, bob }) => {
    const many = kind === 'queries' ? 'savedQueries' : kind;
    const [id, other] = [
      await FIXTURES[kind]!.create(admin, `found ${kind}`),
      await FIXTURES[kind]!.create(admin, `unfound ${kind}`),
    ];
    const tag = await admin.creates('/tags', { name: `Look for ${kind}` });
    await admin.put(`/${kind}/${id}/tags/${tag.id}`);
    for (const given of [tag.id, `look FOR ${kind}`]) {
      expect((await admin.get(`/${kind}?tag=${given}`)).body).toMatchObject({
        total: 1,
        _embedded: { [`svc:${word}`]: [{ id }] },
      });
      expect((await admin.data(`{ ${many}(tag: "${given}") { items { id } total } }`))[many]).toEqual({
        items: [{ id }],
        total: 1,
      });
      expect((await bob.get(`/${kind}?tag=${given}`)).body).toMatchObject({ total: 0 });
    }
    await admin.delete(`/${kind}/${id}`);
    await admin.delete(`/${kind}/${other}`);
    expect((await admin.get(`/${kind}?tag=${tag.id}`)).body.total).toBe(0);
    expect(await admin.get(`/${kind}?folderId=${UNKNOWN}`)).toMatchObject({
      status: 404,
      body: { message: `There is no folder ${UNKNOWN}` },
    });
    expect(await admin.get(`/${kind}?folderId=none`)).toMatchObject({ status: 404 });
  });

  test('vanish with it', async ({ admin, service }) => {
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

describe('a tag', () => {
  test('is everybody’s to make and read, and its creator’s and superusers’ to change', async ({
    admin,
    ann,
    bob,
    stranger,
  }) => {
    const made = await ann.post('/tags', { name: '  Finance ', color: '#00FF7f', description: 'Money' });
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: 'Finance',
        color: '#00FF7f',
        description: 'Money',
        creatorId: ann.id,
        createdAt: expect.any(String),
        permissions: { read: true, edit: true, delete: true },
      },
    });
    const path = `/tags/${made.body.id}`;
    expect(made.headers.get('location')).toBe(`/api${path}`);
    expect(await bob.get(path)).toMatchObject({
      status: 200,
      body: { name: 'Finance', permissions: { read: true, edit: false, delete: false } },
    });
    expect((await bob.get(`${path}/permissions`)).body).toEqual({ read: true, edit: false, delete: false });
    expect(await bob.put(path, { name: 'Mine' })).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission tag:edit' },
    });
    expect(await bob.delete(path)).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission tag:delete' },
    });
    expect(await bob.gql(`mutation { deleteTag(id: "${made.body.id}") }`)).toMatchObject({
      errors: [{ message: 'You lack the permission tag:delete' }],
    });
    for (const method of ['get', 'delete'] as const)
      expect(await stranger[method](path)).toMatchObject({
        status: 404,
        body: { message: `There is no tag ${made.body.id}` },
      });

    expect(await ann.put(path, { color: null, description: null })).toMatchObject({
      status: 200,
      body: { name: 'Finance', color: null, description: null },
    });
    expect(await admin.put(path, { name: 'finance' })).toMatchObject({
      status: 200,
      body: { name: 'finance', creatorId: ann.id },
    });
    expect(await admin.put(path, (await admin.get(path)).body)).toMatchObject({ status: 200 });
    expect(await ann.delete(path, { 'if-match': 'W/"1"' })).toMatchObject({ status: 412 });
    expect(await ann.delete(path)).toMatchObject({ status: 204 });
    expect(await ann.get(path)).toMatchObject({ status: 404 });
  });

  test('has a name that no other of the tenant has, ignoring case, and a colour that is one', async ({
    ann,
    bob,
    stranger,
  }) => {
    const { id } = await ann.creates('/tags', { name: 'Ünique' });
    expect(await bob.post('/tags', { name: 'üNIQUE' })).toMatchObject({
      status: 409,
      body: { message: 'There is a tag "üNIQUE" already', code: 'CONFLICT' },
    });
    expect(
      (await Promise.all(Array.from({ length: 4 }, () => bob.post('/tags', { name: 'Race' }))))
        .map(({ status }) => status)
        .toSorted(),
    ).toEqual([201, 409, 409, 409]);
    const other = await ann.creates('/tags', { name: 'Other' });
    expect(await ann.put(`/tags/${other.id}`, { name: 'UNIQUE'.replace('U', 'Ü') })).toMatchObject({ status: 409 });
    expect(await stranger.post('/tags', { name: 'Ünique' })).toMatchObject({ status: 201 });

    for (const name of ['', ' ', 'x'.repeat(101), UNKNOWN, 'a\u0000b', null])
      expect(await ann.post('/tags', { name })).toMatchObject({ status: 400 });
    for (const color of ['#ff', '#12345', '#gggggg', 'url(x)', 'dark red'])
      expect(await ann.put(`/tags/${id}`, { color })).toMatchObject({
        status: 400,
        body: { message: 'color must be #rgb, #rrggbb or a colour’s name in CSS' },
      });
    for (const color of ['#F0a', '#ff00AA', 'rebeccapurple'])
      expect(await ann.put(`/tags/${id}`, { color })).toMatchObject({ status: 200, body: { color } });
    expect(await ann.put(`/tags/${id}`, { name: null })).toMatchObject({ status: 400 });
  });

  test('is listed with search, order and limit, in both APIs', async ({ service }) => {
    const carl = await service.user('carl', { tenant: 'other', permissions: [] });
    for (const name of ['zeta', 'Beta', 'alphabet']) await carl.creates('/tags', { name });
    expect((await carl.get('/tags?q=BET')).body).toMatchObject({
      total: 2,
      _embedded: { 'svc:tag': [{ name: 'alphabet' }, { name: 'Beta' }] },
    });
    expect((await carl.get('/tags?q=eta&sort=-name&limit=1')).body).toMatchObject({
      count: 1,
      total: 2,
      _embedded: { 'svc:tag': [{ name: 'zeta' }] },
      _links: { next: { href: expect.stringContaining('start=1') } },
    });
    expect(
      (await carl.data('{ tags(q: "bet", sort: "-createdAt") { items { name color creatorId } total } }')).tags,
    ).toEqual({
      items: [
        { name: 'alphabet', color: null, creatorId: carl.id },
        { name: 'Beta', color: null, creatorId: carl.id },
      ],
      total: 2,
    });
    const made = (
      await carl.data(
        'mutation { createTag(input: { name: "Gamma", color: "gold" }) { id name color permissions { delete } } }',
      )
    ).createTag;
    expect(made).toEqual({ id: made.id, name: 'Gamma', color: 'gold', permissions: { delete: true } });
    expect(
      await carl.data(`mutation { updateTag(id: "${made.id}", input: { description: "third" }) { description } }`),
    ).toEqual({ updateTag: { description: 'third' } });
    expect(await carl.data(`{ tag(id: "${made.id}") { name } node(id: "${made.id}") { __typename } }`)).toEqual({
      tag: { name: 'Gamma' },
      node: { __typename: 'Tag' },
    });
    expect(await carl.data(`mutation { deleteTag(id: "${made.id}") }`)).toEqual({ deleteTag: made.id });
  });
});
