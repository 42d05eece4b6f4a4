import { auditServer } from 'graphql-http';
import { expect } from 'vitest';
import { test } from '../support/fixture.ts';

/** Errors of documents and variables are 400 in `application/json` too, which the specification only advises against. */
const CHOSEN = [
  'SHOULD use 200 status code on document parsing failure when accepting application/json',
  'SHOULD use 200 status code on document validation failure when accepting application/json',
  'SHOULD use a status code of 200 on variable coercion failure when accepting application/json',
];

test('the audit of GraphQL over HTTP finds only what was chosen', async ({ service }) => {
  const results = await auditServer({ url: `${service.url}/graphql` });
  expect(results.length).toBeGreaterThan(50);
  const found = results.filter(({ status }) => status !== 'ok');
  expect(found.filter(({ status }) => status === 'error').map(({ name }) => name)).toEqual([]);
  expect(found.filter(({ status }) => status === 'warn').map(({ name }) => name)).toEqual(CHOSEN);
});

test.for(['apollo-require-preflight', 'x-apollo-operation-name', 'graphql-require-preflight'])(
  'a GET with the header %s runs, and none without one of them',
  async (header, { ann }) => {
    const get = (headers: Record<string, string>) =>
      ann.request('GET', `/graphql?query=${encodeURIComponent('{ me { username } }')}`, undefined, headers);
    const { status, body } = await get({ [header]: '1' });
    expect([status, body.data]).toEqual([200, { me: { username: 'ann' } }]);
    expect((await get({})).status).toBe(400);
  },
);
