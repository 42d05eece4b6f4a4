import { expect } from 'vitest';
import { createOrders } from '../dataset/dataset-fixture.ts';
import type { Client } from '../support/client.ts';
import { startService } from '../support/service.ts';
import { test } from '../support/shop-fixture.ts';

/* The method QUERY (RFC 10008): safe, with a body. */

const query = (client: Client, path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${client.url}${path}`, {
    method: 'QUERY',
    headers: { 'content-type': 'application/json', ...client.headers, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code;

test('rows of a dataset are queried as by _search, and revalidated', async ({ ann, bob, source }) => {
  const { id } = await createOrders(ann, source, { refresh: true });
  const path = `/api/datasets/${id}/data`;
  const body = { filter: { region: 'EU' }, sort: '-amount', limit: 2 };
  const first = await query(ann, path, body);
  expect([first.status, first.headers.get('accept-query')]).toEqual([200, 'application/json']);
  const page = (await first.json()) as { _embedded: object; total: number };
  expect(page._embedded).toEqual({
    'svc:record': [
      expect.objectContaining({ id: 20, region: 'EU' }),
      expect.objectContaining({ id: 16, region: 'EU' }),
    ],
  });
  // Cursors are encrypted anew each time.
  expect({ ...page, next: '' }).toEqual({ ...(await ann.post(`/datasets/${id}/_search`, body)).body, next: '' });
  const tag = first.headers.get('etag')!;
  const statusOf = async (sent: object, client = ann) =>
    (await query(client, path, sent, { 'if-none-match': tag })).status;
  expect([await statusOf(body), await statusOf({ ...body, limit: 3 }), await statusOf(body, bob)]).toEqual([
    304, 200, 404,
  ]);
  await ann.post(`/datasets/${id}/_refresh`);
  await expect.poll(() => statusOf(body)).toBe(200);
  // The resource names it to clients that read.
  expect((await ann.get(`/datasets/${id}/data`)).headers.get('accept-query')).toBe('application/json');
  const { headers } = await ann.request('DELETE', path);
  expect(headers.get('allow')).toBe('GET, HEAD, QUERY, OPTIONS');
});

test('refuses what a POST refuses, and a body without a type', async ({ ann, anonymous, source }) => {
  const { id } = await createOrders(ann, source, {});
  const path = `/api/datasets/${id}/data`;
  expect((await query(anonymous, path, {})).status).toBe(401);
  expect((await query(ann, path, { nope: 1 })).status).toBe(400);
  expect((await query(ann, path, '{')).status).toBe(400);
  for (const at of [path, '/graphql']) {
    const typed = await query(ann, at, 'a=1', { 'content-type': 'application/x-www-form-urlencoded' });
    expect([typed.status, typed.headers.get('accept')]).toEqual([415, 'application/json']);
    const untyped = await fetch(`${ann.url}${at}`, { method: 'QUERY', headers: ann.headers });
    expect([untyped.status, await codeOf(untyped)]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  }
  const elsewhere = await query(ann, '/api/tags', {});
  expect([elsewhere.status, elsewhere.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
});

test('GraphQL runs queries, from any page of the browser, and refuses mutations', async ({ service, ann }) => {
  const session = await service.login('ann');
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  const document = 'query A($n: Int!) { tags(limit: $n) { total } }';
  for (const [client, headers] of [
    [ann, {}],
    [session, foreign],
  ] as const) {
    const response = await query(client, '/graphql', { query: document, variables: { n: 1 } }, headers);
    expect([response.status, response.headers.get('accept-query'), await response.json()]).toMatchObject([
      200,
      'application/json',
      { data: { tags: { total: 0 } } },
    ]);
  }
  const refused = await query(ann, '/graphql', { query: 'mutation { createTag(input: {name: "q"}) { id } }' });
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST']);
  expect(await refused.json()).toMatchObject({ errors: [{ extensions: { code: 'METHOD_NOT_ALLOWED', status: 405 } }] });
  expect((await ann.get('/tags')).body.total).toBe(0);
  const get = await ann.request('GET', '/graphql?query=%7B__typename%7D', undefined, {
    'apollo-require-preflight': '1',
  });
  expect(get.headers.get('accept-query')).toBe('application/json');
});

test('browsers of CORS_ORIGINS may send it', async () => {
  const service = await startService({ CORS_ORIGINS: 'https://app.example' });
  const { headers } = await fetch(`${service.url}/graphql`, {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'QUERY' },
  });
  expect(headers.get('access-control-allow-methods')).toContain('QUERY');
  await service.close();
});
