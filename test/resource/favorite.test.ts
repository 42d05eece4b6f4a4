import { describe, expect } from 'vitest';
import { FIXTURES, namesOf, OWNED_PATHS, singularOf } from '../conformance/fixtures.ts';
import { test } from '../support/fixture.ts';
import { recordStatements } from '../support/statement-log.ts';

describe.each(OWNED_PATHS)('a favourite among the %s', (kind) => {
  const { word, type, one, many } = namesOf(kind);
  const isQuery = kind === 'queries';

  test('is visible to its user only, and requires read access only', async ({ admin, ann, bob, stranger }) => {
    const id = await FIXTURES[kind]!.create(admin, `liked ${kind}`);
    const path = `/${kind}/${id}/favorite`;
    for (const outsider of [ann, stranger])
      for (const method of ['get', 'put', 'delete'] as const)
        expect(await outsider[method](path)).toMatchObject({ status: 404 });
    for (const reader of ['ann', 'bob']) await admin.put(`/${kind}/${id}/shares/${reader}`, { accessLevel: 1 });

    const absent = isQuery
      ? { status: 404, body: { message: `There is no favorite of saved query ${id}` } }
      : { status: 200, body: { favorited: false } };
    const present = isQuery
      ? { status: 200, body: { queryId: id, userId: ann.id, createdAt: expect.stringMatching(/^\d{4}-.*Z$/) } }
      : { status: 200, body: { favorited: true } };
    expect(await ann.get(path)).toMatchObject(absent);
    const added = await ann.put(path);
    expect(added).toMatchObject(present);
    if (!isQuery) expect(added.body).toEqual({ favorited: true });
    expect(await ann.put(path, {})).toMatchObject({
      status: 200,
      body: isQuery ? { createdAt: added.body.createdAt } : { favorited: true },
    });
    expect(await ann.get(path)).toMatchObject(present);
    for (const other of [admin, bob]) expect(await other.get(path)).toMatchObject(absent);

    expect(await bob.delete(path)).toMatchObject({ status: 204, body: '' });
    expect(await ann.get(path)).toMatchObject(present);
    for (let i = 0; i < 2; i++) expect(await ann.delete(path)).toMatchObject({ status: 204 });
    expect(await ann.get(path)).toMatchObject(absent);
  });

  test('is a field in GraphQL, for which a list takes one more statement', async ({ admin, ann, service }) => {
    const [id, other] = [
      await FIXTURES[kind]!.create(admin, `marked ${kind}`),
      await FIXTURES[kind]!.create(admin, `marked also ${kind}`),
    ];
    for (const resource of [id, other]) await admin.put(`/${kind}/${resource}/shares/ann`, { accessLevel: 1 });
    const favorite = (await ann.data(`mutation { favorite${type}(id: "${id}") { resourceId userId createdAt } }`))[
      `favorite${type}`
    ];
    expect(favorite).toEqual({ resourceId: id, userId: ann.id, createdAt: expect.any(String) });

    const { result, statements } = await recordStatements(service, () =>
      ann.data(`{ ${many}(q: "marked", sort: "createdAt") { items { id favorited favorite { userId createdAt } } } }`),
    );
    expect(result[many].items).toEqual([
      { id, favorited: true, favorite: { userId: ann.id, createdAt: favorite.createdAt } },
      { id: other, favorited: false, favorite: null },
    ]);
    expect(statements).toHaveLength(2);
    expect((await recordStatements(service, () => ann.data(`{ ${many} { items { id } } }`))).statements).toHaveLength(
      1,
    );
    expect((await admin.data(`{ ${one}(id: "${id}") { favorited favorite { id } } }`))[one]).toEqual({
      favorited: false,
      favorite: null,
    });
    expect((await ann.data(`mutation { unfavorite${type}(id: "${id}") }`))[`unfavorite${type}`]).toBe(id);
    expect((await ann.data(`{ ${one}(id: "${id}") { favorited } }`))[one]).toEqual({ favorited: false });
  });

  test('filters lists in both APIs', async ({ admin, bob, service }) => {
    const user = await service.user(`keen-${kind}`);
    const [liked, plain] = [
      await FIXTURES[kind]!.create(admin, `narrow ${kind}`),
      await FIXTURES[kind]!.create(admin, `wide ${kind}`),
    ];
    for (const id of [liked, plain]) await admin.put(`/${kind}/${id}/shares/${user.id}`, { accessLevel: 1 });
    await user.put(`/${kind}/${liked}/favorite`);
    expect((await user.get(`/${kind}?favorite=true`)).body).toMatchObject({
      total: 1,
      _embedded: { [`svc:${word}`]: [{ id: liked }] },
    });
    expect((await user.get(`/${kind}?favorite=false`)).body).toMatchObject({
      total: 1,
      _embedded: { [`svc:${word}`]: [{ id: plain }] },
    });
    const { result, statements } = await recordStatements(service, () =>
      user.data(`{ ${many}(favorite: true) { items { id tags } total } }`),
    );
    expect(result[many]).toEqual({ items: [{ id: liked, tags: [] }], total: 1 });
    expect(statements).toHaveLength(1);
    expect((await bob.get(`/${kind}?favorite=true`)).body.total).toBe(0);
    expect(await user.get(`/${kind}?favorite=yes`)).toMatchObject({ status: 400 });
  });

  test('is stored once for concurrent requests, and deleted with its resource and its user', async ({
    admin,
    service,
  }) => {
    const [id, other] = [
      await FIXTURES[kind]!.create(admin, `brief ${kind}`),
      await FIXTURES[kind]!.create(admin, `long ${kind}`),
    ];
    const rows = (resource: string) =>
      service.platform.system.query<{ kind: string }>({
        text: 'select kind from dws.favorite where resource_id = $1',
        values: [resource],
      });
    expect(
      (await Promise.all(Array.from({ length: 4 }, () => admin.put(`/${kind}/${id}/favorite`)))).map(
        ({ status }) => status,
      ),
    ).toEqual([200, 200, 200, 200]);
    expect(await rows(id)).toEqual([{ kind: word }]);
    await admin.delete(`/${kind}/${id}`);
    expect(await rows(id)).toEqual([]);

    const leaving = await service.user(`leaving-${kind}`);
    await admin.put(`/${kind}/${other}/shares/${leaving.id}`, { accessLevel: 1 });
    await leaving.put(`/${kind}/${other}/favorite`);
    expect(await rows(other)).toHaveLength(1);
    await admin.delete(`/users/leaving-${kind}`);
    expect(await rows(other)).toEqual([]);
  });
});

