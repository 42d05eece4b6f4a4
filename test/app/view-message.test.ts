import { brotliDecompressSync, gzipSync } from 'node:zlib';
import { beforeEach, describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { startService } from '../support/service.ts';
import { deployApp, echo, openBodies, sendRaw, VIEW_METHODS } from './echo-app.ts';

const MEGABYTE = 1_000_000;
const LARGE = 'export const post = () => 1; export const config = { maxBody: 10_000_000 };';
let view: string;

beforeEach<{ admin: Client; ann: Client }>(async ({ admin, ann }) => {
  if (view) return;
  const id = await deployApp(admin, 'Messages', {
    'server/index.js': echo(VIEW_METHODS),
    'server/small.js': echo(['post'], { maxBody: 10 }),
    'server/large.js': LARGE,
  });
  await admin.put(`/apps/${id}/shares/${ann.username}`, { accessLevel: 1 });
  view = `/apps/${id}/view`;
});

const respond = (client: Client, response: object, headers: Record<string, string> = {}) =>
  sendRaw(client, 'GET', view, { headers: { 'x-respond': JSON.stringify(response), ...headers } });

describe('a request', () => {
  test('reaches the handler without credentials', async ({ ann, service }) => {
    const headers = { 'x-one': 'a', cookie: 'theme=dark', 'proxy-authorization': 'Basic x', 'user-agent': 'test' };
    const body = await expectBody(ann.get(`${view}?a=1&b=2&b=3&c=%C3%BC`, headers), 200, { method: 'GET', path: '/' });
    expect(body.query).toEqual({ a: '1', b: ['2', '3'], c: 'ü' });
    expect(body.headers).toMatchObject({ 'x-one': 'a', 'user-agent': 'test', host: new URL(service.url).host });
    for (const hidden of ['authorization', 'cookie', 'proxy-authorization'])
      expect(body.headers).not.toHaveProperty(hidden);
  });

  test('has a body of any type, as it was sent', async ({ ann }) => {
    const raw = async (method: string, text: string, headers: Record<string, string> = {}) =>
      (await expectBody(ann.request(method, `/api${view}`, text, headers), 200, {})).rawBody;
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect(await raw(method, ' {"a":1', { 'content-type': 'application/json' })).toBe(' {"a":1');
    expect(await raw('POST', '<a>€</a>', { 'content-type': 'text/xml' })).toBe('<a>€</a>');
    expect(await raw('POST', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' })).toBe('a=1');
    expect(await raw('POST', '--x', { 'content-type': 'multipart/form-data; boundary=x' })).toBe('--x');
    expect(await raw('POST', '')).toBe('');
    const framings: Record<string, string>[] = [{ 'transfer-encoding': 'chunked' }, { 'content-length': '3' }];
    for (const headers of framings) {
      const untyped = await sendRaw(ann, 'POST', view, { headers, body: 'abc' });
      expect(JSON.parse(untyped.body.toString()).rawBody).toBe('abc');
    }
  });

  test('keeps a compressed body compressed', async ({ ann }) => {
    const zipped = gzipSync('x'.repeat(5000));
    const response = await sendRaw(ann, 'POST', view, {
      headers: { 'content-encoding': 'gzip', 'content-length': String(zipped.length) },
      body: zipped,
    });
    const { rawBody, headers } = JSON.parse(response.body.toString());
    expect([response.status, headers['content-encoding']]).toEqual([200, 'gzip']);
    expect(rawBody).not.toContain('xxx');
  });

  test('past the limit of its route is 413 while it still arrives', async ({ ann }) => {
    const announced = await sendRaw(ann, 'POST', `${view}/small`, {
      headers: { 'content-length': '11' },
      body: '0',
      unfinished: true,
    });
    expect(JSON.parse(announced.body.toString())).toMatchObject({
      statusCode: 413,
      code: 'PAYLOAD_TOO_LARGE',
      message: 'The body is larger than the maximum of 10 bytes',
    });
    const streamed = await sendRaw(ann, 'POST', `${view}/small`, { body: '01234567890', unfinished: true });
    expect(streamed.status).toBe(413);
    await expectBody(ann.request('POST', `/api${view}/small`, '0123456789'), 200, { rawBody: '0123456789' });
    await expectError(ann.request('POST', `/api${view}`, 'x'.repeat(MEGABYTE + 1)), 413);
    expect((await ann.request('POST', `/api${view}`, 'x'.repeat(MEGABYTE))).body.rawBody).toHaveLength(MEGABYTE);
    await expectError(ann.request('POST', `/api${view}/large`, 'x'.repeat(10 * MEGABYTE + 1)), 413);
  });
});

test('bodies of one user, by any name of the app, occupy an eighth of its memory', async ({ ann, admin }) => {
  const large = async (client: Client, path: string) =>
    (await sendRaw(client, 'POST', `${path}/large`, { body: Buffer.alloc(8_000_000) })).status;
  const bodies = openBodies(ann, `${view}/large`, { count: 2, bytes: 5_000_000 });
  expect(await bodies.firstStatus).toBe(503);
  for (const path of [view, '/apps/default:messages/view']) expect(await large(ann, path)).toBe(503);
  expect(await large(admin, view)).toBe(200);
  bodies.close();
  await expect.poll(() => large(ann, view)).toBe(200);
});

describe('a response', () => {
  test('has the status and headers of the handler, and no rights of the origin', async ({ ann }) => {
    const { status, headers, body } = await respond(ann, {
      status: 418,
      headers: {
        'content-type': 'text/html',
        'x-app-own': 'b',
        'cache-control': 'private, max-age=60',
        location: '/x',
        vary: 'x-a',
      },
      body: '<b>tea</b>',
    });
    expect([status, String(body)]).toEqual([418, '<b>tea</b>']);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-app-own': 'b',
      'cache-control': 'private, max-age=60',
      location: '/x',
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'x-request-id': expect.any(String),
    });
    expect(headers.vary).toContain('x-a');
  });

  test('cannot replace headers of the service, nor concern the whole origin', async ({ ann }) => {
    const own = {
      'Content-Security-Policy': "script-src 'unsafe-inline'",
      'content-security-policy-report-only': 'x',
      'x-content-type-options': 'no',
      'x-frame-options': 'ALLOWALL',
      'x-request-id': 'mine',
      'strict-transport-security': 'max-age=0',
      'clear-site-data': '"*"',
      'Access-Control-Allow-Origin': '*',
      'alt-svc': 'h2="evil.example:443"',
      'service-worker-allowed': '/',
      'X-Accel-Redirect': '/internal/file',
      'x-sourcemap': 'https://evil.example/map',
      'x-appengine-blobkey': 'key',
      'x-proxy-redirect': '/internal',
      'x-purge': '1',
      'x-ban': '1',
      'x-amz-website-redirect-location': 'https://evil.example',
      'x-middleware-rewrite': '/internal',
      'x-unheard-of': '1',
      'x-accel-expires': '3600',
      'surrogate-control': 'max-age=60',
      'CDN-Cache-Control': 'max-age=60',
      'X-Sendfile': '/etc/passwd',
      'x-lighttpd-send-file': '/etc/passwd',
      'www-authenticate': 'Basic realm="x"',
      'proxy-status': 'x',
      Refresh: '0; url=https://evil.example',
      'speculation-rules': '"/rules.json"',
      age: '60',
      link: '</evil.js>; rel=preload',
      'content-location': '/api/me',
      'accept-ch': 'Sec-CH-UA-Model',
      'permissions-policy': 'camera=*',
      'x-robots-tag': 'all',
      'x-forwarded-host': 'evil.example',
      'server-timing': 'x',
      unknown: 'x',
    };
    const { status, headers } = await respond(ann, { headers: own, body: 'x' }, { 'x-request-id': 'ours' });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'x-request-id': 'ours',
    });
    for (const name of Object.keys(own).slice(5)) expect(headers).not.toHaveProperty(name.toLowerCase());
    expect(headers).not.toHaveProperty('content-security-policy-report-only');
  });

  test('is not stored by caches by default, and has no body with 204 and 304', async ({ ann }) => {
    for (const status of [204, 304]) {
      const { headers, ...response } = await respond(ann, { status, headers: { etag: '"1"' }, body: 'x' });
      expect([response.status, String(response.body)]).toEqual([status, '']);
      expect([headers['cache-control'], headers.etag]).toEqual(['no-store', '"1"']);
    }
  });

  test('is never public for shared caches', async ({ ann }) => {
    const cacheControlOf = async (given: string) =>
      (await respond(ann, { headers: { 'Cache-Control': given }, body: 'x' })).headers['cache-control'];
    expect(await cacheControlOf('public, max-age=60')).toBe('private, max-age=60');
    expect(await cacheControlOf('max-age=60, PUBLIC , s-maxage=9')).toBe('private, max-age=60');
    expect(await cacheControlOf('max-age=60')).toBe('private, max-age=60');
    expect(await cacheControlOf('private, max-age=60')).toBe('private, max-age=60');
    expect(await cacheControlOf('no-store')).toBe('no-store');
  });

  test('is compressed as the client accepts it', async ({ ann }) => {
    const text = 'row '.repeat(1000);
    const { headers, body } = await respond(ann, { body: text }, { 'accept-encoding': 'br' });
    expect(headers['content-encoding']).toBe('br');
    expect(String(brotliDecompressSync(body))).toBe(text);
    expect((await respond(ann, { body: text })).headers).not.toHaveProperty('content-encoding');
  });

  test('to a browser of an allowed origin has its CORS headers, also for PATCH', async () => {
    const service = await startService({ CORS_ORIGINS: 'https://shop.example' });
    const admin = await service.user('admin', { superuser: true });
    const id = await deployApp(admin, 'Shared', { 'server/index.js': echo(VIEW_METHODS) });
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'PATCH' };
    const preflight = await sendRaw(admin, 'OPTIONS', `/apps/${id}/view`, { headers });
    expect(preflight.headers['access-control-allow-methods']).toContain('PATCH');
    const response = await sendRaw(admin, 'PATCH', `/apps/${id}/view`, {
      headers: {
        origin: 'https://shop.example',
        'x-respond': '{"headers":{"access-control-allow-origin":"*","vary":"x-a"}}',
      },
    });
    expect(response.status).toBe(200);
    expect(response.headers['access-control-allow-origin']).toBe('https://shop.example');
    expect(response.headers.vary).toMatch(/^Origin, x-a/i);
    await service.close();
  });
});

describe('a failure', () => {
  test('has its message for those who may write the app only', async ({ admin, ann }) => {
    const failure = { statusCode: 500, error: 'Internal Server Error', code: 'UPSTREAM_FAILED', requestId: 'id-1' };
    const headers = { 'x-request-id': 'id-1' };
    const { body } = await ann.get(`${view}?fail=boom`, headers);
    expect(body).toEqual({ ...failure, message: 'The handler failed' });
    const { message, ...rest } = (await admin.get(`${view}?fail=boom`, headers)).body;
    expect(rest).toEqual(failure);
    expect(message).toBe('server/index.js:4: boom');
  });
});
