import { describe, expect } from 'vitest';
import { test } from '../support/fixture.ts';
import type { Service } from '../support/service.ts';

const sql = (service: Service, text: string, ...values: unknown[]) => service.platform.system.query({ text, values });
const FORBIDDEN = { status: 403, body: { code: 'FORBIDDEN' } };

describe('a team', () => {
  test('is made by who may create teams; they become its admin', async ({ service, ann }) => {
    const lead = await service.user('lead', { permissions: ['teams:create'] });
    const made = await lead.post('/teams', { name: ' Data Müller & Co ', description: 'Numbers' });
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: 'Data Müller & Co',
        slug: 'data-muller-co',
        naturalId: 'default:data-muller-co',
        tenant: 'default',
        description: 'Numbers',
        members: [{ userId: lead.id, role: 'admin', user: { username: 'lead' } }],
        permissions: { read: true, edit: true, delete: true },
      },
    });
    expect(made.headers.get('location')).toBe(`/api/teams/${made.body.id}`);
    expect(await lead.post('/teams', { name: 'Data Müller & Co' })).toMatchObject({
      status: 201,
      body: { slug: 'data-muller-co-2' },
    });
    expect(await lead.post('/teams', { name: 'Third', slug: 'data-muller-co' })).toMatchObject({
      status: 409,
      body: { message: 'The slug "data-muller-co" is already in use' },
    });
    expect(await ann.post('/teams', { name: 'Mine' })).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission teams:create' },
    });
    for (const body of [
      {},
      { name: ' ' },
      { name: 'a', slug: 'No Slug' },
      { name: 'a', slug: '01900000-0000-7000-8000-000000000000' },
      { name: 'a', members: [] },
    ])
      expect(await lead.post('/teams', body), JSON.stringify(body)).toMatchObject({ status: 400 });
  });

  test('is found by id, slug and natural id, by everybody in the tenant and nobody else', async ({
    admin,
    ann,
    stranger,
  }) => {
    const { id } = await admin.creates('/teams', { name: 'Findable' });
    for (const key of [id, id.toUpperCase(), 'findable', 'default:findable'])
      expect(await ann.get(`/teams/${key}`), key).toMatchObject({
        status: 200,
        body: { id, permissions: { read: true, edit: false, delete: false } },
      });
    expect(await ann.data('{ team(id: "findable") { name members { user { username } role } } }')).toEqual({
      team: { name: 'Findable', members: [{ user: { username: 'admin' }, role: 'ADMIN' }] },
    });
    for (const key of [id, 'findable', 'default:findable', 'other:findable'])
      expect(await stranger.get(`/teams/${key}`)).toMatchObject({ status: 404 });
    expect(await ann.get('/teams/other:findable')).toMatchObject({ status: 404 });
    expect((await stranger.data('{ teams { total } }')).teams.total).toBe(0);
  });

  test('is changed and deleted by its admins and superusers', async ({ service, admin, ann, bob }) => {
    const { id } = await admin.creates('/teams', { name: 'Changing' });
    await admin.put(`/teams/${id}/members/ann`, { role: 'admin' });
    await admin.put(`/teams/${id}/members/bob`, { role: 'memberPlus' });
    expect(await ann.put(`/teams/${id}`, { name: 'Changed', description: 'now' })).toMatchObject({
      status: 200,
      body: { name: 'Changed', slug: 'changing', description: 'now', permissions: { edit: true } },
    });
    expect(await ann.put(`/teams/${id}`, { description: null, slug: 'changed' })).toMatchObject({
      status: 200,
      body: { description: null, slug: 'changed' },
    });
    expect(await ann.put(`/teams/${id}`, { name: null })).toMatchObject({ status: 400 });
    const seen = (await ann.get(`/teams/${id}`)).body;
    expect(await ann.put(`/teams/${id}`, { ...seen, name: 'Sent back' })).toMatchObject({
      status: 200,
      body: { name: 'Sent back' },
    });
    expect(await ann.put(`/teams/${id}`, { naturalId: 'other:x' })).toMatchObject({ status: 400 });
    expect(await bob.put(`/teams/${id}`, { name: 'Bob' })).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission team:edit' },
    });
    expect(await bob.delete(`/teams/${id}`)).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission team:delete' },
    });
    expect(await bob.gql(`mutation { deleteTeam(id: "${id}") }`)).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
    expect(await service.login('ann').then((session) => session.delete(`/teams/${id}`))).toMatchObject({ status: 204 });
    expect(await ann.get(`/teams/${id}`)).toMatchObject({ status: 404 });
    expect(await ann.put(`/teams/${id}`, { name: 'x' })).toMatchObject({ status: 404 });
  });

  test('hands what it owns to whom is named, otherwise to who deletes it', async ({ service, admin, bob }) => {
    const owning = async (name: string) => {
      const { id } = await admin.creates('/teams', { name });
      await sql(
        service,
        `insert into dws.datasource (id, tenant_id, name, slug, owner_id, type) select gen_random_uuid(), tenant_id, $2, $2, 'team:' || id, 'postgres' from dws.team where id = $1`,
        id,
        `of-${name}`,
      );
      return id as string;
    };
    const ownerOf = async (name: string) =>
      (await sql(service, `select owner_id as owner from dws.datasource where slug = $1`, `of-${name}`))[0]!['owner'];
    const [one, two] = [await owning('one'), await owning('two')];
    expect(await admin.delete(`/teams/one?transferTo=team:${one}`)).toMatchObject({ status: 400 });
    expect(await admin.delete('/teams/one?transferTo=user:nobody')).toMatchObject({ status: 404 });
    expect(await admin.delete(`/teams/one?transferTo=bob`)).toMatchObject({ status: 204 });
    expect(await ownerOf('one')).toBe(`user:${bob.id}`);
    expect(await admin.delete(`/teams/${two}`)).toMatchObject({ status: 204 });
    expect(await ownerOf('two')).toBe(`user:${admin.id}`);
  });

  test('obeys If-Match, for itself and for its members', async ({ admin, ann }) => {
    const { id } = await admin.creates('/teams', { name: 'Versioned' });
    const { headers } = await admin.get(`/teams/${id}`);
    expect(await admin.put(`/teams/${id}`, { description: 'one' }, { 'if-match': headers.get('etag')! })).toMatchObject(
      { status: 200 },
    );
    expect(await admin.put(`/teams/${id}`, { description: 'two' }, { 'if-match': headers.get('etag')! })).toMatchObject(
      { status: 412 },
    );
    await admin.put(`/teams/${id}/members/ann`, { role: 'member' });
    const member = (await admin.get(`/teams/${id}/members/${ann.username}`)).headers.get('etag')!;
    expect(await admin.put(`/teams/${id}/members/ann`, { role: 'memberPlus' }, { 'if-match': member })).toMatchObject({
      status: 200,
    });
    expect(await admin.delete(`/teams/${id}/members/ann`, { 'if-match': member })).toMatchObject({ status: 412 });
  });
});