describe('the list of favourites', () => {
  test('contains every kind, newest first, without resources that the user may no longer read', async ({
    admin,
    service,
  }) => {
    const user = await service.user('collector');
    const collected: { kind: string; id: string }[] = [];
    for (const kind of OWNED_PATHS) {
      const id = await FIXTURES[kind]!.create(admin, `collected ${kind}`);
      await admin.put(`/${kind}/${id}/shares/${user.id}`, { accessLevel: 1 });
      await user.put(`/${kind}/${id}/favorite`);
      collected.unshift({ kind, id });
    }
    const { result, statements } = await recordStatements(service, () => user.get('/me/favorites'));
    expect(statements).toHaveLength(1);
    expect(result.body).toMatchObject({
      total: collected.length,
      start: 0,
      _links: { self: { href: '/api/me/favorites' } },
    });
    expect(result.body._embedded['svc:favorite']).toEqual(
      collected.map(({ kind, id }) => ({
        kind: singularOf(kind),
        id,
        name: `collected ${kind}`,
        createdAt: expect.stringMatching(/Z$/),
        _links: { self: { href: `/api/${kind}/${id}/favorite` }, 'svc:resource': { href: `/api/${kind}/${id}` } },
      })),
    );
    expect(
      (await user.data('{ favorites(q: "COLLECTED QUER", limit: 5) { items { kind name } total } }')).favorites,
    ).toEqual({ items: [{ kind: 'QUERY', name: 'collected queries' }], total: 1 });
    expect((await user.get('/me/favorites?sort=name&start=1&limit=1')).body._embedded['svc:favorite']).toMatchObject([
      { name: `collected ${OWNED_PATHS.toSorted()[1]}` },
    ]);

    const lost = collected[0]!;
    await admin.delete(`/${lost.kind}/${lost.id}/shares/${user.id}`);
    expect((await user.get('/me/favorites')).body.total).toBe(collected.length - 1);
    expect((await admin.get('/me/favorites?q=collected')).body).toMatchObject({
      total: 0,
      _embedded: { 'svc:favorite': [] },
    });
  });
});
