import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { startTestBridge, WRONG_CREDENTIALS, type TestBridge } from './fixture.ts';

describe.each([{ jit: false }, { jit: true }])('errors of the bridge (jit: $jit)', ({ jit }) => {
  let bridge: TestBridge;
  beforeAll(async () => {
    bridge = await startTestBridge({ jit });
  });
  afterAll(() => bridge.app.close());

  const call: TestBridge['call'] = (...request) => bridge.call(...request);
  const get = (url: string, headers?: Record<string, string>) => call('GET', url, undefined, headers);

  /** Expects 404 with this message and without validation issues. */
  async function expectNotFound(response: ReturnType<typeof call>, message: string): Promise<void> {
    const { status, body } = await response;
    expect({ status, message: body.message, validation: body.validation }).toEqual({
      status: 404,
      message,
      validation: undefined,
    });
  }

  test('an error has one form, for every status', async () => {
    const conflict = await get('/fails?how=conflict');
    expect(conflict.status).toBe(409);
    expect(conflict.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(conflict.body).toEqual({
      statusCode: 409,
      error: 'Conflict',
      message: 'It is used by 2 jobs',
      code: 'CONFLICT',
    });
    await expectBody(get('/fails?how=missing'), 404, {
      statusCode: 404,
      code: 'NOT_FOUND',
      message: 'There is no query 9',
    });
    expect((await get('/fails?how=upstream')).body).toEqual({
      statusCode: 500,
      error: 'Internal Server Error',
      message: 'relation "x" does not exist',
      code: 'UPSTREAM_FAILED',
      requestId: 'req-1',
    });
    const unavailable = await get('/fails?how=unavailable');
    await expectBody(unavailable, 503, { code: 'UNAVAILABLE', requestId: 'req-1' });
    expect(unavailable.headers.get('retry-after')).toBe('5');
  });

  test('validation issues name keys of the body, not the GraphQL argument', async () => {
    expect((await get('/fails?how=validation')).body).toEqual({
      statusCode: 400,
      error: 'Bad Request',
      message: 'The name is too long',
      code: 'BAD_USER_INPUT',
      validation: [{ path: ['name'], message: 'The name is too long', code: 'maxLength' }],
    });
  });

  test('an unexpected exception shows nothing but the request id', async () => {
    expect((await get('/fails?how=bug')).body).toEqual({
      statusCode: 500,
      error: 'Internal Server Error',
      message: 'Something went wrong on our side',
      code: 'INTERNAL',
      requestId: 'req-1',
    });
  });

  test('an error below a non-null field keeps its status', async () => {
    await expectError(get('/need?word=conflict'), 409, 'It is used by 2 jobs');
    await expectBody(get('/need?word=bug'), 500, { code: 'INTERNAL' });
  });

  test('missing credentials are 401 before anything else is checked', async () => {
    for (const [method, url] of [
      ['POST', '/datasets'],
      ['GET', '/datasets?x=1'],
      ['PUT', '/datasets/1'],
      ['GET', '/reports/a?x=1'],
    ] as const) {
      const response = await call(method, url, undefined, WRONG_CREDENTIALS);
      await expectBody(response, 401, { message: 'Missing authentication', code: 'UNAUTHENTICATED' });
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect((await get('/words', WRONG_CREDENTIALS)).status).toBe(200);
    expect((await bridge.app.inject({ url: '/api/files/x', headers: WRONG_CREDENTIALS })).statusCode).toBe(200);
  });

  test('a missing resource is 404, the parent as well as the child', async () => {
    await expectNotFound(get('/datasets/99'), 'There is no dataset 99');
    await expectNotFound(get('/datasets/99/visuals'), 'There is no dataset 99');
    await expectNotFound(get('/datasets/99/permissions'), 'There is no dataset 99');
    await expectNotFound(get('/datasets/1/visuals/v7'), 'There is no visual v7');
    await expectNotFound(get('/datasets/1/draft'), 'There is no draft of dataset 1');
    await expectNotFound(call('PUT', '/datasets/99', {}), 'There is no dataset 99');
    expect((await get('/nothing')).status).toBe(404);
    expect((await call('DELETE', '/me')).body).toBe(null);
  });

  test('a response is JSON or HAL, as the client prefers, or 406', async () => {
    const contentType = async (accept: string) => {
      const { status, headers } = await get('/me', { accept });
      return status === 200 ? headers.get('content-type') : status;
    };
    expect(await contentType('application/hal+json')).toBe('application/hal+json; charset=utf-8');
    expect(await contentType('application/json;q=0.5, application/hal+json')).toBe(
      'application/hal+json; charset=utf-8',
    );
    expect(await contentType('application/hal+json;q=0.1, */*')).toBe('application/json; charset=utf-8');
    expect(await contentType('text/html, application/xhtml+xml, */*;q=0.8')).toBe('application/json; charset=utf-8');
    expect(await contentType('text/html')).toBe(406);
    expect(await contentType('application/json;q=0')).toBe(406);
    await expectBody(call('POST', '/datasets', { name: 'x' }, { accept: 'image/png' }), 406, {
      code: 'NOT_ACCEPTABLE',
    });
  });

  test('a wrong method is 405 with the allowed ones, an unknown path is 404, OPTIONS lists the methods', async () => {
    const patch = await call('PATCH', '/datasets/1', '<x/>', { 'content-type': 'text/xml' });
    await expectBody(patch, 405, { code: 'METHOD_NOT_ALLOWED' });
    expect(patch.headers.get('allow')).toBe('GET, HEAD, PUT, DELETE, OPTIONS');
    const post = await call('POST', '/words');
    expect(post.status).toBe(405);
    expect(post.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    const options = await call('OPTIONS', '/datasets?x=1');
    expect(options).toMatchObject({ status: 204, body: undefined });
    expect(options.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
    await expectBody(get('/nowhere'), 404, {
      statusCode: 404,
      error: 'Not Found',
      code: 'NOT_FOUND',
      message: 'There is no route GET /api/nowhere',
    });
  });

  async function listen(): Promise<number> {
    if (!bridge.app.server.listening) await bridge.app.listen({ port: 0, host: '127.0.0.1' });
    return (bridge.app.server.address() as AddressInfo).port;
  }

  test('a client that disconnects ends its subscription', async () => {
    const port = await listen();
    await new Promise<void>((resolve, reject) => {
      const sent = request({ port, host: '127.0.0.1', path: '/api/ticks?to=0', agent: false }, (reply) =>
        reply.once('data', () => {
          reply.on('error', () => undefined);
          sent.destroy();
          resolve();
        }),
      ).on('error', reject);
      sent.end();
    });
    await expect.poll(() => bridge.seen).toContain('ended');
  });

  test('broken percent-encoding is 400 in path and query', async () => {
    const port = await listen();
    /** Sends a path as it is. Returns status and code of the response. */
    const getRaw = (path: string) =>
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
    expect(await getRaw('/api/datasets/%zz')).toEqual([400, 'BAD_USER_INPUT']);
    expect(await getRaw('/api/datasets?q=%e0%a4')).toEqual([400, 'BAD_USER_INPUT']);
  });
});
