import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { PASSWORD, type Service } from '../support/service.ts';

const sql = (service: Service, text: string, ...values: unknown[]) => service.platform.system.query({ text, values });
const newcomer = (username: string, more = {}) => ({ username, password: PASSWORD, ...more });
const names = (answer: { body: { _embedded: { 'svc:user': { username: string }[] } } }) =>
  answer.body._embedded['svc:user'].map(({ username }) => username);
const REFUSED = { status: 400, body: { code: 'BAD_USER_INPUT' } };
const PRIVATE = ['settings', 'locked', 'lockedAt', 'loginAttempts', 'passwordSetAt', 'passwordExpiresAt'];

describe('creating a user', () => {
  test('answers 201 with where the user is, and fills in what was not said', async ({ admin }) => {
    const made = await admin.post(
      '/users',
      newcomer('Zoe.Smith', { displayName: ' Zoe ', email: 'zoe@example.org', timezone: 'Europe/Paris' }),
    );
    expect(made).toMatchObject({
      status: 201,
      body: {
        username: 'Zoe.Smith',
        displayName: 'Zoe',
        enabled: false,
        createdAt: expect.any(String),
        _links: { self: { href: '/api/users/Zoe.Smith' } },
      },
    });
    expect(Object.keys(made.body).sort()).toEqual(['_links', 'createdAt', 'displayName', 'enabled', 'username']);
    expect(made.headers.get('location')).toBe('/api/users/Zoe.Smith');
    expect(await admin.get('/users/zoe.smith')).toMatchObject({
      status: 200,
      body: {
        username: 'Zoe.Smith',
        domain: 'local',
        givenName: null,
        email: 'zoe@example.org',
        enabled: false,
        superuser: false,
        timezone: 'Europe/Paris',
        settings: {},
        locked: false,
        lockedAt: null,
        loginAttempts: 0,
        passwordSetAt: expect.any(String),
        passwordExpiresAt: null,
      },
    });
    expect(await admin.get('/users/zoe.smith/global-permissions')).toMatchObject({
      body: { permissions: expect.arrayContaining(['datasets:create', 'ai:access']) },
    });
    expect(JSON.stringify((await admin.get('/users-list')).body)).not.toMatch(/argon2|assword"/);
  });

  test('does the same by GraphQL', async ({ admin }) => {
    const { createUser } = await admin.data(
      `mutation { createUser(input: { username: "gql", password: "${PASSWORD}", enabled: true }) { id username enabled domain } }`,
    );
    expect(createUser).toMatchObject({ username: 'gql', enabled: true, domain: 'local' });
    expect(
      await admin.data('mutation { updateUser(username: "gql", input: { givenName: "Graph" }) { givenName } }'),
    ).toEqual({ updateUser: { givenName: 'Graph' } });
    expect(await admin.data('mutation { deleteUser(username: "gql") }')).toEqual({ deleteUser: 'gql' });
    expect(await admin.gql('{ user(username: "gql") { id } }')).toMatchObject({
      errors: [{ extensions: { code: 'NOT_FOUND' } }],
    });
  });

  test('needs users:create, and a superuser in a session to make another', async ({ service, ann, admin }) => {
    expect(await ann.post('/users', newcomer('friend'))).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission users:create' },
    });
    const clerk = await service.user('clerk', { permissions: ['users:create'] });
    expect(await clerk.post('/users', newcomer('friend'))).toMatchObject({ status: 201 });
    expect(await clerk.post('/users', newcomer('boss', { superuser: true }))).toMatchObject({ status: 403 });
    expect(await admin.post('/users', newcomer('boss', { superuser: true })), 'by token').toMatchObject({
      status: 403,
    });
    expect(await (await service.login('admin')).post('/users', newcomer('boss', { superuser: true }))).toMatchObject({
      status: 201,
    });
    expect(await admin.get('/users/boss')).toMatchObject({ body: { superuser: true } });
  });

  test('takes names that are unique without regard to case, and none that looks like an id', async ({
    admin,
    ann,
    stranger,
  }) => {
    expect(ann.username).toBe('ann');
    expect(await admin.post('/users', newcomer('ANN'))).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', message: 'The username "ANN" is already in use' },
    });
    expect(await stranger.post('/users', newcomer('ann')), 'another tenant has its own names').toMatchObject({
      status: 201,
    });
    for (const name of [
      '',
      '.ann',
      'an n',
      'ann/bob',
      'änn',
      'x'.repeat(101),
      '01900000-0000-7000-8000-000000000000',
      'a\u0000b',
    ]) {
      expect(await admin.post('/users', newcomer(name)), name).toMatchObject({
        status: 400,
        body: { validation: [{ path: ['username'] }] },
      });
    }
    expect(await admin.post('/users', newcomer('a@b_c-d.e'))).toMatchObject({ status: 201 });
    const twice = await Promise.all([admin.post('/users', newcomer('twin')), admin.post('/users', newcomer('Twin'))]);
    expect(twice.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  test('refuses bad passwords, addresses, time zones, oversized settings and unknown keys', async ({ admin }) => {
    for (const [more, path] of [
      [{ password: 'too short' }, 'password'],
      [{ password: undefined }, 'password'],
      [{ email: 'nobody' }, 'email'],
      [{ timezone: 'Mars/Olympus' }, 'timezone'],
      [{ displayName: 'x'.repeat(256) }, 'displayName'],
      [{ settings: { a: 'x'.repeat(70_000) } }, 'settings'],
      [{ settings: [] }, 'settings'],
      [{ domain: 'a b' }, 'domain'],
      [{ admin: true }, 'admin'],
      [{ permissions: ['users:view'] }, 'permissions'],
    ] as const) {
      expect(await admin.post('/users', newcomer('somebody', more)), path).toMatchObject({
        status: 400,
        body: { validation: [{ path: [path] }] },
      });
    }
    expect(await admin.post('/users', newcomer('a-longer-name', { password: 'A-Longer-Name' }))).toMatchObject(REFUSED);
    expect(await admin.post('/users', newcomer('nul', { displayName: 'a\u0000b' }))).toMatchObject(REFUSED);
    expect(await admin.post('/users', newcomer('nul', { settings: { theme: 'a\u0000b' } }))).toMatchObject(REFUSED);
    expect(await admin.get('/users?q=%00')).toMatchObject({
      status: expect.toSatisfy((status: number) => status === 200 || status === 400),
    });
  });
});