describe('members of a team', () => {
  test('are added, promoted and taken out by its admins, and their rights follow at once', async ({
    admin,
    ann,
    bob,
  }) => {
    const { id } = await admin.creates('/teams', { name: 'Members' });
    expect(await ann.put(`/teams/${id}/members/ann`, { role: 'admin' })).toMatchObject(FORBIDDEN);
    expect(await admin.put(`/teams/${id}/members/ANN`, { role: 'admin' })).toMatchObject({
      status: 200,
      body: {
        teamId: id,
        userId: ann.id,
        role: 'admin',
        user: { username: 'ann' },
        _links: { self: { href: `/api/teams/${id}/members/ann` } },
      },
    });
    expect(await ann.put(`/teams/${id}/members/${bob.id}`, { role: 'member' })).toMatchObject({
      status: 200,
      body: { role: 'member' },
    });
    expect(await bob.put(`/teams/${id}/members/bob`, { role: 'admin' })).toMatchObject(FORBIDDEN);
    expect(
      await ann.data(
        `mutation { setTeamMember(id: "${id}", username: "bob", role: MEMBER_PLUS) { role user { username } team { name } } }`,
      ),
    ).toEqual({ setTeamMember: { role: 'MEMBER_PLUS', user: { username: 'bob' }, team: { name: 'Members' } } });
    expect(await bob.get(`/teams/${id}/members`)).toMatchObject({
      status: 200,
      body: {
        total: 3,
        _embedded: { 'svc:membership': [{ role: 'admin' }, { role: 'admin' }, { role: 'memberPlus' }] },
      },
    });
    expect(await bob.get(`/teams/${id}/members/bob`)).toMatchObject({ status: 200, body: { role: 'memberPlus' } });
    expect(await admin.put(`/teams/${id}/members/ann`, { role: 'member' })).toMatchObject({ status: 200 });
    expect(await ann.put(`/teams/${id}`, { name: 'Anns' }), 'demoted').toMatchObject(FORBIDDEN);
    expect(await ann.delete(`/teams/${id}/members/bob`)).toMatchObject(FORBIDDEN);
    expect(await admin.delete(`/teams/${id}/members/bob`)).toMatchObject({ status: 204 });
    expect(await admin.get(`/teams/${id}/members/bob`)).toMatchObject({ status: 404 });
    expect(await admin.delete(`/teams/${id}/members/bob`)).toMatchObject({ status: 404 });
    expect(await admin.put(`/teams/${id}/members/nobody`, { role: 'member' })).toMatchObject({
      status: 404,
      body: { message: 'There is no user nobody' },
    });
    for (const body of [{ role: 'owner' }, { role: 'MEMBER' }, {}, { role: 'member', since: 1 }])
      expect(await admin.put(`/teams/${id}/members/bob`, body), JSON.stringify(body)).toMatchObject({ status: 400 });
  });

  test('may leave, and what the team owns is no longer theirs', async ({ admin, bob }) => {
    const { id } = await admin.creates('/teams', { name: 'Leaving' });
    await admin.put(`/teams/${id}/members/bob`, { role: 'admin' });
    expect(await bob.put(`/teams/${id}`, { description: 'mine' })).toMatchObject({ status: 200 });
    expect(await bob.delete(`/teams/${id}/members/BOB`)).toMatchObject({ status: 204 });
    expect(await bob.put(`/teams/${id}`, { description: 'still mine' })).toMatchObject(FORBIDDEN);
    expect(await bob.delete(`/teams/${id}/members/bob`)).toMatchObject({ status: 404 });
  });

  test('disappear with their user, and the team stays', async ({ service, admin }) => {
    const { id } = await admin.creates('/teams', { name: 'Staying' });
    await service.user('leaver');
    await admin.put(`/teams/${id}/members/leaver`, { role: 'admin' });
    await admin.delete('/users/leaver');
    expect(
      (await admin.get(`/teams/${id}`)).body.members.map(({ user }: { user: { username: string } }) => user.username),
    ).toEqual(['admin']);
  });

  test('added by many at once are all added', async ({ service, admin }) => {
    const { id } = await admin.creates('/teams', { name: 'Busy' });
    const users = await Promise.all(Array.from({ length: 6 }, (_, n) => service.user(`busy${n}`)));
    const answers = await Promise.all(
      [...users, ...users].map(({ username }) => admin.put(`/teams/${id}/members/${username}`, { role: 'member' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect((await admin.get(`/teams/${id}/members`)).body.total).toBe(7);
  });
});
