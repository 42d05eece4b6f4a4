import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { startService } from '../support/service.ts';

describe('a list', () => {
  test.for(['/users', '/datasets', '/notifications', '/teams', '/users-list'])(
    '%s has an ETag of its own for each caller',
    async (path, { admin, service }) => {
      const other = await service.user(`other${path.replaceAll('/', '-')}`, { superuser: true });
      const first = await admin.get(path);
      const tag = first.headers.get('etag')!;
      expect([first.status, tag]).toEqual([200, expect.stringMatching(/^W\/"[\w-]{16}"$/)]);
      const again = await admin.get(path, { 'if-none-match': tag });
      expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, '', tag]);
      expect((await other.get(path)).headers.get('etag')).not.toBe(tag);
    },
  );

  test('has another ETag when it changes', async ({ admin }) => {
    const tagOf = async () => (await admin.get('/tags')).headers.get('etag');
    const before = await tagOf();
    await admin.creates('/tags', { name: 'New' });
    expect(await tagOf()).not.toBe(before);
  });
});

describe('a slash at the end of a path', () => {
  test('changes nothing, and no link has it', async ({ admin }) => {
    const { id } = await admin.creates('/teams', { name: 'Slashes' });
    for (const path of ['/teams', `/teams/${id}`, `/teams/${id}/members`, '/teams?limit=1', '']) {
      const [before, query = ''] = path.split('?');
      const withSlash = await admin.request('GET', `/api${before}/${query && `?${query}`}`);
      const without = await admin.get(path);
      expect([path, withSlash.status, withSlash.body]).toEqual([path, 200, without.body]);
    }
    expect((await admin.request('POST', '/api/tags/', { name: 'Slash' })).status).toBe(201);
    expect((await admin.request('POST', '/graphql/', { query: '{ __typename }' })).status).toBe(200);
  });

  test('is not ignored twice, nor elsewhere', async ({ admin }) => {
    expect((await admin.request('GET', '/api/teams//')).status).toBe(404);
    expect((await admin.request('GET', '/healthz/')).status).toBe(404);
  });
});

describe('errors as problem details', () => {
  const PROBLEM = 'application/problem+json; charset=utf-8';
  const read = (client: Client, accept: string, path = '/teams/nope') => client.get(path, { accept });

  test('have the code, the page that explains it, and the request', async ({ admin, anonymous }) => {
    const { status, headers, body } = await read(
      admin,
      'application/problem+json, application/json',
      '/teams/nope?x=1',
    );
    expect([status, headers.get('content-type')]).toEqual([400, PROBLEM]);
    expect(body).toEqual({
      type: '/api/docs/errors/BAD_USER_INPUT',
      title: 'Bad Request',
      status: 400,
      detail: expect.stringContaining('"x"'),
      instance: '/api/teams/nope',
      code: 'BAD_USER_INPUT',
      errors: [{ path: ['x'], message: expect.any(String), code: expect.any(String) }],
      requestId: headers.get('x-request-id'),
    });
    const page = await anonymous.request('GET', body.type);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(String(page.body)).toContain('BAD_USER_INPUT');
    expect((await anonymous.request('GET', '/api/docs/errors/NOPE')).status).toBe(404);
    const refused = await read(anonymous, 'application/problem+json');
    expect([refused.status, refused.body.code]).toEqual([401, 'UNAUTHENTICATED']);
  });

  test.for([
    ['application/problem+json', true],
    ['application/json;q=0.5, application/problem+json', true],
    ['application/json, application/problem+json;q=0.5', false],
    ['application/problem+json;q=0', false],
    ['*/*', false],
    ['application/hal+json', false],
  ] as const)('are sent for `Accept: %s`: %s', async ([accept, expected], { admin }) => {
    const { status, headers } = await read(admin, accept);
    expect(status).toBe(404);
    expect(headers.get('content-type')!.startsWith('application/problem+json')).toBe(expected);
  });

  test('are chosen by `Accept` for errors only', async ({ admin }) => {
    const { status, headers, body } = await read(admin, 'application/problem+json', '/me');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body.username).toBe('admin');
  });
});

test('a body of another media type is 415, which names the right one', async ({ admin }) => {
  const send = (path: string, type: string) =>
    fetch(`${admin.url}${path}`, { method: 'POST', headers: { ...admin.headers, 'content-type': type }, body: '<a/>' });
  for (const [path, type, accepted] of [
    ['/api/tags', 'text/xml', 'application/json'],
    ['/api/datasets/_upload', 'application/json', 'multipart/form-data'],
  ] as const) {
    const response = await send(path, type);
    expect([path, response.status, response.headers.get('accept')]).toEqual([path, 415, accepted]);
    expect(((await response.json()) as { message: string }).message).toContain(accepted);
  }
});

test('the catalog of APIs leads to both, without credentials', async ({ anonymous }) => {
  const { status, headers, body } = await anonymous.request('GET', '/.well-known/api-catalog');
  expect([status, headers.get('content-type')]).toEqual([
    200,
    'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  ]);
  const { linkset } = (typeof body === 'string' ? JSON.parse(body) : body) as {
    linkset: Record<string, { href: string }[]>[];
  };
  expect(linkset.map(({ anchor }) => new URL(String(anchor)).pathname)).toEqual(['/api', '/graphql']);
  for (const { anchor: _, ...links } of linkset)
    for (const { href } of Object.values(links).flat()) {
      const { pathname } = new URL(href);
      const response = await anonymous.request('GET', pathname, undefined, { accept: 'text/html' });
      expect([pathname, response.status]).toEqual([pathname, 200]);
    }
});

test('every response to a limited caller names the limit and the calls that are left, in both APIs', async () => {
  const service = await startService({ RATE_LIMIT_API: '50' });
  try {
    const ann = await service.user('ann');
    const left = (headers: Headers) => Number(/^"api";r=(\d+);t=\d+$/.exec(headers.get('ratelimit') ?? '')?.[1]);
    const first = await ann.get('/me');
    expect(first.headers.get('ratelimit-policy')).toBe('"api";q=50;w=60');
    expect(left(first.headers)).toBe(49);
    expect(left((await ann.get('/datasets/nope')).headers)).toBe(48);
    expect(left((await ann.gql('{ me { id } }')).headers)).toBe(47);
    await expectBody(ann.request('GET', '/healthz'), 200, {});
    expect((await ann.request('GET', '/healthz')).headers.get('ratelimit')).toBeNull();
  } finally {
    await service.close();
  }
});
