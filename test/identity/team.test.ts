import { describe, expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';

describe('creating a team', () => {
  test('requires teams:create and adds the caller as admin', async ({ service, ann }) => {
    const lead = await service.user('lead', { permissions: ['teams:create'] });
    const created = await lead.post('/teams', { name: ' Data Müller & Co ', description: 'Numbers' });
    const body = await expectBody(created, 201, {
      name: 'Data Müller & Co',
      slug: 'data-muller-co',
      naturalId: 'default:data-muller-co',
      tenant: 'default',
      description: 'Numbers',
      members: [{ userId: lead.id, role: 'admin', user: { username: 'lead' } }],
      permissions: { read: true, edit: true, delete: true },
    });
    expect(created.headers.get('location')).toBe(`/api/teams/${body.id}`);
    await expectError(ann.post('/teams', { name: 'Mine' }), 403, 'You lack the permission teams:create');
  });

  test('derives a unique slug and refuses one that is in use', async ({ admin }) => {
    await admin.creates('/teams', { name: 'Slug source' });
    await expectBody(admin.post('/teams', { name: 'Slug source' }), 201, { slug: 'slug-source-2' });
    await expectError(
      admin.post('/teams', { name: 'Third', slug: 'slug-source' }),
      409,
      'The slug "slug-source" is already in use',
    );
  });

  test('refuses invalid names and slugs and unknown keys', async ({ admin }) => {
    for (const body of [
      {},
      { name: ' ' },
      { name: 'a', slug: 'No Slug' },
      { name: 'a', slug: '01900000-0000-7000-8000-000000000000' },
      { name: 'a', members: [] },
    ])
      await expectStatus(admin.post('/teams', body), 400, JSON.stringify(body));
  });
});

describe('a team', () => {
  test('is found by id, slug and natural id, by all users of its tenant only', async ({ admin, ann, stranger }) => {
    const { id } = await admin.creates('/teams', { name: 'Findable' });
    for (const key of [id, id.toUpperCase(), 'findable', 'default:findable'])
      await expectBody(ann.get(`/teams/${key}`), 200, { id, permissions: { read: true, edit: false, delete: false } });
    expect(await ann.data('{ team(id: "findable") { name members { user { username } role } } }')).toEqual({
      team: { name: 'Findable', members: [{ user: { username: 'admin' }, role: 'ADMIN' }] },
    });
    for (const key of [id, 'findable', 'default:findable', 'other:findable'])
      await expectStatus(stranger.get(`/teams/${key}`), 404, key);
    await expectStatus(ann.get('/teams/other:findable'), 404);
    expect((await stranger.data('{ teams { total } }')).teams.total).toBe(0);
  });

  test('is updated by its admins', async ({ admin, ann, bob }) => {
    const { id } = await admin.creates('/teams', { name: 'Changing' });
    const path = `/teams/${id}`;
    await admin.put(`${path}/members/ann`, { role: 'admin' });
    await admin.put(`${path}/members/bob`, { role: 'memberPlus' });
    await expectBody(ann.put(path, { name: 'Changed', description: 'now' }), 200, {
      name: 'Changed',
      slug: 'changing',
      description: 'now',
      permissions: { edit: true },
    });
    await expectBody(ann.put(path, { description: null, slug: 'changed' }), 200, {
      description: null,
      slug: 'changed',
    });
    await expectStatus(ann.put(path, { name: null }), 400);
    const record = (await ann.get(path)).body;
    await expectBody(ann.put(path, { ...record, name: 'Sent back' }), 200, { name: 'Sent back' });
    await expectStatus(ann.put(path, { naturalId: 'other:x' }), 400);
    await expectError(bob.put(path, { name: 'Bob' }), 403, 'You lack the permission team:edit');
  });

  test('is deleted by its admins', async ({ service, admin, ann, bob }) => {
    const { id } = await admin.creates('/teams', { name: 'Deleted' });
    const path = `/teams/${id}`;
    await admin.put(`${path}/members/ann`, { role: 'admin' });
    await admin.put(`${path}/members/bob`, { role: 'memberPlus' });
    await expectError(bob.delete(path), 403, 'You lack the permission team:delete');
    await expectGraphqlError(bob.gql(`mutation { deleteTeam(id: "${id}") }`), 'FORBIDDEN');
    const session = await service.login('ann');
    await expectStatus(session.delete(path), 204);
    await expectStatus(ann.get(path), 404);
    await expectStatus(ann.put(path, { name: 'x' }), 404);
  });

  test('transfers its resources to the named principal, by default to the caller', async ({ service, admin, bob }) => {
    const createTeamWithDatasource = async (name: string): Promise<string> => {
      const { id } = await admin.creates('/teams', { name });
      await systemQuery(
        service,
        `insert into dws.datasource (id, tenant_id, name, slug, owner_id, type)
        select gen_random_uuid(), tenant_id, $2, $2, 'team:' || id, 'postgres' from dws.team where id = $1`,
        id,
        `of-${name}`,
      );
      return id;
    };
    const ownerOf = async (slug: string) =>
      (await systemQuery(service, `select owner_id as owner from dws.datasource where slug = $1`, slug))[0]!['owner'];
    const [one, two] = [await createTeamWithDatasource('one'), await createTeamWithDatasource('two')];
    await expectStatus(admin.delete(`/teams/one?transferTo=team:${one}`), 400);
    await expectStatus(admin.delete('/teams/one?transferTo=user:nobody'), 404);
    await expectStatus(admin.delete(`/teams/one?transferTo=bob`), 204);
    expect(await ownerOf('of-one')).toBe(`user:${bob.id}`);
    await expectStatus(admin.delete(`/teams/${two}`), 204);
    expect(await ownerOf('of-two')).toBe(`user:${admin.id}`);
  });

  test('obeys If-Match, as do its memberships', async ({ admin, ann }) => {
    const { id } = await admin.creates('/teams', { name: 'Versioned' });
    const path = `/teams/${id}`;
    const ofTeam = { 'if-match': (await admin.get(path)).headers.get('etag')! };
    await expectStatus(admin.put(path, { description: 'one' }, ofTeam), 200);
    await expectStatus(admin.put(path, { description: 'two' }, ofTeam), 412);
    const member = `${path}/members/${ann.username}`;
    await admin.put(member, { role: 'member' });
    const ofMember = { 'if-match': (await admin.get(member)).headers.get('etag')! };
    await expectStatus(admin.put(member, { role: 'memberPlus' }, ofMember), 200);
    await expectStatus(admin.delete(member, ofMember), 412);
  });
});

describe('the members of a team', () => {
  const FORBIDDEN = { code: 'FORBIDDEN' };

  test('are added and changed by its admins, with immediate effect', async ({ admin, ann, bob }) => {
    const { id } = await admin.creates('/teams', { name: 'Members' });
    const members = `/teams/${id}/members`;
    await expectBody(ann.put(`${members}/ann`, { role: 'admin' }), 403, FORBIDDEN);
    await expectBody(admin.put(`${members}/ANN`, { role: 'admin' }), 200, {
      teamId: id,
      userId: ann.id,
      role: 'admin',
      user: { username: 'ann' },
      _links: { self: { href: `/api${members}/ann` } },
    });
    await expectBody(ann.put(`${members}/${bob.id}`, { role: 'member' }), 200, { role: 'member' });
    await expectBody(bob.put(`${members}/bob`, { role: 'admin' }), 403, FORBIDDEN);
    expect(
      await ann.data(
        `mutation {
          setTeamMember(id: "${id}", username: "bob", role: MEMBER_PLUS) { role user { username } team { name } }
        }`,
      ),
    ).toEqual({ setTeamMember: { role: 'MEMBER_PLUS', user: { username: 'bob' }, team: { name: 'Members' } } });
    await expectBody(bob.get(members), 200, {
      total: 3,
      _embedded: { 'svc:membership': [{ role: 'admin' }, { role: 'admin' }, { role: 'memberPlus' }] },
    });
    await expectBody(bob.get(`${members}/bob`), 200, { role: 'memberPlus' });
  });

  test('are demoted and removed by its admins, with immediate effect', async ({ admin, ann, bob }) => {
    const { id } = await admin.creates('/teams', { name: 'Former members' });
    const members = `/teams/${id}/members`;
    await admin.put(`${members}/${ann.username}`, { role: 'admin' });
    await admin.put(`${members}/${bob.username}`, { role: 'member' });
    await expectStatus(ann.put(`/teams/${id}`, { description: 'as admin' }), 200);
    await expectStatus(admin.put(`${members}/ann`, { role: 'member' }), 200);
    await expectBody(ann.put(`/teams/${id}`, { name: 'Anns' }), 403, FORBIDDEN);
    await expectBody(ann.delete(`${members}/bob`), 403, FORBIDDEN);
    await expectStatus(admin.delete(`${members}/bob`), 204);
    await expectStatus(admin.get(`${members}/bob`), 404);
    await expectStatus(admin.delete(`${members}/bob`), 404);
  });

  test('are users of the tenant with a known role', async ({ admin, bob }) => {
    const { id } = await admin.creates('/teams', { name: 'Known roles' });
    const members = `/teams/${id}/members`;
    await expectError(admin.put(`${members}/nobody`, { role: 'member' }), 404, 'There is no user nobody');
    for (const body of [{ role: 'owner' }, { role: 'MEMBER' }, {}, { role: 'member', since: 1 }])
      await expectStatus(admin.put(`${members}/${bob.username}`, body), 400, JSON.stringify(body));
  });

  test('can leave, and lose their access immediately', async ({ admin, bob }) => {
    const { id } = await admin.creates('/teams', { name: 'Leaving' });
    const path = `/teams/${id}`;
    await admin.put(`${path}/members/bob`, { role: 'admin' });
    await expectStatus(bob.put(path, { description: 'mine' }), 200);
    await expectStatus(bob.delete(`${path}/members/BOB`), 204);
    await expectBody(bob.put(path, { description: 'still mine' }), 403, FORBIDDEN);
    await expectStatus(bob.delete(`${path}/members/bob`), 404);
  });

  test('are removed when their user is deleted, while the team stays', async ({ service, admin }) => {
    const { id } = await admin.creates('/teams', { name: 'Staying' });
    await service.user('leaver');
    await admin.put(`/teams/${id}/members/leaver`, { role: 'admin' });
    await admin.delete('/users/leaver');
    const { members } = (await admin.get(`/teams/${id}`)).body;
    expect(members.map(({ user }: { user: { username: string } }) => user.username)).toEqual(['admin']);
  });

  test('are all added by concurrent requests', async ({ service, admin }) => {
    const { id } = await admin.creates('/teams', { name: 'Busy' });
    const users = await Promise.all(Array.from({ length: 6 }, (_, n) => service.user(`busy${n}`)));
    const responses = await Promise.all(
      [...users, ...users].map(({ username }) => admin.put(`/teams/${id}/members/${username}`, { role: 'member' })),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect((await admin.get(`/teams/${id}/members`)).body.total).toBe(7);
  });
});
