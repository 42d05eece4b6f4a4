import { describe, expect } from 'vitest';
import type { ApiResponse } from '../support/client.ts';
import { expectBody, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';

interface ListedUser {
  username: string;
}

const PRIVATE_FIELDS = ['settings', 'locked', 'lockedAt', 'loginAttempts', 'passwordSetAt', 'passwordExpiresAt'];

const usernamesOf = (users: ListedUser[]) => users.map(({ username }) => username);
const listedUsernames = ({ body }: ApiResponse) => usernamesOf(body._embedded['svc:user']);

describe('the private fields of a user', () => {
  const QUERY = `{ user(username: "bob") { username ${PRIVATE_FIELDS.join(' ')} } }`;

  test('are hidden from other users', async ({ ann, bob }) => {
    const flatList: ListedUser[] = (await ann.get('/users-list')).body;
    for (const record of [
      (await ann.get('/users/bob')).body,
      (await ann.get('/users?q=bob')).body._embedded['svc:user'][0],
      flatList.find(({ username }) => username === bob.username),
    ]) {
      expect(record).toMatchObject({ username: 'bob', enabled: true });
      for (const field of PRIVATE_FIELDS) expect(record).not.toHaveProperty(field);
    }
    expect((await ann.data(QUERY)).user).toEqual({
      username: 'bob',
      ...Object.fromEntries(PRIVATE_FIELDS.map((field) => [field, null])),
    });
  });

  test('are visible to the user, to superusers and with users:view or users:edit', async ({ service, bob, admin }) => {
    const auditor = await service.user('auditor', { permissions: ['users:view'] });
    const editor = await service.user('private-editor', { permissions: ['users:edit'] });
    for (const client of [bob, auditor, editor, admin]) {
      expect((await client.get('/users/bob')).body).toMatchObject({
        settings: {},
        locked: false,
        loginAttempts: expect.any(Number),
        passwordSetAt: expect.any(String),
      });
      expect((await client.data(QUERY)).user).toMatchObject({
        settings: {},
        locked: false,
        loginAttempts: expect.any(Number),
      });
    }
  });
});

describe('the private fields of a user that is found another way', () => {
  test('are hidden in memberships, by node, in teams and after a search', async ({ ann, bob, admin }) => {
    const team = await admin.creates('/teams', { name: 'Hidden fields' });
    await admin.put(`/teams/${team.id}/members/bob`, { role: 'member' });
    const fields = PRIVATE_FIELDS.join(' ');
    const document = `{
      user(username: "bob") { memberships { user { ${fields} } team { members { user { ${fields} } } } } }
      team(id: "${team.id}") { member(username: "bob") { user { ${fields} } } }
      node(id: "${bob.id}") { ... on User { ${fields} } }
      users(q: "bob") { items { ${fields} } }
      _entities(representations: [{ __typename: "User", id: "${bob.id}" }]) { ... on User { ${fields} } }
      search(q: "bob", kinds: [USER]) { items { node { ... on User { ${fields} } } } }
    }`;
    const hidden = JSON.stringify(await ann.data(document));
    expect(hidden.match(/"loginAttempts":null/g)).toHaveLength(8);
    for (const field of PRIVATE_FIELDS) expect(hidden).not.toMatch(new RegExp(`"${field}":[^n]`));
    const visible = JSON.stringify(await admin.data(document));
    expect(visible.match(/"loginAttempts":0/g)).toHaveLength(8);

    for (const path of ['/users/bob/memberships', `/teams/${team.id}`, `/teams/${team.id}/members`, '/search?q=bob'])
      expect(JSON.stringify((await ann.get(path)).body), path).not.toMatch(/"(settings|loginAttempts|lockedAt)"/);
    await admin.delete(`/teams/${team.id}`);
  });
});

describe('the list of users', () => {
  test('contains no user of another tenant', async ({ admin, ann, bob, stranger }) => {
    await expectStatus(stranger.get(`/users/${ann.id}`), 404);
    await expectStatus(stranger.put(`/users/${ann.id}`, { displayName: 'x' }), 404);
    expect(listedUsernames(await stranger.get('/users?limit=1000'))).not.toContain(bob.username);
    const { usersList } = await stranger.data('{ usersList { username } }');
    for (const { username } of [admin, ann]) expect(usernamesOf(usersList)).not.toContain(username);
  });

  test('is searched in five fields, ignoring case and without wildcards', async ({ service, ann }) => {
    const fields = { f1: 'given_name', f2: 'family_name', f3: 'display_name', f4: 'email' };
    for (const [name, column] of Object.entries(fields)) {
      await service.user(name);
      await systemQuery(service, `update dws.app_user set ${column} = 'Has_Needle%@here' where username = $1`, name);
    }
    await service.user('has_needle');
    await systemQuery(service, `update dws.app_user set middle_name = 'Has_Needle%' where username = 'ann'`);
    expect(listedUsernames(await ann.get('/users?q=hAS_nEEDLE&sort=username'))).toEqual([
      'f1',
      'f2',
      'f3',
      'f4',
      'has_needle',
    ]);
    const literal = encodeURIComponent('needle%@');
    expect(listedUsernames(await ann.get(`/users?q=${literal}&sort=-username`))).toEqual(['f4', 'f3', 'f2', 'f1']);
    expect(listedUsernames(await ann.get('/users?q=hasXneedle'))).toEqual([]);
  });

  test('is paged in a total order, with links to the other pages', async ({ service, ann }) => {
    for (let n = 0; n < 7; n++) await service.user(`page${n}`);
    const page = await ann.get('/users?q=page&limit=3&start=3&sort=-username');
    expect(listedUsernames(page)).toEqual(['page3', 'page2', 'page1']);
    const linkTo = (start: number) => ({
      href: expect.stringMatching(
        new RegExp(`^/api/users\\?(?=.*q=page)(?=.*limit=3)(?=.*sort=-username)${start ? `(?=.*start=${start})` : ''}`),
      ),
    });
    expect(page.body).toMatchObject({
      start: 3,
      count: 3,
      total: 7,
      _links: { self: linkTo(3), first: linkTo(0), prev: linkTo(0), next: linkTo(6), last: linkTo(6) },
    });
    const last = await ann.get(page.body._links.next.href.slice('/api'.length));
    expect(listedUsernames(last)).toEqual(['page0']);
    expect(last.body._links).not.toHaveProperty('next');
    const twoKeys = await ann.get('/users?q=page&sort=enabled,-createdAt&limit=2');
    expect(listedUsernames(twoKeys)).toEqual(['page6', 'page5']);
    const { users } = await ann.data('{ users(q: "page", limit: 2, sort: "username") { items { username } total } }');
    expect(users).toEqual({ items: [{ username: 'page0' }, { username: 'page1' }], total: 7 });
  });

  const UNSORTABLE = ['passwordHash', 'permissions', 'settings', 'lockedAt', 'loginAttempts', 'passwordSetAt'];
  const REFUSED = ['limit=0', 'limit=1001', 'start=-1', 'limit=ten', 'page=2'];

  test.for([...REFUSED, ...UNSORTABLE.map((field) => `sort=${field}`)])('refuses %s', async (query, { ann }) => {
    await expectBody(ann.get(`/users?${query}`), 400, { code: 'BAD_USER_INPUT' });
  });

  test('has 30 users by default', async ({ service, ann }) => {
    await systemQuery(
      service,
      `insert into dws.app_user (id, tenant_id, username)
      select gen_random_uuid(), tenant_id, 'crowd' || n from dws.app_user, generate_series(1, 31) n where id = $1`,
      ann.id,
    );
    await expectBody(ann.get('/users?q=crowd'), 200, { start: 0, count: 30, total: 31 });
  });

  test('is flat and sorted by username as users-list', async ({ ann }) => {
    const { status, body } = await ann.get('/users-list');
    expect(status).toBe(200);
    const usernames = usernamesOf(body);
    expect(usernames).toEqual(
      usernames.toSorted((one, other) => one.toLowerCase().localeCompare(other.toLowerCase(), 'en')),
    );
    expect(body[0]).toMatchObject({ id: expect.any(String), domain: 'local', createdAt: expect.any(String) });
  });
});

test('the memberships of a user are visible to all users of the tenant', async ({ admin, ann, bob }) => {
  const team = await admin.creates('/teams', { name: 'Readers' });
  await admin.put(`/teams/${team.id}/members/bob`, { role: 'memberPlus' });
  await expectBody(ann.get('/users/bob/memberships'), 200, {
    _embedded: {
      'svc:membership': [{ teamId: team.id, userId: bob.id, role: 'memberPlus', joinedAt: expect.any(String) }],
    },
  });
  expect(await ann.data('{ user(username: "bob") { memberships { role team { name } } } }')).toEqual({
    user: { memberships: [{ role: 'MEMBER_PLUS', team: { name: 'Readers' } }] },
  });
  await expectStatus(ann.get('/users/nobody/memberships'), 404);
});
