import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { METHODS, request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { endpointsOf } from '../../src/server/graphql/sdl.ts';
import { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { startService } from '../support/service.ts';

describe('every response', () => {
  const PATHS = ['/api/me', '/api/nope', '/graphql/schema.graphql', '/', '/graphiql', '/api/docs', '/healthz', '/nope'];
  const GENERATED_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

  test('has security headers and the request id of the client', async ({ ann }) => {
    for (const path of [...PATHS, '/graphql?query=%7B__typename%7D']) {
      const { headers } = await ann.request('GET', path, undefined, {
        'x-request-id': 'mine-42',
        'apollo-require-preflight': '1',
      });
      expect(headers.get('x-request-id'), path).toBe('mine-42');
      expect(headers.get('x-content-type-options'), path).toBe('nosniff');
      expect(headers.get('x-frame-options'), path).toBe('SAMEORIGIN');
      expect(headers.get('referrer-policy'), path).toBe('no-referrer');
      expect(headers.get('content-security-policy'), path).toMatch(/default-src '(none|self)'.*frame-ancestors 'none'/);
      expect(headers.get('x-powered-by'), path).toBeNull();
      expect(headers.get('strict-transport-security'), path).toBeNull();
    }
  });

  test('is stored by the cache of its caller only, and not at all with logins, credentials or mails', async ({
    anonymous,
  }) => {
    const secret = /^\/(login|identity-providers|me\/password|outbox|password-reset|sessions?|tokens)(\/|$)/;
    for (const { row } of endpointsOf(await createSchema())) {
      const path = row.path.replaceAll(/:\w+\*?/g, 'x');
      const { status, headers } = await anonymous.request(row.method, `/api${path}`);
      // Pictures say how long they are kept.
      if (row.method === 'GET' && String(row.options.produces).includes('image/')) continue;
      const expected = secret.test(row.path) ? /^no-store$/ : /^(private, no-cache|no-store)$/;
      expect(headers.get('cache-control'), `${row.method} ${row.path} ${status}`).toMatch(expected);
    }
    const read = { 'apollo-require-preflight': '1' };
    const { headers } = await anonymous.request('GET', '/graphql?query=%7B__typename%7D', undefined, read);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('has a generated request id in place of an unsafe or missing one', async ({ ann }) => {
    const requestId = async (headers?: Record<string, string>) =>
      (await ann.get('/me', headers)).headers.get('x-request-id');
    for (const id of ['a b', 'x'.repeat(65), '<script>'])
      expect(await requestId({ 'x-request-id': id })).toMatch(GENERATED_ID);
    expect(await requestId()).not.toBe(await requestId());
  });

  test('is compressed as the client accepts it, if it is large enough', async ({ service, ann }) => {
    for (let n = 0; n < 10; n++) await service.user(`many${n}`);
    for (const [accepted, encoding] of [
      ['gzip', 'gzip'],
      ['br, gzip', 'br'],
      ['identity', null],
    ] as const) {
      const { body, headers } = await ann.get('/users-list', { 'accept-encoding': accepted });
      expect(body.length).toBeGreaterThan(10);
      expect(headers.get('content-encoding')).toBe(encoding);
      if (encoding) expect(headers.get('vary')).toMatch(/accept-encoding/i);
    }
    const small = await ann.get('/users/ann/memberships', { 'accept-encoding': 'gzip' });
    expect(small.headers.get('content-encoding')).toBeNull();
  });

  test('has its compressed length, if it is large and complete', async ({ ann, anonymous }) => {
    const sdl = (await ann.data('{ _service { sdl } }'))._service.sdl as string;
    const read = async (client: Client, name: string, encoding: string) => {
      const query = `{ ${name}: _service { sdl } }`;
      const { headers, body } = await client.request('POST', '/graphql', { query }, { 'accept-encoding': encoding });
      expect(body.data[name].sdl).toBe(sdl);
      return [headers.get('content-encoding'), Number(headers.get('content-length')) < sdl.length / 3];
    };
    // They are compressed one at a time.
    const names = Array.from({ length: 6 }, (_, n) => [`a${n}`, `b${n}`] as const).flat();
    const found = await Promise.all(
      names.map((name) => read(name[0] === 'a' ? ann : anonymous, name, name[0] === 'a' ? 'br' : 'gzip')),
    );
    expect(found).toEqual(names.map((name) => [name[0] === 'a' ? 'br' : 'gzip', true]));
    const { headers } = await ann.request(
      'POST',
      '/graphql',
      { query: '{ c: _service { sdl } }' },
      { 'accept-encoding': 'identity' },
    );
    expect([headers.get('content-encoding'), Number(headers.get('content-length')) > sdl.length]).toEqual([null, true]);
  });
});

describe('a request that no route accepts', () => {
  test('is 404 on an unknown path', async ({ ann, anonymous }) => {
    for (const path of ['/nope', '/api/nope', '/graphql/nope']) {
      await expectBody(ann.request('GET', path), 404, {
        statusCode: 404,
        error: 'Not Found',
        code: 'NOT_FOUND',
        message: `There is no route GET ${path}`,
      });
      await expectError(anonymous.request('GET', path), 404);
    }
    expect((await ann.request('GET', '/api/users/%zz')).status).toBe(400);
  });

  test('is 405 with `Allow` on a path with other methods', async ({ ann }) => {
    const inOrder = (methods: string) => methods.split(', ').sort();
    for (const [method, path, allow] of [
      ['DELETE', '/graphql', 'GET, HEAD, QUERY, POST, OPTIONS'],
      ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
      ['DELETE', '/api/me', 'GET, HEAD, PUT, OPTIONS'],
      ['PUT', '/', 'GET, HEAD, OPTIONS'],
    ] as const) {
      const response = await ann.request(method, path);
      await expectBody(response, 405, { statusCode: 405, code: 'METHOD_NOT_ALLOWED' });
      expect(inOrder(response.headers.get('allow')!), path).toEqual(inOrder(allow));
      expect((await ann.request('OPTIONS', path)).status).toBe(204);
    }
    expect(await ann.request('HEAD', '/api/me')).toMatchObject({ status: 200, body: '' });
  });

  test('is 405 for every other method that Node parses, before its body is read', async ({ service, ann }) => {
    const [get, put, post] = ['GET, HEAD, OPTIONS', 'GET, HEAD, PUT, OPTIONS', 'POST, OPTIONS'];
    const graphql = 'GET, HEAD, QUERY, POST, OPTIONS';
    const { hostname, port } = new URL(service.url);
    /** Sends a request as it is. Returns status, `Allow` and body of the response. */
    const send = async (method: string, path: string, headers: OutgoingHttpHeaders) => {
      const sent = request({
        hostname,
        port,
        agent: false,
        method,
        path,
        headers: { ...ann.headers, 'content-length': 6, ...headers },
      });
      const [response] = (await once(sent.end('<body>'), 'response')) as [IncomingMessage];
      return [response.statusCode, response.headers.allow, await text(response)];
    };
    for (const [path, allow] of [
      ['/graphql', graphql],
      ['/api/me', put],
      ['/api/login', 'GET, HEAD, POST, OPTIONS'],
      ['/api/login/x/callback', 'GET, OPTIONS'],
      ['/api/datasets/x/_refresh', post],
      ['/api/progress/1/events', 'GET, OPTIONS'],
      ['/', get],
      ['/graphiql', get],
      ['/password-reset/xyz', get],
      ['/api/docs', get],
      ['/api/docs/swagger-ui.css', get],
      ['/api/openapi.json', get],
      ['/readyz', get],
    ] as const)
      for (const method of METHODS)
        if (!allow.includes(method) && method !== 'CONNECT')
          for (const headers of [{}, { 'content-type': 'text/x' }, { 'content-type': '?' }])
            expect(await send(method, path, headers), `${method} ${path}`).toEqual([
              405,
              allow,
              expect.stringContaining(method === 'HEAD' ? '' : '"code":"METHOD_NOT_ALLOWED"'),
            ]);
  });

  test('is 401 without credentials, whatever its body is, before the body arrives', async ({ service }) => {
    const { hostname, port } = new URL(service.url);
    const unsent = async (method: string, path: string, type: string) => {
      const headers = { 'content-type': type, 'content-length': 50 * 1024 * 1024 };
      const sent = request({ hostname, port, agent: false, method, path, headers });
      sent.flushHeaders();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const { code } = JSON.parse(await text(response));
      sent.destroy();
      return [response.statusCode, code, response.headers['www-authenticate']];
    };
    const routes = readFileSync('schema/routes.txt', 'utf8').matchAll(/^(POST|PUT|DELETE) (\S+) .*, (?!public$)/gm);
    let checked = 0;
    for (const [, method, path] of routes)
      for (const type of ['application/json', 'multipart/form-data; boundary=x', 'text/csv', '?', '']) {
        checked += 1;
        expect(await unsent(method!, path!, type), `${method} ${path} ${type}`).toEqual([
          401,
          'UNAUTHENTICATED',
          'Bearer',
        ]);
      }
    expect(checked).toBeGreaterThan(500);
    expect(await unsent('POST', '/api/nope', 'text/csv')).toEqual([404, 'NOT_FOUND', undefined]);
  });

  test('is 413 with more than 10 MB of JSON', async ({ ann }) => {
    const large = JSON.stringify({ displayName: 'x'.repeat(10 * 1024 * 1024) });
    const json = { 'content-type': 'application/json' };
    await expectBody(ann.request('PUT', '/api/me', large, json), 413, { code: 'PAYLOAD_TOO_LARGE' });
    await expectBody(ann.request('POST', '/graphql', large, json), 413, { code: 'PAYLOAD_TOO_LARGE' });
  });

  test('is refused with a response that clients read who send all of a body, and without end for others', async ({
    ann,
    anonymous,
  }) => {
    const send = async (client: Client, type: string, megabytes: number) => {
      const body = Buffer.alloc(megabytes * 1_000_000);
      const headers = { ...client.headers, 'content-type': type };
      return (await fetch(`${client.url}/api/tags`, { method: 'POST', headers, body })).status;
    };
    expect(await send(ann, 'application/json', 60)).toBe(413);
    expect(await send(ann, 'text/x', 60)).toBe(415);
    expect(await send(anonymous, 'application/json', 60)).toBe(401);
    const { hostname, port } = new URL(ann.url);
    const socket = connect(Number(port), hostname);
    const closed = new Promise((resolve) => socket.resume().on('close', resolve));
    socket.on('error', () => {});
    socket.write('POST /api/tags HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000000\r\n\r\n');
    let megabytes = 0;
    const sendMore = () => {
      while (socket.writable && megabytes++ < 200 && socket.write(Buffer.alloc(1_000_000)));
    };
    socket.on('drain', sendMore);
    sendMore();
    await closed;
    expect(megabytes).toBeGreaterThan(64);
    expect(megabytes).toBeLessThan(120);
  });

  test('is refused by the type and form of its body, and by the type that it accepts', async ({ ann }) => {
    await expectError(ann.put('/me', '{"displayName":', { 'content-type': 'application/json' }), 400);
    await expectBody(ann.put('/me', 'displayName=x', { 'content-type': 'application/x-www-form-urlencoded' }), 415, {
      code: 'UNSUPPORTED_MEDIA_TYPE',
    });
    await expectError(ann.get('/me', { accept: 'text/csv' }), 406);
  });

  test('may take five minutes to arrive, and connections may be idle for 72 seconds', ({ service }) => {
    expect(service.app.server.requestTimeout).toBe(300_000);
    expect(service.app.server.headersTimeout).toBeLessThanOrEqual(60_000);
    expect(service.app.server.keepAliveTimeout).toBe(72_000);
  });
});

describe('GraphQL over HTTP', () => {
  test('returns 400 for a document that does not parse, is invalid or exceeds a limit', async ({ ann }) => {
    const manyRoots = Array.from({ length: 60 }, (_, n) => `a${n}: me { id }`).join(' ');
    for (const [query, code] of [
      ['{', 'BAD_USER_INPUT'],
      ['{ nothing }', 'BAD_USER_INPUT'],
      [`{ ${'a: __typename '.repeat(5001)} }`, 'GRAPHQL_LIMIT'],
      [`{ ${manyRoots} }`, 'GRAPHQL_LIMIT'],
      ['{a'.repeat(4900), 'GRAPHQL_LIMIT'],
      [`${'{a'.repeat(3000)}${'}'.repeat(3000)}`, 'GRAPHQL_LIMIT'],
      [`{ __schema { types { ${'fields { type { '.repeat(3)} name ${'} } '.repeat(3)} } } }`, 'GRAPHQL_LIMIT'],
      [`{ users(limit: 1000) { items { memberships { team { members { user { id } } } } } } }`, 'GRAPHQL_LIMIT'],
    ] as const)
      expect(await ann.gql(query), query.slice(0, 60)).toMatchObject({
        status: 400,
        errors: [{ extensions: { code, status: 400 } }],
      });
    expect(await ann.gql('query Q($n: Int) { users(limit: $n) { count } }', { n: 'x' })).toMatchObject({
      status: 400,
      errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
    });
  });

  test('returns 200 with errors for a document that runs, and its cost', async ({ ann }) => {
    expect(await ann.gql('{ users(limit: 0) { count } }')).toMatchObject({
      status: 200,
      errors: [{ extensions: { code: 'BAD_USER_INPUT', status: 400 } }],
    });
    expect(await ann.gql('{ me { id } user(username: "nobody") { id } }')).toMatchObject({
      status: 200,
      errors: [{ path: ['user'], extensions: { code: 'NOT_FOUND', status: 404 } }],
    });
    expect((await ann.gql('{ me { id } }')).extensions).toEqual({ cost: expect.any(Number) });
    expect(JSON.stringify(await ann.gql('{ user(username: 1) { id } }'))).not.toMatch(/stacktrace|node_modules/);
  });

  test('returns 401 without credentials', async ({ anonymous }) => {
    const response = await anonymous.gql('{ me { id } }');
    expect(response).toMatchObject({
      status: 401,
      errors: [{ message: 'Missing authentication', extensions: { code: 'UNAUTHENTICATED', status: 401 } }],
    });
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });

  const SCHEMA_QUERY = '{ __schema { queryType { name } } }';
  const SCHEMA_RESULT = { __schema: { queryType: { name: 'Query' } } };

  test('allows introspection without credentials', async ({ anonymous }) => {
    expect(await anonymous.data(SCHEMA_QUERY)).toEqual(SCHEMA_RESULT);
  });

  test('allows introspection with credentials only, if PUBLIC_SCHEMA is false', async () => {
    const service = await startService({ PUBLIC_SCHEMA: 'false' });
    const anonymous = new Client(service.url);
    for (const query of [
      SCHEMA_QUERY,
      'query { ...F } fragment F on Query { __type(name: "User") { name } }',
      '{ ... { a: __schema { types { name } } } }',
    ]) {
      const response = anonymous.gql(query);
      await expectGraphqlError(response, 'UNAUTHENTICATED');
      expect((await response).status, query).toBe(401);
    }
    for (const path of ['/graphql/schema.graphql', '/graphql/subgraph.graphql', '/api/openapi.json'])
      expect((await anonymous.request('GET', path)).status, path).toBe(401);
    const user = await service.user('ann');
    expect(await user.data(SCHEMA_QUERY)).toEqual(SCHEMA_RESULT);
    expect((await user.request('GET', '/graphql/schema.graphql')).status).toBe(200);
    await service.close();
  });
});
