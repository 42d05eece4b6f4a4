import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { startTestBridge, type TestBridge } from './fixture.ts';

const curies = [{ name: 'svc', href: '/api/docs/relations/{rel}', templated: true }];

// Every rule applies to interpreted and to compiled documents.
describe.each([{ jit: false }, { jit: true }])('responses of the bridge (jit: $jit)', ({ jit }) => {
  let bridge: TestBridge;
  beforeAll(async () => {
    bridge = await startTestBridge({ jit });
  });
  beforeEach(() => {
    bridge.seen.length = 0;
  });
  afterAll(() => bridge.app.close());

  const call: TestBridge['call'] = (...request) => bridge.call(...request);
  const get = (url: string, headers?: Record<string, string>) => call('GET', url, undefined, headers);

  test('a record has its fields and its links, and nothing else', async () => {
    const { status, body, headers } = await get('/datasets/1');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(body).toEqual({
      id: '1',
      slug: 'slug-1',
      name: 'Set 1',
      tenant: 'default',
      records: 3,
      createdAt: '2026-01-02T03:04:05.678Z',
      permissions: { read: true, write: false },
      _links: {
        self: { href: '/api/datasets/1' },
        'svc:data': { href: '/api/datasets/1/data' },
        'svc:permissions': { href: '/api/datasets/1/permissions' },
        'svc:visuals': { href: '/api/datasets/1/visuals' },
        'svc:draft': { href: '/api/datasets/1/draft' },
        curies,
      },
    });
  });

  test('a collection is HAL: links, embedded items, start, count and total', async () => {
    const { body } = await get('/datasets?limit=10&start=20&sort=-name');
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
    expect(Object.keys(body).sort()).toEqual(['_embedded', '_links', 'count', 'start', 'total']);
  });

  test('the first page has no link prev, the last page has no link next', async () => {
    const first = await get('/datasets');
    expect(first.body._links).toEqual({
      self: { href: '/api/datasets' },
      first: { href: '/api/datasets' },
      next: { href: '/api/datasets?start=30' },
      last: { href: '/api/datasets?start=30' },
      up: { href: '/api' },
      curies,
    });
    const last = await get('/datasets?start=30');
    expect(last.body._links).toEqual({
      self: { href: '/api/datasets?start=30' },
      first: { href: '/api/datasets' },
      prev: { href: '/api/datasets' },
      last: { href: '/api/datasets?start=30' },
      up: { href: '/api' },
      curies,
    });
  });

  test('a list of children has counts, and may embed further resources', async () => {
    const { body } = await get('/datasets/1/visuals?pinned=true&components=bar-chart,table');
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
    expect(bridge.seen).toEqual([{ pinned: true, components: ['bar-chart', 'table'] }]);
  });

  test('with a cursor, the next link has no start, and there is no last link', async () => {
    const { body } = await get('/datasets/1/data?limit=1&filter={"a":1}&fields=a&fields=b');
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
    expect(bridge.seen).toEqual([{ filter: { a: 1 }, limit: 1, start: 0, fields: ['a', 'b'] }]);
  });

  test('creating returns 201 with the path of the new resource', async () => {
    const { status, headers, body } = await call('POST', '/datasets', { name: 'New' });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe('/api/datasets/12');
    expect(body.name).toBe('New');
  });

  test('deleting returns an empty 204', async () => {
    const { status, body } = await call('DELETE', '/datasets/3?transferTo=ann');
    expect(status).toBe(204);
    expect(body).toBeUndefined();
    expect(bridge.seen).toEqual([{ id: '3', transferTo: 'ann' }]);
  });

  test('enums have REST values in requests and responses, inside inputs and as numbers too', async () => {
    const { body } = await call('POST', '/datasets/1/visuals', {
      component: 'table',
      parts: [{ component: 'bar-chart', size: 2 }],
    });
    expect(body.component).toBe('table');
    expect(bridge.seen).toEqual([{ component: 'table', parts: [{ component: 'bar-chart', size: 2 }] }]);
    expect((await call('PUT', '/datasets/1/shares/bob', { accessLevel: 1 })).body).toEqual({
      principalId: 'bob',
      accessLevel: 1,
    });
    expect((await get('/datasets/1/shares/bob')).body).toEqual({ principalId: 'bob', accessLevel: 2 });
  });

  test('the status may depend on the result', async () => {
    expect((await call('PUT', '/datasets/1/shares/new', { accessLevel: 1 })).status).toBe(201);
    expect((await call('PUT', '/datasets/1/shares/old', { accessLevel: 1 })).status).toBe(200);
  });

  test('a long operation returns its result, or immediately its record', async () => {
    const waited = await call('POST', '/datasets/1/_refresh', { progress: 'p', syncFields: false });
    expect(waited.status).toBe(200);
    expect(waited.body).toEqual({ id: '1', records: 5, success: true });
    expect(waited.headers.has('location')).toBe(false);
    expect(bridge.seen).toEqual([{ wait: true, input: { syncFields: false } }]);

    const deferred = await call('POST', '/datasets/1/_refresh', undefined, { prefer: 'wait=5, respond-async' });
    expect(deferred.status).toBe(202);
    expect(deferred.headers.get('location')).toBe('/api/progress/op1');
    expect(deferred.headers.get('preference-applied')).toBe('respond-async');
    expect(deferred.body).toEqual({
      id: 'op1',
      status: 'queued',
      progress: null,
      _links: { self: { href: '/api/progress/op1' } },
    });
    expect(bridge.seen).toEqual([{ wait: false }]);
  });

  test('a POST takes the named arguments from the query and the others from the body', async () => {
    expect((await call('POST', '/datasets/1/copy?data=false', { name: 'Copy', progress: 'x' })).body).toMatchObject({
      id: '13',
      name: 'Copy',
    });
    expect(bridge.seen).toEqual([{ id: '1', data: false, progress: 'x' }]);
    expect((await call('POST', '/datasets/1/copy', { name: 'Copy', data: false })).status).toBe(400);
  });

  test('a body may be an argument as a whole, and an argument may be fixed by the row', async () => {
    expect((await call('POST', '/field-access', { d1: true, d2: false })).body).toEqual({ d1: true, d2: false });
    expect((await call('POST', '/datasets/1/_touch')).status).toBe(204);
  });

  test('plain rows return the JSON of the field, through sofa-api', async () => {
    expect((await get('/words')).body).toEqual(['a', 'b']);
    const [at, parts] = ['2026-01-02T03:04:05.678Z', [{ id: 'p1', size: null }]];
    for (const word of ['a', 'a/b%?', 'tenant:slug', 'é +', 'a&b=c', '[1]'])
      expect((await get(`/reports/${encodeURIComponent(word)}`)).body).toEqual({ word, parts, at });
    expect((await call('POST', '/parts/p%2F1/_measure')).body).toEqual({ id: 'p/1', size: 3 });
    expect(bridge.seen).toEqual(['p/1']);
    const port = Number(new URL(await bridge.app.listen({ port: 0 })).port);
    const dots = await text((await once(request({ port, path: '/api/reports/..' }).end(), 'response'))[0]);
    expect(JSON.parse(dots)).toEqual({ word: '..', parts, at });
    await expectError(get('/words?x=1'), 400, 'Unknown query parameter "x"');
    await expectError(call('POST', '/parts/1/_measure?x=1'), 400, 'Unknown query parameter "x"');
    await expectError(call('POST', '/parts/1/_measure', { x: 1 }), 400);
    expect(bridge.seen).toEqual([]);
  });

  test('errors of plain rows are sent as the errors of other rows', async () => {
    await expectBody(get('/reports/conflict'), 409, { code: 'CONFLICT', message: 'It is used by 2 jobs' });
    await expectBody(get('/reports/unavailable'), 503, { code: 'UNAVAILABLE' });
    expect((await get('/reports/unavailable')).headers.get('retry-after')).toBe('5');
    await expectBody(get('/reports/bug'), 500, { code: 'INTERNAL', requestId: 'req-1' });
  });

  test('routes of sofa-api itself do not exist', async () => {
    await expectError(call('POST', '/webhook', { url: 'http://10.0.0.1' }), 404);
    await expectError(call('DELETE', '/webhook/1'), 404);
  });

  test('a handler runs the field and streams its body', async () => {
    const bytes = await bridge.app.inject({
      method: 'PUT',
      url: '/api/datasets/4/avatar',
      headers: { 'content-type': 'image/png' },
      payload: Buffer.alloc(2500),
    });
    expect(bytes.json()).toMatchObject({ id: '4', records: 2500, _links: { self: { href: '/api/datasets/4' } } });
    expect((await bridge.app.inject('/api/files/a/b.txt')).body).toBe('file a/b.txt');
  });

  test('only rows that consume forms accept one', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const payload = [
      '--b',
      'content-disposition: form-data; name="any"; filename="i.png"',
      'content-type: image/png',
      '',
      '12345',
      '--b--',
      '',
    ].join('\r\n');
    const accepted = await bridge.app.inject({ method: 'PUT', url: '/api/datasets/4/icon', headers, payload });
    expect(accepted.json()).toMatchObject({ records: 5 });
    const refused = await bridge.app.inject({ method: 'POST', url: '/api/datasets', headers, payload });
    expect(refused.statusCode).toBe(415);
  });

  test('a subscription is a stream of events, or an error response', async () => {
    const { body, headers } = await bridge.app.inject('/api/ticks?to=2');
    expect(headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const events = 'event: tick\nid: 1\ndata: {"id":"1"}\n\nevent: tick\nid: 2\ndata: {"id":"2"}\n\n';
    expect(body).toBe(`retry: 2000\n\n${events}`);
    await expectError(get('/ticks'), 400, '"to" is required');
    await expectError(get('/ticks?to=two'), 400, '"to" must be an integer');
  });

  test('a record has a weak entity tag of version and content, and is 304 for a client that has it', async () => {
    const tag = (await get('/datasets/1')).headers.get('etag')!;
    expect(tag).toMatch(/^W\/"7-[\w-]{16}"$/);
    const unchanged = await get('/datasets/1', { 'if-none-match': `"x", ${tag}` });
    expect(unchanged).toMatchObject({ status: 304, body: undefined });
    expect(unchanged.headers.get('etag')).toBe(tag);
    expect((await get('/datasets/1', { 'if-none-match': 'W/"7-other"' })).status).toBe(200);
    // A list has no version.
    expect((await get('/datasets')).headers.get('etag')).toMatch(/^W\/"[\w-]{16}"$/);
  });

  test('If-Match applies to changes', async () => {
    const rename = (ifMatch: string) => call('PUT', '/datasets/1', { name: 'x' }, { 'if-match': ifMatch });
    expect((await rename('W/"7-abc"')).status).toBe(200);
    expect((await rename('"7"')).status).toBe(200);
    expect((await rename('*')).status).toBe(200);
    await expectBody(rename('"6-abc"'), 412, { code: 'PRECONDITION_FAILED' });
    await expectError(rename('"nonsense"'), 412);
  });

  test('HEAD is GET without the body', async () => {
    const { status, body, headers } = await call('HEAD', '/datasets/1');
    expect(status).toBe(200);
    expect(body).toBeUndefined();
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  test('the body of a response can be edited and sent back', async () => {
    const { body } = await get('/datasets/1');
    await expectBody(call('PUT', '/datasets/1', { ...body, name: 'Edited' }), 200, { name: 'Edited' });
    const changed = await call('PUT', '/datasets/1', { ...body, id: '2', tenant: 'other' });
    expect(changed.status).toBe(400);
    expect(changed.body.message).toBe('"id" cannot be changed');
    expect(changed.body.validation).toEqual([
      { path: ['id'], message: '"id" cannot be changed', code: 'immutable' },
      { path: ['tenant'], message: '"tenant" cannot be changed', code: 'immutable' },
    ]);
    expect((await call('POST', '/datasets', { ...body, name: 'x' })).status).toBe(400);
  });
});
