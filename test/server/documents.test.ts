import { executeSync, getIntrospectionQuery, parse } from 'graphql';
import { describe, expect } from 'vitest';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { test } from '../support/fixture.ts';

const FULL = {
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
};

describe('introspection, which runs in a thread of its own,', () => {
  test('returns the whole schema, in its order', async ({ anonymous }) => {
    const query = getIntrospectionQuery(FULL);
    const { body } = await anonymous.request('POST', '/graphql', { query });
    expect(Object.keys(body)).toEqual(['data', 'extensions']);
    const { data } = executeSync({ schema: await createSchema(), document: parse(query) });
    expect(JSON.stringify(body.data) === JSON.stringify(data)).toBe(true);
  });

  test('returns its fields among others, by their order, aliases and directives', async ({ ann }) => {
    const query = `query ($yes: Boolean!, $name: String!) {
      before: me { username }
      ... @include(if: $yes) { type: __type(name: $name) { name } }
      ...Root
      __typename
      left: __type(name: $name) @skip(if: $yes) { name }
    }
    fragment Root on Query { __schema { queryType { name } } after: me { username } }`;
    const { body } = await ann.request('POST', '/graphql', { query, variables: { yes: true, name: 'User', more: 1 } });
    expect(JSON.stringify(body.data)).toBe(
      '{"before":{"username":"ann"},"type":{"name":"User"},"__schema":{"queryType":{"name":"Query"}},' +
        '"after":{"username":"ann"},"__typename":"Query"}',
    );
  });

  test('does not run without credentials in a document that requires them', async ({ anonymous }) => {
    const { status, body } = await anonymous.request('POST', '/graphql', {
      query: '{ __schema { queryType { name } } me { username } }',
    });
    expect([status, body.data, body.errors[0].extensions.code]).toEqual([401, undefined, 'UNAUTHENTICATED']);
  });

  test('returns an error of another field, too', async ({ ann }) => {
    const query = '{ __type(name: "User") { name } user(username: "nobody") { username } }';
    const { body } = await ann.request('POST', '/graphql', { query });
    expect(body.data).toEqual({ __type: { name: 'User' }, user: null });
    expect(body.errors.map(({ path }: { path: string[] }) => path)).toEqual([['user']]);
  });

  test('refuses variables that do not fit', async ({ ann }) => {
    const query = 'query ($name: String!) { __type(name: $name) { name } }';
    const { status, body } = await ann.request('POST', '/graphql', { query, variables: { name: 1 } });
    expect([status, body.errors[0].extensions.code]).toEqual([400, 'BAD_USER_INPUT']);
  });

  test('is refused where it returns many times the schema', async ({ anonymous }) => {
    const fields = Array.from({ length: 50 }, (_, i) => `a${i}: fields { name description }`).join(' ');
    const { status, body } = await anonymous.request('POST', '/graphql', {
      query: `{ __schema { types { ${fields} } } }`,
    });
    expect([status, body.errors[0].extensions.code]).toEqual([400, 'GRAPHQL_LIMIT']);
    expect(body.errors[0].message).toBe('The introspection returns more than 8 million characters');
  });
});

describe('what all callers get', () => {
  const PATHS = ['/api/openapi.json', '/graphql/schema.graphql', '/api/docs/swagger-ui-bundle.js', '/graphiql'];
  const query = encodeURIComponent(getIntrospectionQuery());

  test('is sent in the encoding that the client prefers', async ({ service }) => {
    for (const path of [...PATHS, `/graphql?query=${query}&_=`]) {
      const headers = { 'apollo-require-preflight': 'yes', accept: 'application/json, */*' };
      const get = async (accepted: string) => {
        const response = await fetch(`${service.url}${path}`, { headers: { ...headers, 'accept-encoding': accepted } });
        return { encoding: response.headers.get('content-encoding'), response };
      };
      const plain = await get('identity');
      const text = await plain.response.text();
      expect([path, plain.encoding, text.length > 10_000]).toEqual([path, null, true]);
      for (const [accepted, encoding] of [
        ['gzip, br', 'br'],
        ['br;q=0.5, gzip', 'gzip'],
        ['br;q=0, *', 'gzip'],
      ] as const) {
        const { response, encoding: sent } = await get(accepted);
        // `fetch` decodes the body.
        expect([path, sent, response.headers.get('vary')?.includes('accept-encoding')]).toEqual([path, encoding, true]);
        expect((await response.text()) === text).toBe(true);
      }
    }
  });
});

describe('a long document, which is validated in a thread of its own,', () => {
  const LONG = ' '.repeat(3000);
  const INVALID = [
    '{ me { nothing } unknown(x: 1) { id } }',
    '{ me { id: username id } }',
    '{ auditEvents(limit: "many") { items { id } } }',
    'query ($unused: Int, $used: Nothing) { auditEvents(from: $used, to: true) { items { id } } }',
    'subscription { __typename } fragment F on User { ...F }',
  ];

  test('gets the errors of a short one', async ({ ann }) => {
    for (const query of INVALID) {
      const short = await ann.request('POST', '/graphql', { query });
      const long = await ann.request('POST', '/graphql', { query: query + LONG });
      expect([query, short.status, short.body.errors.length > 0]).toEqual([query, 400, true]);
      const sorted = ({ body }: typeof short) => body.errors.map((error: object) => JSON.stringify(error)).toSorted();
      expect({ status: long.status, errors: sorted(long) }).toEqual({ status: short.status, errors: sorted(short) });
    }
  });

  test('of more than 1,000,000 characters is refused', async ({ ann }) => {
    const { status, body } = await ann.request('POST', '/graphql', {
      query: `{ me { id } } #${'x'.repeat(1_000_000)}`,
    });
    expect([status, body.errors[0].extensions.code]).toEqual([400, 'GRAPHQL_LIMIT']);
  });

  test('runs like a short one', async ({ ann }) => {
    const query = `query ($name: String!) { user(username: $name) { username } }${LONG}`;
    expect(await ann.data(query, { name: 'ann' })).toEqual({ user: { username: 'ann' } });
  });
});
