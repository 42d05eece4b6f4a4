import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { smallWorld } from './fixture.ts';

type World = Awaited<ReturnType<typeof smallWorld>>;

describe.each([{ jit: false }, { jit: true }])('what the bridge refuses (jit: $jit)', ({ jit }) => {
  let world: World;
  beforeAll(async () => {
    world = await smallWorld({ jit });
  });
  afterAll(() => world.app.close());

  const call = async (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS' | 'PATCH',
    url: string,
    payload?: string | object,
    headers: Record<string, string> = {},
  ) => {
    const asked = { method, url: `/api${url}`, headers, ...(payload !== undefined && { payload }) };
    if (method === 'GET') await world.app.inject(asked);
    const reply = await world.app.inject(asked);
    return {
      status: reply.statusCode,
      headers: reply.headers,
      body: reply.body === '' ? undefined : (JSON.parse(reply.body) as Record<string, unknown>),
    };
  };
  const refused = async (...asked: Parameters<typeof call>) => {
    const { status, body } = await call(...asked);
    return { status, message: body?.['message'], validation: body?.['validation'] };
  };

  test('an error is one envelope, the same for every status', async () => {
    const { status, body, headers } = await call('GET', '/fails?how=conflict');
    expect(body).toEqual({ statusCode: 409, error: 'Conflict', message: 'It is used by 2 jobs', code: 'CONFLICT' });
    expect([status, headers['content-type']]).toEqual([409, 'application/json; charset=utf-8']);
    expect((await call('GET', '/fails?how=missing')).body).toMatchObject({
      statusCode: 404,
      code: 'NOT_FOUND',
      message: 'There is no query 9',
    });
    expect((await call('GET', '/fails?how=upstream')).body).toEqual({
      statusCode: 500,
      error: 'Internal Server Error',
      message: 'relation "x" does not exist',
      code: 'UPSTREAM_FAILED',
      requestId: 'req-1',
    });
    expect(await call('GET', '/fails?how=unavailable')).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
      body: { code: 'UNAVAILABLE', requestId: 'req-1' },
    });
  });

  test('validation names body keys, not GraphQL’s input', async () => {
    expect((await call('GET', '/fails?how=validation')).body).toEqual({
      statusCode: 400,
      error: 'Bad Request',
      message: 'The name is too long',
      code: 'BAD_USER_INPUT',
      validation: [{ path: ['name'], message: 'The name is too long', code: 'maxLength' }],
    });
  });

  test('an exception of ours tells nothing but the request’s id', async () => {
    expect((await call('GET', '/fails?how=bug')).body).toEqual({
      statusCode: 500,
      error: 'Internal Server Error',
      message: 'Something went wrong on our side',
      code: 'INTERNAL',
      requestId: 'req-1',
    });
  });

  test('an error below a field that cannot be null is told as it is', async () => {
    expect(await call('GET', '/need?word=conflict')).toMatchObject({
      status: 409,
      body: { message: 'It is used by 2 jobs' },
    });
    expect(await call('GET', '/need?word=bug')).toMatchObject({ status: 500, body: { code: 'INTERNAL' } });
  });

  test('who has no credentials gets 401 before anything else is looked at', async () => {
    const wrong = { authorization: 'Bearer wrong' };
    for (const [method, url] of [
      ['POST', '/datasets'],
      ['GET', '/datasets?x=1'],
      ['PUT', '/datasets/1'],
      ['GET', '/plain-fails?x=1'],
    ] as const) {
      expect(await call(method, url, undefined, wrong)).toMatchObject({
        status: 401,
        headers: { 'www-authenticate': 'Bearer' },
        body: { message: 'Missing authentication', code: 'UNAUTHENTICATED' },
      });
    }
    expect((await call('GET', '/words', undefined, wrong)).status).toBe(200);
    expect((await world.app.inject({ url: '/api/files/x', headers: wrong })).statusCode).toBe(200);
  });

  test('what does not exist is 404, the parent as well as the child', async () => {
    expect(await refused('GET', '/datasets/99')).toEqual({
      status: 404,
      message: 'There is no dataset 99',
      validation: undefined,
    });
    expect(await refused('GET', '/datasets/99/visuals')).toEqual({
      status: 404,
      message: 'There is no dataset 99',
      validation: undefined,
    });
    expect(await refused('GET', '/datasets/99/permissions')).toEqual({
      status: 404,
      message: 'There is no dataset 99',
      validation: undefined,
    });
    expect(await refused('GET', '/datasets/1/visuals/v7')).toEqual({
      status: 404,
      message: 'There is no visual v7',
      validation: undefined,
    });
    expect(await refused('GET', '/datasets/1/draft')).toEqual({
      status: 404,
      message: 'There is no draft of dataset 1',
      validation: undefined,
    });
    expect(await refused('PUT', '/datasets/99', {})).toEqual({
      status: 404,
      message: 'There is no dataset 99',
      validation: undefined,
    });
    expect((await call('GET', '/nothing')).status).toBe(404);
    expect((await call('DELETE', '/me')).body).toBe(null);
  });

  test('unknown keys are refused by name, in query and body', async () => {
    expect(await refused('GET', '/datasets?limitt=3')).toEqual({
      status: 400,
      message: 'Unknown query parameter "limitt"',
      validation: [{ path: ['limitt'], message: 'Unknown query parameter "limitt"', code: 'unknown' }],
    });
    expect(await refused('POST', '/datasets', { name: 'x', nmae: 1, colour: 2 })).toEqual({
      status: 400,
      message: 'Unknown key "nmae"',
      validation: [
        { path: ['nmae'], message: 'Unknown key "nmae"', code: 'unknown' },
        { path: ['colour'], message: 'Unknown key "colour"', code: 'unknown' },
      ],
    });
    expect(await refused('PUT', '/datasets/1', { nmae: 1 })).toEqual({
      status: 400,
      message: 'Unknown key "nmae"',
      validation: [{ path: ['nmae'], message: 'Unknown key "nmae"', code: 'unknown' }],
    });
    expect(await refused('POST', '/datasets/1/visuals', { component: 'table', parts: [{ siez: 2 }] })).toEqual({
      status: 400,
      message: 'Unknown key "siez"',
      validation: [{ path: ['parts', 0, 'siez'], message: 'Unknown key "siez"', code: 'unknown' }],
    });
    expect(await refused('DELETE', '/datasets/1', { force: true })).toMatchObject({
      status: 400,
      message: 'Unknown key "force"',
    });
    expect(await refused('POST', '/datasets/1/_refresh', { wait: false })).toMatchObject({
      status: 400,
      message: 'Unknown key "wait"',
    });
  });

  test('a body may repeat the path but not contradict it', async () => {
    expect((await call('POST', '/datasets/1/visuals', { datasetId: '1', component: 'table' })).status).toBe(201);
    expect(await refused('POST', '/datasets/1/visuals', { datasetId: '2', component: 'table' })).toMatchObject({
      status: 400,
      message: '"datasetId" is not the path\'s',
    });
  });

  test('missing and misshapen values are all named', async () => {
    expect(await refused('POST', '/datasets')).toEqual({
      status: 400,
      message: '"name" is required',
      validation: [{ path: ['name'], message: '"name" is required', code: 'required' }],
    });
    expect(await refused('POST', '/datasets', { description: 5 })).toEqual({
      status: 400,
      message: '"name" is required',
      validation: [
        { path: ['name'], message: '"name" is required', code: 'required' },
        {
          path: ['description'],
          message: '"description": String cannot represent a non string value: 5',
          code: 'invalid',
        },
      ],
    });
    expect(await refused('POST', '/datasets/1/visuals', { component: 'BAR_CHART' })).toEqual({
      status: 400,
      message: '"component" cannot be "BAR_CHART"',
      validation: [{ path: ['component'], message: '"component" cannot be "BAR_CHART"', code: 'invalid' }],
    });
    expect(await refused('GET', '/need')).toEqual({
      status: 400,
      message: '"word" is required',
      validation: [{ path: ['word'], message: '"word" is required', code: 'required' }],
    });
    expect(await refused('GET', '/echo?at=yesterday')).toMatchObject({
      status: 400,
      message: '"at": Expected type "DateTime". "yesterday" is not an ISO 8601 timestamp',
    });
  });

  test('query values are read by the type of their argument', async () => {
    expect(
      (await call('GET', '/echo?number=-3&ratio=2.5&on=false&ids=a,b&component=table&where=%7B%22a%22%3A1%7D')).body,
    ).toEqual({ n: -3, ratio: 2.5, on: false, ids: ['a', 'b'], component: 'table', where: { a: 1 } });
    expect((await call('GET', '/echo?ids=a&ids=b&where=saved-1')).body).toEqual({ ids: ['a', 'b'], where: 'saved-1' });
    expect((await call('GET', '/echo?ids=')).body).toEqual({ ids: [] });
    expect(await refused('GET', '/echo?number=3.5')).toMatchObject({
      status: 400,
      message: '"number" must be an integer',
    });
    expect(await refused('GET', '/echo?number=')).toMatchObject({
      status: 400,
      message: '"number" must be an integer',
    });
    expect(await refused('GET', '/echo?number=9999999999')).toMatchObject({
      status: 400,
      message: expect.stringContaining('32-bit'),
    });
    expect(await refused('GET', '/echo?ratio=Infinity')).toMatchObject({
      status: 400,
      message: '"ratio" must be a number',
    });
    expect(await refused('GET', '/echo?on=yes')).toMatchObject({ status: 400, message: '"on" must be true or false' });
    expect(await refused('GET', '/echo?component=pie')).toMatchObject({
      status: 400,
      message: '"component" must be one of bar-chart, table',
    });
    expect(await refused('GET', '/echo?where={"a"')).toMatchObject({
      status: 400,
      message: '"where" is not well-formed JSON',
    });
    expect(await refused('GET', '/echo?number=1&number=2')).toMatchObject({
      status: 400,
      message: '"number" is given more than once',
    });
    expect(await refused('GET', '/echo?n=1')).toMatchObject({ status: 400, message: 'Unknown query parameter "n"' });
  });

  test('bodies are JSON in UTF-8, objects, bounded in size and depth', async () => {
    const json = { 'content-type': 'application/json' };
    expect(await refused('POST', '/datasets', '{"name":', json)).toMatchObject({
      status: 400,
      message: expect.stringContaining('The body is not well-formed JSON'),
    });
    expect(await refused('POST', '/datasets', '[1]', json)).toMatchObject({
      status: 400,
      message: 'The body must be a JSON object',
    });
    expect(await refused('POST', '/datasets', 'null', json)).toMatchObject({
      status: 400,
      message: 'The body must be a JSON object',
    });
    expect(await refused('POST', '/datasets', '', json)).toMatchObject({ status: 400, message: '"name" is required' });
    expect(await refused('POST', '/datasets', '{"__proto__": {"x": 1}}', json)).toMatchObject({
      status: 400,
      message: 'The body may not contain the key "__proto__"',
    });
    expect(await refused('POST', '/field-access', `{"a":${'['.repeat(300)}${']'.repeat(300)}}`, json)).toMatchObject({
      status: 400,
      message: 'The body nests deeper than 256 levels',
    });
    expect((await call('POST', '/datasets', JSON.stringify({ name: 'x'.repeat(11e6) }), json)).body).toMatchObject({
      statusCode: 413,
      code: 'PAYLOAD_TOO_LARGE',
    });
    expect(
      (await call('POST', '/datasets', 'name=x', { 'content-type': 'application/x-www-form-urlencoded' })).body,
    ).toMatchObject({ statusCode: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
    expect(
      (await call('POST', '/datasets', '{"name":"x"}', { 'content-type': 'application/json; charset=latin1' })).body,
    ).toMatchObject({ statusCode: 415 });
    expect(
      (await call('POST', '/datasets', '{"name":"é"}', { 'content-type': 'application/hal+json; charset=UTF-8' })).body,
    ).toMatchObject({ name: 'é' });
  });

  test('answers come as JSON or HAL, whichever is liked better, or not at all', async () => {
    const type = async (accept: string) => {
      const { status, headers } = await call('GET', '/me', undefined, { accept });
      return status === 200 ? headers['content-type'] : status;
    };
    expect(await type('application/hal+json')).toBe('application/hal+json; charset=utf-8');
    expect(await type('application/json;q=0.5, application/hal+json')).toBe('application/hal+json; charset=utf-8');
    expect(await type('application/hal+json;q=0.1, */*')).toBe('application/json; charset=utf-8');
    expect(await type('text/html, application/xhtml+xml, */*;q=0.8')).toBe('application/json; charset=utf-8');
    expect(await type('text/html')).toBe(406);
    expect(await type('application/json;q=0')).toBe(406);
    expect((await call('POST', '/datasets', { name: 'x' }, { accept: 'image/png' })).body).toMatchObject({
      code: 'NOT_ACCEPTABLE',
    });
  });

  test('a wrong method is 405 with what is allowed, an unknown path 404, OPTIONS lists', async () => {
    expect(await call('PATCH', '/datasets/1', '<x/>', { 'content-type': 'text/xml' })).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, PUT, DELETE, OPTIONS' },
      body: { code: 'METHOD_NOT_ALLOWED' },
    });
    expect(await call('POST', '/words')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } });
    expect(await call('OPTIONS', '/datasets?x=1')).toMatchObject({
      status: 204,
      headers: { allow: 'GET, HEAD, POST, OPTIONS' },
      body: undefined,
    });
    expect(await call('GET', '/nowhere')).toMatchObject({
      status: 404,
      body: { statusCode: 404, error: 'Not Found', code: 'NOT_FOUND', message: 'There is no route GET /api/nowhere' },
    });
  });

  const listening = async (): Promise<number> => {
    if (!world.app.server.listening) await world.app.listen({ port: 0, host: '127.0.0.1' });
    return (world.app.server.address() as AddressInfo).port;
  };

  test('a client that hangs up ends its subscription', async () => {
    const port = await listening();
    await new Promise<void>((resolve, reject) => {
      const asked = request({ port, host: '127.0.0.1', path: '/api/ticks?to=0', agent: false }, (reply) =>
        reply.once('data', () => {
          reply.on('error', () => undefined);
          asked.destroy();
          resolve();
        }),
      ).on('error', reject);
      asked.end();
    });
    await vi.waitFor(() => expect(world.seen).toContain('ended'));
  });

  test('broken percent-encoding is 400 in path and query', async () => {
    const port = await listening();
    const raw = (path: string) =>
      new Promise<[number | undefined, unknown]>((resolve, reject) => {
        request({ port, host: '127.0.0.1', path, agent: false }, (reply) => {
          let text = '';
          reply
            .on('data', (chunk) => {
              text += chunk;
            })
            .on('end', () => resolve([reply.statusCode, (JSON.parse(text) as { code: string }).code]));
        })
          .on('error', reject)
          .end();
      });
    expect(await raw('/api/datasets/%zz')).toEqual([400, 'BAD_USER_INPUT']);
    expect(await raw('/api/datasets?q=%e0%a4')).toEqual([400, 'BAD_USER_INPUT']);
  });
});
