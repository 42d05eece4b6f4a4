import { expect } from 'vitest';
import { test } from '../support/fixture.ts';

/** One more than the use at which a document is compiled (src/server/compiled.ts). */
const USES = 21;

const DOCUMENTS: [name: string, query: string, variables: Record<string, unknown>][] = [
  [
    'fields, aliases and fragments',
    'query($u: ID!) { one: user(username: $u) { ...f again: username } } fragment f on User { username enabled memberships { role } }',
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
  ['a field that is refused', '{ me { username globalPermissions } }', {}],
  ['variables that do not fit', 'query($n: Int) { users(limit: $n) { count } }', { n: 'many' }],
  ['a variable that is missing', 'query($u: ID!) { user(username: $u) { username } }', {}],
  [
    'references, found and not',
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
  ['of several operations the named one', 'query a { me { username } } query b { me { id } }', {}],
];

for (const [name, query, variables] of DOCUMENTS) {
  test(`a document that is compiled answers as it did before: ${name}`, async ({ ann }) => {
    const answers = [];
    for (let use = 0; use < USES; use++)
      answers.push(
        await ann.request('POST', '/graphql', {
          query,
          variables,
          ...(query.includes('query b') && { operationName: 'b' }),
        }),
      );
    const [first] = answers;
    const last = answers.at(-1)!;

    expect(first!.status).toSatisfy((status: number) => status === 200 || status === 400);
    expect({ status: last.status, body: last.body }).toEqual({ status: first!.status, body: first!.body });
  });
}

test('a compiled document serves every caller by their own rights', async ({ admin, ann, anonymous }) => {
  const query = '{ me { username globalPermissions } }';
  for (let use = 0; use < USES; use++) await admin.gql(query);

  expect((await admin.gql(query)).data.me.globalPermissions).toContain('tenant:superuser');
  expect((await ann.gql(query)).errors[0].extensions).toMatchObject({ code: 'FORBIDDEN', status: 403 });
  expect(await anonymous.gql(query)).toMatchObject({
    status: 401,
    errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
  });
});

test('of several mutations none runs after one that failed, however often they are asked for', async ({ ann }) => {
  const query =
    'mutation ($input: CreateTagInput!) { deleteTag(id: "01900000-0000-7000-8000-000000000000") createTag(input: $input) { id } }';
  for (let use = 0; use < USES + 1; use++)
    expect(await ann.gql(query, { input: { name: `never ${use}` } })).toMatchObject({
      errors: [{ path: ['deleteTag'], extensions: { code: 'NOT_FOUND' } }],
    });
  expect((await ann.get('/tags?q=never')).body.total).toBe(0);
});

test('a statement that fails leaves its connection as good as new', async ({ service, ann }) => {
  const { database } = service.platform;
  const [{ tenant_id: tenant }] = (await service.platform.system.query<{ tenant_id: string }>({
    text: 'select tenant_id from dws.app_user where id = $1',
    values: [ann.id],
  })) as [{ tenant_id: string }];
  const divide = (by: number) =>
    database.query<{ is: number; at: Date; none: null }>(tenant, {
      name: 'divides',
      text: `select 12 / $1::int as is, 'epoch'::timestamptz as at, null as none`,
      values: [by],
    });

  expect(await divide(4)).toEqual([{ is: 3, at: new Date(0), none: null }]);
  await expect(divide(0)).rejects.toThrow('division by zero');
  expect(await divide(6)).toEqual([{ is: 2, at: new Date(0), none: null }]);
  await expect(database.query(tenant, { name: 'divides', text: 'select 1' })).rejects.toThrow('another statement');
  await expect(database.query(tenant, { name: 'nonsense', text: 'select nonsense' })).rejects.toThrow(
    '"nonsense" does not exist',
  );
  expect(await Promise.all([1, 2, 3].map(divide))).toEqual(
    [12, 6, 4].map((is) => [{ is, at: new Date(0), none: null }]),
  );
});
