import { expect } from 'vitest';
import { expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';

/** One more than the use at which a document is compiled (src/server/graphql/compiled-documents.ts). */
const USES = 21;

const DOCUMENTS: [name: string, query: string, variables: Record<string, unknown>][] = [
  [
    'fields, aliases and fragments',
    `query ($u: ID!) { one: user(username: $u) { ...f again: username } }
    fragment f on User { username enabled memberships { role } }`,
    { u: 'ann' },
  ],
  [
    'a list with its total',
    'query($n: Int) { users(limit: $n, sort: "username") { total count items { __typename username } } }',
    { n: 2 },
  ],
  [
    '@skip and @include',
    'query($yes: Boolean!) { me { username email @include(if: $yes) displayName @skip(if: $yes) } }',
    { yes: false },
  ],
  ['a resolver that throws', 'query($u: ID!) { user(username: $u) { username } }', { u: 'nobody' }],
  ['a field without permission', '{ me { username globalPermissions } }', {}],
  ['variables that do not fit', 'query($n: Int) { users(limit: $n) { count } }', { n: 'many' }],
  ['a variable that is missing', 'query($u: ID!) { user(username: $u) { username } }', {}],
  [
    'references, one of them unknown',
    'query($r: [_Any!]!) { _entities(representations: $r) { __typename ... on User { username } } }',
    {
      r: [
        { __typename: 'User', id: 'ann' },
        { __typename: 'User', id: 'nobody' },
      ],
    },
  ],
  [
    'a variable inside a literal',
    'query($id: String) { _entities(representations: [{ __typename: "User", id: $id }]) { ... on User { username } } }',
    { id: 'ann' },
  ],
  ['introspection', '{ __schema { queryType { name } } __type(name: "User") { fields { name } } }', {}],
  ['the named one of several operations', 'query a { me { username } } query b { me { id } }', {}],
];

for (const [name, query, variables] of DOCUMENTS) {
  test(`a compiled document returns what it returned before: ${name}`, async ({ ann }) => {
    const operation = query.includes('query b') ? { operationName: 'b' } : {};
    const responses = [];
    for (let use = 0; use < USES; use++)
      responses.push(await ann.request('POST', '/graphql', { query, variables, ...operation }));
    const [first] = responses;
    const last = responses.at(-1)!;

    expect(first!.status).toSatisfy((status: number) => status === 200 || status === 400);
    expect({ status: last.status, body: last.body }).toEqual({ status: first!.status, body: first!.body });
  });
}

test('a compiled document applies the permissions of each caller', async ({ admin, ann, anonymous }) => {
  const query = '{ me { username globalPermissions } }';
  for (let use = 0; use < USES; use++) await admin.gql(query);

  expect((await admin.gql(query)).data.me.globalPermissions).toContain('tenant:superuser');
  expect((await ann.gql(query)).errors[0].extensions).toMatchObject({ code: 'FORBIDDEN', status: 403 });
  const refused = anonymous.gql(query);
  await expectGraphqlError(refused, 'UNAUTHENTICATED');
  expect((await refused).status).toBe(401);
});

test('no mutation of a document runs after one that failed, compiled or not', async ({ ann }) => {
  const query = `mutation ($input: CreateTagInput!) {
      deleteTag(id: "01900000-0000-7000-8000-000000000000")
      createTag(input: $input) { id }
    }`;
  for (let use = 0; use < USES + 1; use++)
    expect(await ann.gql(query, { input: { name: `never ${use}` } })).toMatchObject({
      errors: [{ path: ['deleteTag'], extensions: { code: 'NOT_FOUND' } }],
    });
  expect((await ann.get('/tags?q=never')).body.total).toBe(0);
});

test('a failed statement leaves its connection usable', async ({ service, ann }) => {
  const { database, system } = service.platform;
  const [user] = await system.query<{ tenant_id: string }>({
    text: 'select tenant_id from dws.app_user where id = $1',
    values: [ann.id],
  });
  const tenant = user!.tenant_id;
  const divide = (by: number) =>
    database.query<{ quotient: number; at: Date; none: null }>(tenant, {
      text: `select 12 / $1::int as quotient, 'epoch'::timestamptz as at, null as none`,
      values: [by],
    });

  expect(await divide(4)).toEqual([{ quotient: 3, at: new Date(0), none: null }]);
  await expect(divide(0)).rejects.toThrow('division by zero');
  expect(await divide(6)).toEqual([{ quotient: 2, at: new Date(0), none: null }]);
  for (const use of ['unprepared', 'prepared', 'prepared again'])
    await expect(database.query(tenant, { text: 'select nonsense' }), use).rejects.toThrow('"nonsense" does not exist');
  expect(await Promise.all([1, 2, 3].map(divide))).toEqual(
    [12, 6, 4].map((quotient) => [{ quotient, at: new Date(0), none: null }]),
  );
});
