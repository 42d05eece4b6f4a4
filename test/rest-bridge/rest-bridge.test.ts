import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { smallWorld } from './fixture.ts';

type World = Awaited<ReturnType<typeof smallWorld>>;

// Every rule holds whether documents are interpreted or compiled: twice each, for compilation begins with the second use.
describe.each([{ jit: false }, { jit: true }])('what the bridge answers ($jit)', ({ jit }) => {
  let world: World;
  beforeAll(async () => {
    world = await smallWorld({ jit });
  });
  beforeEach(() => {
    world.seen.length = 0;
  });
  afterAll(() => world.app.close());

  const call = async (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD',
    url: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const request = { method, url: `/api${url}`, headers, ...(body !== undefined && { payload: body as object }) };
    if (method === 'GET') await world.app.inject(request);
    world.seen.length = 0;
    const reply = await world.app.inject(request);
    return {
      status: reply.statusCode,
      headers: reply.headers,
      body: reply.body === '' ? undefined : (JSON.parse(reply.body) as Record<string, never>),
    };
  };

  test('one record has its fields, its links and nothing else', async () => {
    const { status, body, headers } = await call('GET', '/datasets/1');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(body).toEqual({
      id: '1',
      slug: 'slug-1',
      name: 'Set 1',
      tenant: 'default',
      records: 3,
      createdAt: '2026-01-02T03:04:05.678Z',
      permissions: { read: true, write: false },
      _links: { self: { href: '/api/datasets/1' }, 'svc:data': { href: '/api/datasets/1/data' } },
    });
  });

  test('a collection is HAL: links, embedded items, start, count and total', async () => {
    const { body } = await call('GET', '/datasets?limit=10&start=20&sort=-name');
    expect(body).toMatchObject({
      start: 20,
      count: 10,
      total: 45,
      _links: {
        self: { href: '/api/datasets?limit=10&start=20&sort=-name' },
        first: { href: '/api/datasets?limit=10&sort=-name' },
        prev: { href: '/api/datasets?limit=10&sort=-name&start=10' },
        next: { href: '/api/datasets?limit=10&sort=-name&start=30' },
        last: { href: '/api/datasets?limit=10&sort=-name&start=40' },
      },
    });
    expect(body).toHaveProperty(['_embedded', 'svc:dataset', 'length'], 10);
    expect(body).toHaveProperty(['_embedded', 'svc:dataset', '0', '_links', 'self', 'href'], '/api/datasets/21');
    expect(Object.keys(body!).sort()).toEqual(['_embedded', '_links', 'count', 'start', 'total']);
  });

  test('the first and the last page have no neighbour beyond them', async () => {
    const first = await call('GET', '/datasets');
    expect(first.body!['_links']).toEqual({
      self: { href: '/api/datasets' },
      first: { href: '/api/datasets' },
      next: { href: '/api/datasets?start=30' },
      last: { href: '/api/datasets?start=30' },
    });
    const last = await call('GET', '/datasets?start=30');
    expect(last.body!['_links']).toEqual({
      self: { href: '/api/datasets?start=30' },
      first: { href: '/api/datasets' },
      prev: { href: '/api/datasets' },
      last: { href: '/api/datasets?start=30' },
    });
  });

  test('children run through their parent, are counted, and may embed others', async () => {
    const { body } = await call('GET', '/datasets/1/visuals?pinned=true&components=bar-chart,table');
    expect(body).toMatchObject({
      start: 0,
      count: 2,
      total: 2,
      _links: { first: { href: '/api/datasets/1/visuals?pinned=true&components=bar-chart,table' } },
    });
    expect(body).toHaveProperty(['_embedded', 'svc:visual', '0'], {
      id: 'v1',
      name: null,
      component: 'bar-chart',
      position: 0,
      config: { component: 'BAR_CHART' },
      _links: { self: { href: '/api/datasets/1/visuals/v1' }, 'svc:dataset': { href: '/api/datasets/1' } },
      _embedded: { 'svc:tag': { id: 't', name: 'Red' } },
    });
    expect(world.seen).toEqual([{ pinned: true, components: ['bar-chart', 'table'] }]);
  });

  test('a cursor replaces start in the next link, and there is no last', async () => {
    const { body } = await call('GET', '/datasets/1/data?limit=1&filter={"a":1}&fields=a&fields=b');
    expect(body).toMatchObject({
      _embedded: { 'svc:record': [{ a: 1 }] },
      fields: [{ name: 'a', type: 'integer' }],
      next: 'c/1',
      total: 900,
    });
    expect(body).not.toHaveProperty(['_links', 'last']);
    expect(body).toHaveProperty(
      ['_links', 'next', 'href'],
      '/api/datasets/1/data?limit=1&filter={%22a%22:1}&fields=a&fields=b&after=c%2F1',
    );
    expect(world.seen).toEqual([{ filter: { a: 1 }, limit: 1, start: 0, fields: ['a', 'b'] }]);
  });

  test('creating answers 201 with the address of what was made', async () => {
    const { status, headers, body } = await call('POST', '/datasets', { name: 'New' });
    expect([status, headers['location'], body!['name']]).toEqual([201, '/api/datasets/12', 'New']);
  });

  test('deleting answers an empty 204', async () => {
    const { status, body } = await call('DELETE', '/datasets/3?transferTo=ann');
    expect([status, body]).toEqual([204, undefined]);
    expect(world.seen).toEqual([{ id: '3', transferTo: 'ann' }]);
  });

  test('enums are the specification’s words both ways, also inside inputs and as numbers', async () => {
    const { body } = await call('POST', '/datasets/1/visuals', {
      component: 'table',
      parts: [{ component: 'bar-chart', size: 2 }],
    });
    expect(body!['component']).toBe('table');
    expect(world.seen).toEqual([{ component: 'table', parts: [{ component: 'bar-chart', size: 2 }] }]);
    expect((await call('PUT', '/datasets/1/shares/bob', { accessLevel: 1 })).body).toEqual({
      principalId: 'bob',
      accessLevel: 1,
    });
    expect((await call('GET', '/datasets/1/shares/bob')).body).toEqual({ principalId: 'bob', accessLevel: 2 });
  });

  test('a status may depend on what happened', async () => {
    expect((await call('PUT', '/datasets/1/shares/new', { accessLevel: 1 })).status).toBe(201);
    expect((await call('PUT', '/datasets/1/shares/old', { accessLevel: 1 })).status).toBe(200);
  });

  test('a long operation answers its result, or at once with its record', async () => {
    const waited = await call('POST', '/datasets/1/_refresh', { progress: 'p', syncFields: false });
    expect([waited.status, waited.body]).toEqual([200, { id: '1', records: 5, success: true }]);
    expect(waited.headers).not.toHaveProperty('location');
    expect(world.seen).toEqual([{ wait: true, input: { syncFields: false } }]);
    const begun = await call('POST', '/datasets/1/_refresh', undefined, { prefer: 'wait=5, respond-async' });
    expect([begun.status, begun.headers['location'], begun.headers['preference-applied']]).toEqual([
      202,
      '/api/progress/op1',
      'respond-async',
    ]);
    expect(begun.body).toEqual({
      id: 'op1',
      status: 'queued',
      progress: null,
      _links: { self: { href: '/api/progress/op1' } },
    });
    expect(world.seen).toEqual([{ wait: false }]);
  });

  test('a POST takes the named arguments from the query and the others from the body', async () => {
    expect((await call('POST', '/datasets/1/copy?data=false', { name: 'Copy', progress: 'x' })).body).toMatchObject({
      id: '13',
      name: 'Copy',
    });
    expect(world.seen).toEqual([{ id: '1', data: false, progress: 'x' }]);
    expect((await call('POST', '/datasets/1/copy', { name: 'Copy', data: false })).status).toBe(400);
  });

  test('a body may be an argument as a whole, and an argument may be fixed by the row', async () => {
    expect((await call('POST', '/field-access', { d1: true, d2: false })).body).toEqual({ d1: true, d2: false });
    expect((await call('POST', '/datasets/1/_touch')).status).toBe(204);
  });

  test('plain rows travel by sofa-api and answer the field’s own JSON', async () => {
    expect((await call('GET', '/words')).body).toEqual(['a', 'b']);
    expect((await call('GET', '/datasets/1/permissions')).body).toEqual({ read: true, write: false });
    expect((await call('POST', '/parse-config', { config: 'npx server' })).body).toEqual({
      args: { config: 'npx server' },
    });
    expect(await call('GET', '/plain-fails?how=conflict')).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', message: 'It is used by 2 jobs' },
    });
    expect(await call('GET', '/datasets/a%2Fb%25%3F/permissions')).toMatchObject({
      status: 404,
      body: { message: 'There is no dataset a/b%?' },
    });
    expect(await call('GET', '/words?x=1')).toMatchObject({
      status: 400,
      body: { message: 'Unknown query parameter "x"' },
    });
    expect(await call('POST', '/webhook', { url: 'http://10.0.0.1' })).toMatchObject({ status: 404 });
    expect(await call('DELETE', '/webhook/1')).toMatchObject({ status: 404 });
  });

  test('a row’s own handler runs the field, streams, and is listed like any other', async () => {
    const bytes = await world.app.inject({
      method: 'PUT',
      url: '/api/datasets/4/avatar',
      headers: { 'content-type': 'image/png' },
      payload: Buffer.alloc(2500),
    });
    expect(bytes.json()).toMatchObject({ id: '4', records: 2500, _links: { self: { href: '/api/datasets/4' } } });
    expect((await world.app.inject('/api/files/a/b.txt')).body).toBe('file a/b.txt');
    const boundary =
      '--b\r\ncontent-disposition: form-data; name="any"; filename="i.png"\r\ncontent-type: image/png\r\n\r\n12345\r\n--b--\r\n';
    const form = await world.app.inject({
      method: 'PUT',
      url: '/api/datasets/4/icon',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      payload: boundary,
    });
    expect(form.json()).toMatchObject({ records: 5 });
    expect(
      (
        await world.app.inject({
          method: 'POST',
          url: '/api/datasets',
          headers: { 'content-type': 'multipart/form-data; boundary=b' },
          payload: boundary,
        })
      ).statusCode,
    ).toBe(415);
  });

  test('a subscription is sent as events, or refused like any other request', async () => {
    const { body, headers } = await world.app.inject('/api/ticks?to=2');
    expect(headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(body).toBe('event: tick\nid: 1\ndata: {"id":"1"}\n\nevent: tick\nid: 2\ndata: {"id":"2"}\n\n');
    expect(await call('GET', '/ticks')).toMatchObject({ status: 400, body: { message: '"to" is required' } });
    expect(await call('GET', '/ticks?to=two')).toMatchObject({
      status: 400,
      body: { message: '"to" must be an integer' },
    });
  });

  test('a record has a weak tag of version and content; who has it gets 304', async () => {
    const { headers } = await call('GET', '/datasets/1');
    const tag = headers['etag'] as string;
    expect(tag).toMatch(/^W\/"7-[\w-]{16}"$/);
    expect(await call('GET', '/datasets/1', undefined, { 'if-none-match': `"x", ${tag}` })).toMatchObject({
      status: 304,
      body: undefined,
      headers: { etag: tag },
    });
    expect((await call('GET', '/datasets/1', undefined, { 'if-none-match': 'W/"7-other"' })).status).toBe(200);
    expect((await call('GET', '/datasets')).headers).not.toHaveProperty('etag');
  });

  test('If-Match reaches whoever changes the record', async () => {
    expect((await call('PUT', '/datasets/1', { name: 'x' }, { 'if-match': 'W/"7-abc"' })).status).toBe(200);
    expect((await call('PUT', '/datasets/1', { name: 'x' }, { 'if-match': '"7"' })).status).toBe(200);
    expect((await call('PUT', '/datasets/1', { name: 'x' }, { 'if-match': '*' })).status).toBe(200);
    expect(await call('PUT', '/datasets/1', { name: 'x' }, { 'if-match': '"6-abc"' })).toMatchObject({
      status: 412,
      body: { code: 'PRECONDITION_FAILED' },
    });
    expect(await call('PUT', '/datasets/1', { name: 'x' }, { 'if-match': '"nonsense"' })).toMatchObject({
      status: 412,
    });
  });

  test('HEAD is GET without the body', async () => {
    expect(await call('HEAD', '/datasets/1')).toMatchObject({
      status: 200,
      body: undefined,
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
  });

  test('an answer of ours can be edited and sent back', async () => {
    const { body } = await call('GET', '/datasets/1');
    expect(await call('PUT', '/datasets/1', { ...body, name: 'Edited' })).toMatchObject({
      status: 200,
      body: { name: 'Edited' },
    });
    const changed = await call('PUT', '/datasets/1', { ...body, id: '2', tenant: 'other' });
    expect([changed.status, changed.body!['message'], changed.body!['validation']]).toEqual([
      400,
      '"id" cannot be changed',
      [
        { path: ['id'], message: '"id" cannot be changed', code: 'immutable' },
        { path: ['tenant'], message: '"tenant" cannot be changed', code: 'immutable' },
      ],
    ]);
    expect((await call('POST', '/datasets', { ...body, name: 'x' })).status).toBe(400);
  });
});