describe('changing a user', () => {
  test('is for themselves, as far as it is their profile, and for users:edit', async ({ service, ann, bob }) => {
    expect(
      await ann.put('/me', { displayName: 'Ann', email: 'ann@example.org', settings: { language: 'de' } }),
    ).toMatchObject({ status: 200, body: { displayName: 'Ann', settings: { language: 'de' } } });
    expect(await ann.put('/users/ann', { givenName: 'Anna', email: null })).toMatchObject({
      status: 200,
      body: { displayName: 'Ann', givenName: 'Anna', email: null },
    });
    expect(await ann.put('/users/bob', { displayName: 'Robert' })).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission user:edit' },
    });
    for (const body of [
      { enabled: false },
      { username: 'anna' },
      { locked: true },
      { passwordExpiresAt: '2030-01-01T00:00:00.000Z' },
    ])
      expect(await ann.put('/users/ann', body)).toMatchObject({ status: 403 });

    const clerk = await service.user('editor', { permissions: ['users:edit'] });
    expect(
      await clerk.put(`/users/${bob.id}`, { displayName: 'Robert', timezone: 'UTC', loginAttempts: 3 }),
    ).toMatchObject({ status: 200, body: { username: 'bob', displayName: 'Robert', loginAttempts: 3 } });
    expect(await clerk.put('/users/nobody', { displayName: 'x' })).toMatchObject({
      status: 404,
      body: { message: 'There is no user nobody' },
    });
  });

  test('accepts an answer that was edited and sent back', async ({ ann, admin }) => {
    const mine = (await ann.get('/me')).body;
    expect(await ann.put('/me', { ...mine, displayName: 'Ann again' })).toMatchObject({
      status: 200,
      body: { displayName: 'Ann again' },
    });
    const own = (await ann.get('/users/ann')).body;
    expect(await ann.put('/users/ann', { ...own, familyName: 'Own' })).toMatchObject({
      status: 200,
      body: { familyName: 'Own' },
    });
    const seen = (await admin.get('/users/ann')).body;
    expect(await admin.put('/users/ann', { ...seen, middleName: 'M' })).toMatchObject({
      status: 200,
      body: { middleName: 'M', locked: false },
    });
    const locked = (await admin.put('/users/ann', { locked: true })).body;
    expect(locked).toMatchObject({ locked: true, lockedAt: expect.any(String) });
    expect(await admin.put('/users/ann', { ...locked, locked: false })).toMatchObject({
      status: 200,
      body: { locked: false, lockedAt: null },
    });
  });

  test('refuses identity fields that differ, unknown keys, and null where nothing can be cleared', async ({
    admin,
    ann,
    bob,
  }) => {
    for (const [body, path] of [
      [{ id: bob.id }, 'id'],
      [{ createdAt: '2020-01-01T00:00:00.000Z' }, 'createdAt'],
      [{ superuser: true }, 'superuser'],
      [{ nickname: 'A' }, 'nickname'],
      [{ enabled: null }, 'enabled'],
      [{ settings: null }, 'settings'],
      [{ password: PASSWORD }, 'password'],
    ] as const) {
      expect(await admin.put('/users/ann', body), path).toMatchObject({
        status: 400,
        body: { validation: [{ path: [path] }] },
      });
    }
    for (const body of [{ username: 'anna' }, { enabled: false }, { superuser: true }])
      expect(await ann.put('/me', body)).toMatchObject(REFUSED);
    expect(
      await admin.gql('mutation { updateUser(username: "ann", input: { superuser: true }) { id } }'),
    ).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
  });

  test('renames within the rules of names', async ({ service, admin }) => {
    const pat = await service.user('pat');
    await service.user('pam');
    expect(await admin.put('/users/pat', { username: 'Pat' })).toMatchObject({
      status: 200,
      body: { username: 'Pat' },
    });
    expect(await admin.put('/users/pat', { username: 'PAM' })).toMatchObject({ status: 409 });
    expect(await admin.put('/users/pat', { username: 'no spaces' })).toMatchObject({ status: 400 });
    expect(await admin.put('/users/pat', { username: 'patricia' })).toMatchObject({ status: 200 });
    expect(await pat.get('/me')).toMatchObject({ body: { username: 'patricia' } });
    expect(await admin.get('/users/pat')).toMatchObject({ status: 404 });
  });

  test('obeys If-Match', async ({ admin, bob }) => {
    const seen = await admin.get(`/users/${bob.id}`);
    const etag = seen.headers.get('etag')!;
    expect(await admin.get(`/users/${bob.id}`, { 'if-none-match': etag })).toMatchObject({ status: 304 });
    expect(await admin.put(`/users/${bob.id}`, { middleName: 'First' }, { 'if-match': etag })).toMatchObject({
      status: 200,
    });
    expect(await admin.put(`/users/${bob.id}`, { middleName: 'Second' }, { 'if-match': etag })).toMatchObject({
      status: 412,
      body: { code: 'PRECONDITION_FAILED' },
    });
  });

  test('sets a theme into the settings and leaves the others: the user or an admin does', async ({
    ann,
    bob,
    admin,
  }) => {
    await ann.put('/me', { settings: { language: 'fr' } });
    expect(await ann.put('/users/ann/theme', { theme: 'dark' })).toMatchObject({
      status: 200,
      body: { username: 'ann', settings: { language: 'fr', theme: 'dark' } },
    });
    expect(await admin.data('mutation { setTheme(username: "ann", theme: AUTO) { settings } }')).toEqual({
      setTheme: { settings: { language: 'fr', theme: 'auto' } },
    });
    expect(await bob.put('/users/ann/theme', { theme: 'light' })).toMatchObject({ status: 403 });
    expect(await ann.put('/users/ann/theme', { theme: 'pink' })).toMatchObject(REFUSED);
    expect(await ann.put('/users/ann/theme', {})).toMatchObject(REFUSED);
  });
});

