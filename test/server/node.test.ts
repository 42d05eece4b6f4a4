import { expect } from 'vitest';
import { test } from '../support/fixture.ts';

test('node finds whatever has an id, with what is selected of its type', async ({ admin, ann }) => {
  const team = await admin.creates('/teams', { name: 'Finders' });
  const source = await admin.creates('/datasources', {
    name: 'Shop',
    type: 'postgres',
    config: { host: '127.0.0.1', database: 'shop', user: 'reader' },
    secrets: { password: 'p' },
  });
  const query = `query ($id: ID!) { node(id: $id) { __typename id ... on Team { name members { user { username } } } ... on Datasource { slug owner { name } } ... on User { username } } }`;

  expect(await admin.data(query, { id: team.id })).toEqual({
    node: { __typename: 'Team', id: team.id, name: 'Finders', members: [{ user: { username: 'admin' } }] },
  });
  expect(await admin.data(query, { id: source.id })).toEqual({
    node: { __typename: 'Datasource', id: source.id, slug: 'shop', owner: { name: 'admin' } },
  });
  expect(await ann.data(query, { id: ann.id })).toEqual({ node: { __typename: 'User', id: ann.id, username: 'ann' } });
});

test('node does not find what the caller may not read', async ({ admin, ann, stranger }) => {
  const source = await admin.creates('/datasources', {
    name: 'Private',
    type: 'postgres',
    config: { host: '127.0.0.1', database: 'shop', user: 'reader' },
    secrets: { password: 'p' },
  });
  for (const nobody of [ann, stranger]) {
    expect(await nobody.gql(`{ node(id: "${source.id}") { id } }`)).toMatchObject({
      errors: [{ message: `There is no resource ${source.id}`, extensions: { code: 'NOT_FOUND' } }],
    });
  }
  expect(await admin.gql('{ node(id: "no uuid") { id } }')).toMatchObject({
    errors: [{ extensions: { code: 'NOT_FOUND' } }],
  });
});
