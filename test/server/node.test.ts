import { expect } from 'vitest';
import { expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';

test('node returns any resource by its id, with the fields of its type', async ({ admin, ann }) => {
  const team = await admin.creates('/teams', { name: 'Finders' });
  const source = await admin.creates('/datasources', {
    name: 'Shop',
    type: 'postgres',
    config: { host: '127.0.0.1', database: 'shop', user: 'reader' },
    secrets: { password: 'p' },
  });
  const query = `query ($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on Team { name members { user { username } } }
      ... on Datasource { slug owner { name } }
      ... on User { username }
    }
  }`;

  expect(await admin.data(query, { id: team.id })).toEqual({
    node: { __typename: 'Team', id: team.id, name: 'Finders', members: [{ user: { username: 'admin' } }] },
  });
  expect(await admin.data(query, { id: source.id })).toEqual({
    node: { __typename: 'Datasource', id: source.id, slug: 'shop', owner: { name: 'admin' } },
  });
  expect(await ann.data(query, { id: ann.id })).toEqual({ node: { __typename: 'User', id: ann.id, username: 'ann' } });
});

test('node is NOT_FOUND for a resource that the caller cannot read', async ({ admin, ann, stranger }) => {
  const source = await admin.creates('/datasources', {
    name: 'Private',
    type: 'postgres',
    config: { host: '127.0.0.1', database: 'shop', user: 'reader' },
    secrets: { password: 'p' },
  });
  for (const client of [ann, stranger]) {
    const result = client.gql(`{ node(id: "${source.id}") { id } }`);
    await expectGraphqlError(result, 'NOT_FOUND', `There is no resource ${source.id}`);
  }
  await expectGraphqlError(admin.gql('{ node(id: "no uuid") { id } }'), 'NOT_FOUND');
});
