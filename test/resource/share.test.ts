import { describe, expect } from 'vitest';
import { FIXTURES, namesOf, SHARED_PATHS } from '../conformance/fixtures.ts';
import { expectBody, expectError, expectGraphqlError, expectInvalid } from '../support/expect.ts';
import { test } from '../support/fixture.ts';

// The shares of libraries: test/library/library-share.test.ts.
describe.each(SHARED_PATHS)('a share of one of the %s', (kind) => {
  const { word, type, one } = namesOf(kind);

  test('grants the permissions of its level to users and team members, and the highest level counts', async ({
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

    await expectBody(admin.put(`${path}/shares/ann`, { accessLevel: 1 }), 200, {
      [`${word}Id`]: id,
      principalId: ann.id,
      principal: { id: ann.id, name: 'ann', type: 'user' },
      accessLevel: 1,
    });
    await expectBody(ann.get(path), 200, { permissions: { read: true, write: false, share: false, delete: false } });
    expect((await ann.get(`/${kind}?q=shared`)).body._embedded[`svc:${word}`]).toMatchObject([{ id }]);
    await expectError(
      ann.put(path, { name: 'mine' }),
      403,
      `You lack the permission ${word}:${kind === 'jobs' ? 'edit' : 'write'}`,
    );

    await admin.put(`${path}/shares/ann`, { accessLevel: 2 });
    await expectBody(ann.put(path, { description: 'seen' }), 200, { description: 'seen' });
    await expectError(ann.put(`${path}/shares/bob`, { accessLevel: 1 }), 403, `You lack the permission ${word}:share`);
    expect(await ann.delete(path)).toMatchObject({ status: 403 });

    await admin.put(`${path}/shares/ann`, { accessLevel: 3 });
    await expectBody(ann.put(`${path}/shares/team:${team.id}`, { accessLevel: 1 }), 200, {
      principalId: `team:${team.id}`,
      principal: { type: 'team', name: `${kind} readers` },
    });
    await expectBody(bob.get(path), 200, { permissions: { read: true, write: false } });
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
    // The bare id of a team, in both APIs.
    const shared = { principalId: `team:${team.id}`, principal: { type: 'team' } };
    await expectBody(admin.put(`${path}/shares/${team.id}`, { accessLevel: 1 }), 200, shared);
    await expectBody(admin.get(`${path}/shares/${team.id}`), 200, shared);
    await admin.data(`mutation { unshare${type}(id: "${id}", principalId: "${team.id}") }`);
    await expectError(admin.get(`${path}/shares/team:${team.id}`), 404);
    await expectError(admin.put(`${path}/shares/${id}`, { accessLevel: 1 }), 404, `There is no user ${id}`);
    expect(await bob.get(path)).toMatchObject({ status: 404 });
    await expectError(ann.get(`${path}/shares/bob`), 404, 'There is no share bob');
  });

  test('has the same fields and permissions in GraphQL', async ({ admin, ann }) => {
    const id = await FIXTURES[kind]!.create(admin, `shared in GraphQL ${kind}`);
    const shared = await admin.gql(
      `mutation {
        share${type}(id: "${id}", principalId: "ann", input: { accessLevel: EDIT }) {
          resourceId principalId accessLevel
          principal { name type }
        }
      }`,
    );
    expect(shared.data).toEqual({
      [`share${type}`]: {
        resourceId: id,
        principalId: ann.id,
        accessLevel: 'EDIT',
        principal: { name: 'ann', type: 'USER' },
      },
    });
    expect(
      (
        await ann.gql(
          `{
            ${one}(id: "${id}") {
              permissions { read write share }
              shares { accessLevel }
              share(principalId: "ann") { accessLevel }
            }
          }`,
        )
      ).data,
    ).toEqual({
      [one]: {
        permissions: { read: true, write: true, share: false },
        shares: [{ accessLevel: 'EDIT' }],
        share: { accessLevel: 'EDIT' },
      },
    });
    await expectGraphqlError(ann.gql(`mutation { unshare${type}(id: "${id}", principalId: "ann") }`), 'FORBIDDEN');
    expect((await admin.gql(`mutation { unshare${type}(id: "${id}", principalId: "ann") }`)).data).toEqual({
      [`unshare${type}`]: 'ann',
    });
    expect(await ann.get(`/${kind}/${id}`)).toMatchObject({ status: 404 });
  });

  test('is refused for an unknown level or principal, and deleted with its principal and its resource', async ({
    admin,
    service,
  }) => {
    const id = await FIXTURES[kind]!.create(admin, `refused ${kind}`);
    for (const accessLevel of [4, -1, 'EDIT', '2'])
      await expectError(
        admin.put(`/${kind}/${id}/shares/ann`, { accessLevel }),
        400,
        `"accessLevel" cannot be ${JSON.stringify(accessLevel)}`,
      );
    await expectInvalid(
      admin.put(`/${kind}/${id}/shares/ann`, { accessLevel: 0 }),
      'accessLevel',
      'accessLevel must be one of 1, 2, 3',
    );
    await expectGraphqlError(
      admin.gql(`mutation { share${type}(id: "${id}", principalId: "ann", input: { accessLevel: NONE }) { id } }`),
      'BAD_USER_INPUT',
      'accessLevel must be one of 1, 2, 3',
    );
    for (const level of ['2', 'OWNER'])
      await expectGraphqlError(
        admin.gql(
          `mutation { share${type}(id: "${id}", principalId: "ann", input: { accessLevel: ${level} }) { id } }`,
        ),
        'BAD_USER_INPUT',
        /ShareLevel/,
      );
    await expectError(admin.put(`/${kind}/${id}/shares/nobody`, { accessLevel: 1 }), 404, 'There is no user nobody');
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

  test('does not restrict the owner, who can transfer the resource', async ({ admin, ann, bob }) => {
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
    await expectBody(ann.put(`/${kind}/${id}/owner`, { ownerId: 'bob' }), 200, { ownerId: bob.id });
    expect((await ann.get(`/${kind}/${id}`)).body.permissions).toMatchObject({ read: true, write: false });
    await expectError(
      ann.put(`/${kind}/${id}/owner`, { ownerId: 'ann' }),
      403,
      `You lack the permission ${word}:${kind === 'jobs' ? 'edit' : 'changeOwner'}`,
    );
    expect(
      (await bob.gql(`mutation { set${type}Owner(id: "${id}", ownerId: "admin") { owner { name } } }`)).data,
    ).toEqual({ [`set${type}Owner`]: { owner: { name: 'admin' } } });
  });
});
