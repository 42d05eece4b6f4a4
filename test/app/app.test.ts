import { expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';

const MASK = '••••';

test('a new app is a draft, and requires the permission apps:create', async ({ admin, ann }) => {
  await expectError(ann.post('/apps', { name: 'Mine' }), 403, 'You lack the permission apps:create');
  const created = await admin.post('/apps', { name: 'Order desk' });
  await expectBody(created, 201, {
    slug: 'order-desk',
    status: 'draft',
    deployedAt: null,
    schemaName: null,
    env: {},
    folderId: null,
    tags: [],
    ownerId: admin.id,
    permissions: {
      read: true,
      write: true,
      edit: true,
      run: true,
      share: true,
      delete: true,
      assignTags: true,
      changeOwner: true,
    },
  });
  const { id } = created.body;
  expect(created.headers.get('location')).toBe(`/api/apps/${id}`);
  expect((await admin.get('/apps/default:order-desk')).body).toMatchObject({ id });
  await expectBody(admin.put(`/apps/${id}`, { ...created.body, name: 'Desk', status: 'deployed' }), 200, {
    name: 'Desk',
    status: 'draft',
  });
  expect((await admin.get('/apps?sort=-status,name&q=desk')).body).toMatchObject({
    total: 1,
    _embedded: { 'svc:app': [{ id, status: 'draft' }] },
  });
  await expectError(ann.get(`/apps/${id}`), 404, `There is no app ${id}`);
  expect(await admin.delete(`/apps/${id}`)).toMatchObject({ status: 204 });
  expect(await admin.get(`/apps/${id}`)).toMatchObject({ status: 404 });
});

test('an environment can be written but not read', async ({ admin, ann, service }) => {
  const { id } = await admin.creates('/apps', {
    name: 'Secretive',
    env: { API_KEY: 'first secret word', MODE: 'test' },
  });
  const readStored = async () =>
    (
      await service.platform.system.query<{ env: string | null }>({
        text: 'select env from dws.app where id = $1',
        values: [id],
      })
    )[0]!.env;
  const readDecrypted = async () =>
    Object.fromEntries(
      JSON.parse(service.platform.secrets.open((await readStored())!, 'a test')) as [string, string][],
    );
  expect((await admin.get(`/apps/${id}`)).body.env).toEqual({ API_KEY: MASK, MODE: MASK });
  expect(await readStored()).not.toContain('first secret word');
  expect(await readDecrypted()).toEqual({ API_KEY: 'first secret word', MODE: 'test' });

  const { body } = await admin.get(`/apps/${id}`);
  await expectBody(admin.put(`/apps/${id}`, { ...body, env: { ...body.env, MODE: null, PORT: '80' } }), 200, {
    env: { API_KEY: MASK, PORT: MASK },
  });
  expect(await readDecrypted(), 'a masked value is unchanged').toEqual({ API_KEY: 'first secret word', PORT: '80' });
  await admin.put(`/apps/${id}`, { env: { API_KEY: 'second' } });
  await admin.put(`/apps/${id}`, { name: 'Renamed' });
  expect(await readDecrypted()).toEqual({ API_KEY: 'second', PORT: '80' });

  expect(await admin.data(`{ app(id: "${id}") { env status } }`)).toEqual({
    app: { env: { API_KEY: MASK, PORT: MASK }, status: 'DRAFT' },
  });
  for (const field of ['envNames', 'secrets'])
    expect((await admin.gql(`{ app(id: "${id}") { ${field} } }`)).errors[0].message).toContain('Cannot query field');
  await admin.put(`/apps/${id}/shares/ann`, { accessLevel: 1 });
  expect((await ann.get(`/apps/${id}`)).body.env, 'without write access').toEqual({});
  await expectError(ann.put(`/apps/${id}`, { env: { A: 'b' } }), 403, 'You lack the permission app:write');
  await admin.put(`/apps/${id}/shares/ann`, { accessLevel: 2 });
  await expectBody(ann.put(`/apps/${id}`, { env: null }), 200, { env: {} });
  expect(await readStored()).toBeNull();
});

test('an invalid environment is refused, and its values are not in the error', async ({ admin }) => {
  const { id } = await admin.creates('/apps', { name: 'Strict', env: { KEPT: 'yes' } });
  const cases: [unknown, string][] = [
    [{ 'A-B': 'hush' }, 'env has a name'],
    [{ '': 'hush' }, 'env has a name'],
    [{ '1A': 'hush' }, 'env has a name'],
    [{ A: 1 }, 'env.A must be a text'],
    [{ A: ['hush'] }, 'env.A must be a text'],
    [{ A: 'hush'.repeat(2501) }, 'env.A must be a text of at most 10000 characters'],
    [{ A: MASK }, 'env.A has no stored value'],
    [Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`N${n}`, 'hush'])), 'env must have at most 100 names'],
    ['hush', 'env'],
    [['hush'], 'env'],
  ];
  for (const [env, message] of cases) {
    const response = await admin.put(`/apps/${id}`, { env });
    expect(response, message).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } });
    if (typeof env === 'object' && !Array.isArray(env)) expect(JSON.stringify(response.body)).not.toContain('hush');
  }
  expect((await admin.get(`/apps/${id}`)).body.env).toEqual({ KEPT: MASK });
});

test('concurrent changes of an environment are all stored', async ({ admin }) => {
  const { id } = await admin.creates('/apps', { name: 'Shared env' });
  const responses = await Promise.all(
    Array.from({ length: 6 }, (_, n) => admin.put(`/apps/${id}`, { env: { [`N${n}`]: 'x' } })),
  );
  expect(responses.map(({ status }) => status)).toEqual(Array(6).fill(200));
  expect(Object.keys((await admin.get(`/apps/${id}`)).body.env)).toEqual(['N0', 'N1', 'N2', 'N3', 'N4', 'N5']);
});

test('apps have the same fields and rules in GraphQL', async ({ admin, ann }) => {
  const { id } = (await admin.data('mutation { createApp(input: { name: "Desk two", env: { A: "b" } }) { id } }'))
    .createApp;
  expect(
    await admin.data(
      `mutation {
        updateApp(id: "${id}", input: { env: { B: "c" }, description: "d" }) {
          env description deployedAt schemaName
          folder { id }
          owner { name }
          permissions { run }
        }
      }`,
    ),
  ).toEqual({
    updateApp: {
      env: { A: MASK, B: MASK },
      description: 'd',
      deployedAt: null,
      schemaName: null,
      folder: null,
      owner: { name: 'admin' },
      permissions: { run: true },
    },
  });
  expect(
    await admin.data(`{ node(id: "${id}") { ... on App { status } } apps(q: "desk two") { total items { env } } }`),
  ).toEqual({ node: { status: 'DRAFT' }, apps: { total: 1, items: [{ env: { A: MASK, B: MASK } }] } });
  expect(await ann.gql('mutation { createApp(input: { name: "x" }) { id } }')).toMatchObject({
    errors: [{ message: 'You lack the permission apps:create' }],
  });
  expect(await admin.data(`mutation { deleteApp(id: "desk-two") }`)).toEqual({ deleteApp: 'desk-two' });
});
