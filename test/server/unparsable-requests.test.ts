import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { respondToUnparsable } from '../../src/server/unparsable-requests.ts';
import { test } from '../support/fixture.ts';

test.for([
  ['a method that does not exist', 'FOO /api/me HTTP/1.1\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
  ['headers that are too large', `GET /api/me HTTP/1.1\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'BAD_USER_INPUT'],
  ['a version that does not exist', 'GET /api/me HTTP/9.9\r\n\r\n', 400, 'BAD_USER_INPUT'],
] as const)('a request with %s gets an error with a code', async ([, bytes, status, code], { service }) => {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.write(bytes);
  const [head, body] = (await text(socket)).split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toMatch(/\r\nx-request-id: [\w-]{36}\r\n/);
  expect(head!.includes('allow: ')).toBe(status === 405);
  expect(JSON.parse(body!)).toMatchObject({ statusCode: status, code });
});

test('a connection whose client does not end it is destroyed', async () => {
  const server = createServer({ allowHalfOpen: true }, (socket) =>
    respondToUnparsable(Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket, 50),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connected = once(server, 'connection');
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  const [accepted] = await connected;
  client.on('error', () => {});
  expect(await text(client)).toMatch(/^HTTP\/1.1 408 /);
  if (!accepted.destroyed) await once(accepted, 'close');
  client.destroy();
  server.close();
});