describe('superusers', () => {
  test('alone see and give the right, in a session', async ({ service, ann, admin }) => {
    const session = await service.login('admin');
    for (const call of [
      (client: Client) => client.get('/users/ann/superuser'),
      (client: Client) => client.put('/users/ann/superuser', { superuser: true }),
      (client: Client) => client.delete('/users/ann/superuser'),
    ]) {
      expect(await call(ann)).toMatchObject({ status: 403 });
      expect(await call(admin), 'by token').toMatchObject({ status: 403 });
    }
    expect(await session.get('/users/ANN/superuser')).toMatchObject({
      status: 200,
      body: { username: 'ann', superuser: false },
    });
    expect(await session.put('/users/ANN/superuser', { superuser: true })).toMatchObject({
      status: 200,
      body: { username: 'ann', superuser: true },
    });
    expect(await ann.get('/users/bob/global-permissions')).not.toMatchObject({ status: 403 });
    expect(await session.delete('/users/ann/superuser')).toMatchObject({ status: 204 });
    expect(await ann.get('/users/ann/global-permissions')).toMatchObject({ status: 403 });
    expect(
      await session.put('/users/ann/global-permissions', { permissions: ['tenant:superuser', 'users:view'] }),
    ).toMatchObject({
      status: 200,
      body: { permissions: expect.arrayContaining(['tenant:superuser', 'billing:manage']) },
    });
    expect(await session.get('/users/ann/superuser')).toMatchObject({ body: { superuser: true } });
    expect(await admin.put('/users/ann/global-permissions', { permissions: ['users:view'] }), 'by token').toMatchObject(
      { status: 403 },
    );
    expect(await session.put('/users/ann/global-permissions', { permissions: [] })).toMatchObject({
      status: 200,
      body: { permissions: [] },
    });
    expect(await session.get('/users/ann/superuser')).toMatchObject({ body: { superuser: false } });
  });

  test('are changed and deleted by superusers alone', async ({ service, admin }) => {
    expect(admin.username).toBe('admin');
    const clerk = await service.user('clerk2', { permissions: ['users:edit', 'users:delete'] });
    for (const answer of [
      await clerk.put('/users/admin', { displayName: 'x' }),
      await clerk.delete('/users/admin'),
      await clerk.put('/users/admin/theme', { theme: 'dark' }),
    ])
      expect(answer).toMatchObject({ status: 403 });
  });

  test('never lose their last enabled one', async ({ service, stranger }) => {
    const session = await service.login('stranger', { tenant: 'other' });
    const CONFLICT = {
      status: 409,
      body: { message: 'The last enabled superuser cannot be removed, disabled or demoted' },
    };
    await stranger.creates('/users', newcomer('heir'));
    await session.creates('/users', newcomer('sleeper', { superuser: true, enabled: false }));
    expect(await stranger.put('/users/stranger', { enabled: false })).toMatchObject(CONFLICT);
    expect(await stranger.delete('/users/stranger?transferTo=heir')).toMatchObject(CONFLICT);
    expect(await session.delete('/users/stranger/superuser')).toMatchObject(CONFLICT);
    expect(await session.put('/users/stranger/superuser', { superuser: false })).toMatchObject(CONFLICT);
    expect(await session.put('/users/stranger/global-permissions', { permissions: [] })).toMatchObject(CONFLICT);

    await session.put('/users/sleeper', { enabled: true });
    const other = await service.login('sleeper', { tenant: 'other' });
    const answers = await Promise.all([
      session.delete('/users/sleeper/superuser'),
      other.delete('/users/stranger/superuser'),
    ]);
    expect(answers.map(({ status }) => status).sort(), 'two who demote each other').toEqual([204, 409]);
    expect(
      await sql(
        service,
        `select count(*) as n from dws.app_user u join dws.tenant t on t.id = u.tenant_id where t.slug = 'other' and superuser and enabled`,
      ),
    ).toEqual([{ n: 1 }]);
  });
});

