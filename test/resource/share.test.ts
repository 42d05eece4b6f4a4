import { describe, expect } from 'vitest';
import { FIXTURES, READABLE_BY_ALL } from '../conformance/fixtures.ts';
import { test as world } from '../support/fixture.ts';

/** The kinds that people own and share; each is tried the same way. */
const KINDS = Object.keys(FIXTURES).filter((kind) => !READABLE_BY_ALL.has(kind));
const NAMES: Record<string, string> = { queries: 'SavedQuery', datasets: 'Dataset', datasources: 'Datasource' };
const typeOf = (kind: string) => NAMES[kind] ?? kind[0]!.toUpperCase() + kind.slice(1, -1);
const lower = (word: string) => word[0]!.toLowerCase() + word.slice(1);

const test = world;

describe.each(KINDS)('a share of one of the %s', (kind) => {
  const type = typeOf(kind);
  const word = kind === 'queries' ? 'query' : lower(type);

  test('gives what its level says, to users and to members of teams, and the highest wins', async ({
    admin,
    ann,
    bob,
    stranger,
  }) => {
    const id = await FIXTURES[kind]!.create(admin, `shared ${kind}`);
    const path = `/${kind}/${id}`;
    const team = await admin.creates('/teams', { name: `${kind} readers` });
    await admin.put(`/teams/${team.id}/members/bob`, { role: 'member' });
    expect(await ann.get(path)).toMatchObject({ status: 404 });

    expect(await admin.put(`${path}/shares/ann`, { accessLevel: 1 })).toMatchObject({
      status: 200,
      body: {
        [`${word}Id`]: id,
        principalId: ann.id,
        principal: { id: ann.id, name: 'ann', type: 'user' },
        accessLevel: 1,
      },
    });
    expect(await ann.get(path)).toMatchObject({
      status: 200,
      body: { permissions: { read: true, write: false, share: false, delete: false } },
    });
    expect((await ann.get(`/${kind}?q=shared`)).body._embedded[`svc:${word}`]).toMatchObject([{ id }]);
    expect(await ann.put(path, { name: 'mine' })).toMatchObject({
      status: 403,
      body: { message: `You lack the permission ${word}:write` },
    });

    await admin.put(`${path}/shares/ann`, { accessLevel: 2 });
    expect(await ann.put(path, { description: 'seen' })).toMatchObject({ status: 200, body: { description: 'seen' } });
    expect(await ann.put(`${path}/shares/bob`, { accessLevel: 1 })).toMatchObject({
      status: 403,
      body: { message: `You lack the permission ${word}:share` },
    });
    expect(await ann.delete(path)).toMatchObject({ status: 403 });

    await admin.put(`${path}/shares/ann`, { accessLevel: 3 });
    expect(await ann.put(`${path}/shares/team:${team.id}`, { accessLevel: 1 })).toMatchObject({
      status: 200,
      body: { principalId: `team:${team.id}`, principal: { type: 'team', name: `${kind} readers` } },
    });
    expect(await bob.get(path)).toMatchObject({ status: 200, body: { permissions: { read: true, write: false } } });
    await admin.put(`${path}/shares/${bob.id}`, { accessLevel: 2 });
    expect((await bob.get(`${path}/permissions`)).body).toMatchObject({ read: true, write: true, share: false });

    expect((await bob.get(`${path}/shares`)).body).toMatchObject({
      total: 3,
      _embedded: {
        'svc:share': [
          { principalId: ann.id, accessLevel: 3 },
          { principalId: `team:${team.id}`, accessLevel: 1 },
          { principalId: bob.id, accessLevel: 2 },
        ],
      },
    });
    expect(await stranger.get(`${path}/shares`)).toMatchObject({ status: 404 });

    expect(await ann.delete(`${path}/shares/${bob.id}`)).toMatchObject({ status: 204 });
    expect((await bob.get(path)).body.permissions.write).toBe(false);
    expect(await ann.delete(`${path}/shares/team:${team.id}`)).toMatchObject({ status: 204 });
    expect(await bob.get(path)).toMatchObject({ status: 404 });
    expect(await ann.get(`${path}/shares/bob`)).toMatchObject({
      status: 404,
      body: { message: 'There is no share bob' },
    });
  });

  test('is the same in GraphQL', async ({ admin, ann }) => {
    const id = await FIXTURES[kind]!.create(admin, `told ${kind}`);
    const made = await admin.gql(
      `mutation { share${type}(id: "${id}", principalId: "ann", input: { accessLevel: 2 }) { resourceId principalId accessLevel principal { name type } } }`,
    );
    expect(made.data).toEqual({
      [`share${type}`]: {
        resourceId: id,
        principalId: ann.id,
        accessLevel: 2,
        principal: { name: 'ann', type: 'USER' },
      },
    });
    expect(
      (
        await ann.gql(
          `{ ${lower(type)}(id: "${id}") { permissions { read write share } shares { accessLevel } share(principalId: "ann") { accessLevel } } }`,
        )
      ).data,
    ).toEqual({
      [lower(type)]: {
        permissions: { read: true, write: true, share: false },
        shares: [{ accessLevel: 2 }],
        share: { accessLevel: 2 },
      },
    });
    expect(await ann.gql(`mutation { unshare${type}(id: "${id}", principalId: "ann") }`)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
    expect((await admin.gql(`mutation { unshare${type}(id: "${id}", principalId: "ann") }`)).data).toEqual({
      [`unshare${type}`]: 'ann',
    });
    expect(await ann.get(`/${kind}/${id}`)).toMatchObject({ status: 404 });
  });

  test('refuses levels and principals that there are not, and goes with its principal and its resource', async ({
    admin,
    service,
  }) => {
    const id = await FIXTURES[kind]!.create(admin, `refused ${kind}`);
    for (const accessLevel of [0, 4, -1])
      expect(await admin.put(`/${kind}/${id}/shares/ann`, { accessLevel })).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('accessLevel') },
      });
    expect(await admin.put(`/${kind}/${id}/shares/nobody`, { accessLevel: 1 })).toMatchObject({
      status: 404,
      body: { message: 'There is no user nobody' },
    });
    const leaving = await service.user(`leaving-${kind}`);
    await admin.put(`/${kind}/${id}/shares/${leaving.id}`, { accessLevel: 1 });
    await admin.delete(`/users/leaving-${kind}`);
    expect((await admin.get(`/${kind}/${id}/shares`)).body.total).toBe(0);
    await admin.put(`/${kind}/${id}/shares/ann`, { accessLevel: 1 });
    await admin.delete(`/${kind}/${id}`);
    expect(
      await service.platform.system.query({ text: 'select id from dws.share where resource_id = $1', values: [id] }),
    ).toEqual([]);
  });

  test('does not touch what its owner may, who hands it on', async ({ admin, ann, bob }) => {
    const id = await FIXTURES[kind]!.create(admin, `owned ${kind}`, `user:${ann.id}`);
    await admin.put(`/${kind}/${id}/shares/ann`, { accessLevel: 1 });
    expect((await ann.get(`/${kind}/${id}/permissions`)).body).toMatchObject({
      write: true,
      delete: true,
      changeOwner: true,
    });
    expect((await ann.get(`/${kind}/${id}/owner`)).body).toMatchObject({
      ownerId: ann.id,
      owner: { id: ann.id, name: 'ann', type: 'user' },
    });
    expect(await ann.put(`/${kind}/${id}/owner`, { ownerId: 'bob' })).toMatchObject({
      status: 200,
      body: { ownerId: bob.id },
    });
    expect((await ann.get(`/${kind}/${id}`)).body.permissions).toMatchObject({ read: true, write: false });
    expect(await ann.put(`/${kind}/${id}/owner`, { ownerId: 'ann' })).toMatchObject({
      status: 403,
      body: { message: `You lack the permission ${word}:changeOwner` },
    });
    expect(
      (await bob.gql(`mutation { set${type}Owner(id: "${id}", ownerId: "admin") { owner { name } } }`)).data,
    ).toEqual({ [`set${type}Owner`]: { owner: { name: 'admin' } } });
  });
});
