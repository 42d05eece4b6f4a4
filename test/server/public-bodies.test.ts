import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import { ROWS } from '../../src/server/routes.ts';
import { openBodies } from '../app/echo-app.ts';
import { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { startService } from '../support/service.ts';

/** Routes that read a body before they know the caller. All other routes are 401 before the body is read. */
const PUBLIC_WAYS = [
  'POST /api/login',
  'POST /api/login/:domain',
  'POST /api/logout',
  'POST /api/password-reset',
  'POST /api/password-reset/:token',
  'POST /graphql',
];
/** Found without a caller; they have limits of their own (`test/app/webhook-proof.test.ts`). */
const WEBHOOKS = /\/_hook\b|\/hooks\//;

/** Begins a request with a body that does not arrive. Returns its status, and whether the server has closed the connection. */
async function sendSlowly(url: string, way: string) {
  const [method, path] = way.split(' ') as [string, string];
  const { hostname, port } = new URL(url);
  const headers = { 'content-type': 'application/json', 'content-length': '1000' };
  const request = httpRequest({
    hostname,
    port,
    method,
    path: path.replaceAll(/:\w+\*?/g, 'x'),
    headers,
    agent: false,
  });
  request.on('error', () => {});
  request.write('{');
  const [response] = await once(request, 'response');
  response.resume();
  const { statusCode } = response as { statusCode: number };
  if (statusCode === 408) await once(request, 'close');
  request.destroy();
  return statusCode;
}

test('every way that reads a body before it knows the caller has a limit of time; all others are refused before it', async () => {
  const service = await startService({}, { bodyLimits: { idleMs: 50, checkMs: 10, closeMs: 50 } });
  const rows = ROWS.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} /api${path}`);
  const ways = [...new Set([...rows, 'POST /graphql', 'POST /no/such/route', 'POST /api/no-such-route'])];
  const statuses = new Map<number, string[]>();
  const send = async (way: string) => {
    const status = await sendSlowly(service.url, way);
    statuses.set(status, [...(statuses.get(status) ?? []), way]);
  };
  await Promise.all(ways.filter((way) => !WEBHOOKS.test(way)).map(send));
  expect(statuses.get(408)?.toSorted()).toEqual(PUBLIC_WAYS);
  expect(statuses.get(404)).toHaveLength(2);
  expect([...statuses.keys()].toSorted()).toEqual([401, 404, 408]);

  // A caller with credentials has the time of every request.
  const ann = await service.user('ann');
  const body = JSON.stringify({ query: '{ me { username } }' });
  const headers = { ...ann.headers, 'content-type': 'application/json', 'content-length': String(body.length) };
  const { hostname, port } = new URL(service.url);
  const request = httpRequest({ hostname, port, method: 'POST', path: '/graphql', headers });
  request.write(body.slice(0, 5));
  await delay(200);
  request.end(body.slice(5));
  const [response] = await once(request, 'response');
  expect(response.statusCode).toBe(200);
  response.destroy();
  await service.close();
});

describe('bodies of callers without credentials', () => {
  test('are limited to 64 concurrent ones of an address', async ({ anonymous, service, ann }) => {
    const headersOf = () => ({ 'content-type': 'application/json' });
    const bodies = openBodies(anonymous, '/login', { count: 65, headersOf });
    expect(await bodies.firstStatus).toBe(429);
    expect((await ann.get('/me')).status).toBe(200);
    bodies.close();
    const login = () => new Client(service.url).post('/login', { username: 'x', password: 'x' });
    await expect.poll(async () => (await login()).status).toBe(401);
  });

  test('have a part of the memory by address', async () => {
    const poolBytes = { view: 1000, proven: 1000, open: 1000, public: 4000 };
    const service = await startService({ TRUST_PROXY: 'loopback' }, { bodyLimits: { poolBytes } });
    const anyone = new Client(service.url);
    const bodies = openBodies(anyone, '/login', {
      count: 3,
      bytes: 600,
      headersOf: () => ({ 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.1' }),
    });
    expect(await bodies.firstStatus).toBe(503);
    const statusFrom = async (address: string) => {
      const body = JSON.stringify({ username: 'x', password: 'x'.repeat(500) });
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': address };
      return (await anyone.request('POST', '/api/login', body, headers)).status;
    };
    expect(await statusFrom('203.0.113.2')).toBe(401);
    bodies.close();
    await service.close();
  });
});

test('an address has 100 sockets that are not authenticated', async ({ service, ann }) => {
  const open = () => new WebSocket(`${service.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const sockets = Array.from({ length: 100 }, open);
  await Promise.all(sockets.map((socket) => once(socket, 'open')));
  const [code, reason] = await once(open(), 'close');
  expect([code, String(reason)]).toEqual([4429, 'An address may have at most 100 sockets that are not authenticated']);
  // An authenticated one counts to its user.
  sockets[0]!.send(JSON.stringify({ type: 'connection_init', payload: ann.headers }));
  expect(JSON.parse(String((await once(sockets[0]!, 'message'))[0]))).toMatchObject({ type: 'connection_ack' });
  const next = open();
  await once(next, 'open');
  next.send(JSON.stringify({ type: 'connection_init', payload: ann.headers }));
  expect(JSON.parse(String((await once(next, 'message'))[0]))).toMatchObject({ type: 'connection_ack' });
  for (const socket of [...sockets, next]) socket.close();
});