describe('global permissions', () => {
  test('are words of one list, set by superusers, answered as stored', async ({ ann, admin, bob }) => {
    expect(
      await admin.put('/users/bob/global-permissions', {
        permissions: ['users:view', 'datasets:create', 'users:view'],
      }),
    ).toMatchObject({ status: 200, body: { permissions: ['users:view', 'datasets:create'] } });
    expect(await admin.get('/users/bob/global-permissions')).toMatchObject({
      body: { permissions: ['users:view', 'datasets:create'] },
    });
    expect((await bob.get('/session')).body.permissions).toEqual(['users:view', 'datasets:create']);
    expect(await admin.put('/users/bob/global-permissions', { permissions: ['root'] })).toMatchObject({
      status: 400,
      body: { message: 'permissions contains "root", which is not a global permission' },
    });
    expect(await admin.put('/users/bob/global-permissions', {})).toMatchObject(REFUSED);
    expect(await ann.put('/users/bob/global-permissions', { permissions: [] })).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission tenant:superuser' },
    });
    expect(await ann.gql('{ user(username: "bob") { globalPermissions } }')).toMatchObject({
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    });
    await admin.put('/users/bob/global-permissions', { permissions: [] });
  });
});

describe('deleting a user', () => {
  test('hands what they own to whom is named, otherwise to who deletes', async ({ service, admin, ann, bob }) => {
    const own = async (name: string) => {
      const user = await service.user(name);
      await sql(
        service,
        `insert into dws.datasource (id, tenant_id, name, slug, owner_id, type) select gen_random_uuid(), tenant_id, $2, $2, 'user:' || id, 'postgres' from dws.app_user where id = $1`,
        user.id,
        name,
      );
      return user;
    };
    const ownerOf = async (slug: string) =>
      (await sql(service, `select owner_id as owner from dws.datasource where slug = $1`, slug))[0]!['owner'];
    for (const name of ['quinn', 'rosa', 'sam']) await own(name);
    expect(await ann.delete('/users/quinn')).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission users:delete' },
    });
    expect(await admin.delete('/users/quinn?transferTo=nobody')).toMatchObject({
      status: 404,
      body: { message: 'There is no user nobody' },
    });
    expect(await admin.delete('/users/quinn?transferTo=quinn')).toMatchObject(REFUSED);
    expect(await admin.delete('/users/quinn?transferTo=bob')).toMatchObject({ status: 204 });
    expect(await ownerOf('quinn')).toBe(`user:${bob.id}`);
    expect(await admin.delete('/users/ROSA')).toMatchObject({ status: 204 });
    expect(await ownerOf('rosa')).toBe(`user:${admin.id}`);
    const team = await admin.creates('/teams', { name: 'Heirs' });
    expect(await admin.delete(`/users/sam?transferTo=team:${team.id}`)).toMatchObject({ status: 204 });
    expect(await ownerOf('sam')).toBe(`team:${team.id}`);
    expect(await admin.delete('/users/sam')).toMatchObject({ status: 404 });
    expect(await admin.delete('/users/admin'), 'oneself').toMatchObject(REFUSED);
  });
});

