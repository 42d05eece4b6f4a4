import { expect } from 'vitest';
import { test } from '../support/fixture.ts';

/** Documents that run a field which requires credentials, and those that do not. */
const PRIVATE = [
  '{ me { id } }',
  '{ __typename dataset(id: "x") { id } }',
  '{ loginProviders { __typename } me { id } }',
  'query ($on: Boolean = true) { __typename me @include(if: $on) { id } }',
  'query ($on: Boolean!) { __typename ...F @skip(if: $on) } fragment F on Query { me { id } }',
  'query { __typename ... on Query { ...F } } fragment F on Query { ... { me { id } } }',
  'mutation { createTag(input: { name: "x" }) { id } }',
];
const OPEN = [
  '{ __typename }',
  'query ($on: Boolean = true) { __typename me @skip(if: $on) { id } }',
  '{ __typename ...F @include(if: false) } fragment F on Query { me { id } }',
];

test('a document is refused without credentials before it runs, with errors only', async ({ anonymous }) => {
  for (const accept of ['application/json', 'application/graphql-response+json'])
    for (const query of PRIVATE) {
      // Where a variable has a default, the default counts.
      const body = { query, ...(query.includes('Boolean!') && { variables: { on: false } }) };
      const response = await anonymous.request('POST', '/graphql', body, { accept });
      expect([response.status, 'data' in response.body], query).toEqual([401, false]);
      expect(response.body.errors).toMatchObject([
        { message: 'Missing authentication', extensions: { code: 'UNAUTHENTICATED', status: 401 } },
      ]);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
    }
  for (const query of OPEN) expect((await anonymous.gql(query)).data, query).toMatchObject({ __typename: 'Query' });
});