describe('who looks at users', () => {
  test('sees names and addresses of all, and the private part of others only with users:view', async ({
    service,
    ann,
    bob,
    admin,
  }) => {
    expect(ann.username).toBe('ann');
    const viewer = await service.user('auditor', { permissions: ['users:view'] });
    const query = `{ user(username: "bob") { username ${PRIVATE.join(' ')} } }`;
    for (const record of [
      (await ann.get('/users/bob')).body,
      (await ann.get('/users?q=bob')).body._embedded['svc:user'][0],
      (await ann.get('/users-list')).body.find(({ username }: { username: string }) => username === 'bob'),
    ]) {
      expect(record).toMatchObject({ username: 'bob', enabled: true });
      for (const field of PRIVATE) expect(record).not.toHaveProperty(field);
    }
    expect((await ann.data(query)).user).toEqual({
      username: 'bob',
      ...Object.fromEntries(PRIVATE.map((field) => [field, null])),
    });
    for (const client of [bob, viewer, admin]) {
      expect((await client.get('/users/bob')).body).toMatchObject({
        settings: {},
        locked: false,
        loginAttempts: expect.any(Number),
        passwordSetAt: expect.any(String),
      });
      expect((await client.data(query)).user).toMatchObject({
        settings: {},
        locked: false,
        loginAttempts: expect.any(Number),
      });
    }
  });

  test('never sees another tenant', async ({ ann, stranger }) => {
    expect(await stranger.get(`/users/${ann.id}`)).toMatchObject({ status: 404 });
    expect(await stranger.put(`/users/${ann.id}`, { displayName: 'x' })).toMatchObject({ status: 404 });
    expect(names(await stranger.get('/users?limit=1000'))).not.toContain('bob');
    expect(
      (await stranger.data('{ usersList { username } }')).usersList.map(
        ({ username }: { username: string }) => username,
      ),
    ).not.toContain('admin');
  });

  test('searches five fields without regard to case, taking % and _ as they are', async ({ service, ann }) => {
    for (const [name, field] of [
      ['f1', 'given_name'],
      ['f2', 'family_name'],
      ['f3', 'display_name'],
      ['f4', 'email'],
    ]) {
      await service.user(name!);
      await sql(service, `update dws.app_user set ${field} = 'Has_Needle%@here' where username = $1`, name);
    }
    await service.user('has_needle');
    await sql(service, `update dws.app_user set middle_name = 'Has_Needle%' where username = 'ann'`);
    expect(names(await ann.get('/users?q=hAS_nEEDLE&sort=username'))).toEqual(['f1', 'f2', 'f3', 'f4', 'has_needle']);
    expect(names(await ann.get(`/users?q=${encodeURIComponent('needle%@')}&sort=-username`))).toEqual([
      'f4',
      'f3',
      'f2',
      'f1',
    ]);
    expect(names(await ann.get('/users?q=hasXneedle'))).toEqual([]);
  });

  test('pages through them in a total order, with links to the other pages', async ({ service, ann }) => {
    for (let n = 0; n < 7; n++) await service.user(`page${n}`);
    const page = await ann.get('/users?q=page&limit=3&start=3&sort=-username');
    expect(names(page)).toEqual(['page3', 'page2', 'page1']);
    const at = (start: number) => ({
      href: expect.stringMatching(
        new RegExp(`^/api/users\\?(?=.*q=page)(?=.*limit=3)(?=.*sort=-username)${start ? `(?=.*start=${start})` : ''}`),
      ),
    });
    expect(page.body).toMatchObject({
      start: 3,
      count: 3,
      total: 7,
      _links: { self: at(3), first: at(0), prev: at(0), next: at(6), last: at(6) },
    });
    const last = await ann.get(page.body._links.next.href.slice(4));
    expect(names(last)).toEqual(['page0']);
    expect(last.body._links).not.toHaveProperty('next');
    expect(names(await ann.get('/users?q=page&sort=enabled,-createdAt&limit=2'))).toEqual(['page6', 'page5']);
    expect(
      (await ann.data('{ users(q: "page", limit: 2, sort: "username") { items { username } total } }')).users,
    ).toEqual({ items: [{ username: 'page0' }, { username: 'page1' }], total: 7 });
    for (const query of [
      'limit=0',
      'limit=1001',
      'start=-1',
      'sort=passwordHash',
      'sort=permissions',
      'limit=ten',
      'page=2',
    ])
      expect(await ann.get(`/users?${query}`), query).toMatchObject(REFUSED);
  });

  test('gets a flat list of all with users-list, by name', async ({ ann }) => {
    const { status, body } = await ann.get('/users-list');
    expect(status).toBe(200);
    const sorted = body.map(({ username }: { username: string }) => username);
    expect(sorted).toEqual(
      [...sorted].sort((one: string, other: string) => one.toLowerCase().localeCompare(other.toLowerCase(), 'en')),
    );
    expect(body[0]).toMatchObject({ id: expect.any(String), domain: 'local', createdAt: expect.any(String) });
  });

  test('reads memberships of a user', async ({ admin, ann, bob }) => {
    const team = await admin.creates('/teams', { name: 'Readers' });
    await admin.put(`/teams/${team.id}/members/bob`, { role: 'memberPlus' });
    expect(await ann.get('/users/bob/memberships')).toMatchObject({
      status: 200,
      body: {
        _embedded: {
          'svc:membership': [{ teamId: team.id, userId: bob.id, role: 'memberPlus', joinedAt: expect.any(String) }],
        },
      },
    });
    expect(await ann.data('{ user(username: "bob") { memberships { role team { name } } } }')).toEqual({
      user: { memberships: [{ role: 'MEMBER_PLUS', team: { name: 'Readers' } }] },
    });
    expect(await ann.get('/users/nobody/memberships')).toMatchObject({ status: 404 });
  });
});
