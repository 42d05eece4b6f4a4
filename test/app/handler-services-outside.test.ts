import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { Received } from '../../src/core/app-access.ts';
import type { HandlerFetch } from '../../src/core/app-run.ts';
import { test, urlOf } from '../job/webhook-fixture.ts';
import { startListener } from '../outbound/listener.ts';
import { createApp } from './app-fixture.ts';
import { parse, servicesFor } from './handler-services-fixture.ts';

const NEVER = new AbortController().signal;
const GET: Omit<HandlerFetch, 'url'> = { method: 'GET', headers: {}, body: null };

test('a URL is called with the headers and the body of the handler, without credentials', async ({
  service,
  admin,
  receiver,
}) => {
  receiver.respond = (_request, response) =>
    response
      .writeHead(201, { 'content-type': 'application/json', 'content-encoding': 'gzip', 'set-cookie': ['a=1', 'b=2'] })
      .end(gzipSync('{"created":true}'));
  const services = await servicesFor(service, admin, await createApp(admin, 'Outside'));
  const response = await services.fetch(
    {
      method: 'put',
      url: urlOf(receiver, '/orders?x=1'),
      headers: {
        Authorization: 'Basic own',
        'Content-Type': 'text/plain',
        Host: 'other',
        'Content-Length': '1',
        Connection: 'x',
      },
      body: Buffer.from('Grüße'),
    },
    NEVER,
  );
  expect(parse(response)).toEqual({
    status: 201,
    headers: expect.objectContaining({ 'content-type': 'application/json', 'set-cookie': 'a=1, b=2' }),
    body: { created: true },
  });
  expect(Object.keys(response.headers)).not.toContain('content-encoding');
  const [{ method, url, headers, body }] = receiver.requests as [(typeof receiver.requests)[number]];
  expect({ method, url, body }).toEqual({ method: 'PUT', url: '/orders?x=1', body: 'Grüße' });
  expect(headers).toMatchObject({
    authorization: 'Basic own',
    'content-type': 'text/plain',
    host: `127.0.0.1:${receiver.port}`,
    'content-length': '7',
  });
  expect(headers).not.toHaveProperty('cookie');
});

test('addresses that are not public are refused', async ({ service, admin, receiver }) => {
  const services = await servicesFor(service, admin, await createApp(admin, 'Private'));
  for (const [url, message] of [
    [
      'http://127.0.0.2/',
      'Outgoing calls over http: to the host "127.0.0.2" are not allowed: OUTBOUND_ALLOW does not name it',
    ],
    ['file:///etc/passwd', 'Outgoing calls go to https: URLs, not to "file:///etc/passwd"'],
    ['data:text/plain,x', 'Outgoing calls go to https: URLs, not to "data:text/plain,x"'],
  ])
    await expect(services.fetch({ ...GET, url: url! }, NEVER)).rejects.toMatchObject({ status: 400, message });
  expect(receiver.requests).toEqual([]);
});

test('only a GET follows redirects, without headers to another origin', async ({ service, admin, receiver }) => {
  const other = await startListener('127.0.0.1');
  try {
    receiver.respond = (_request, response) => response.writeHead(302, { location: urlOf(other, '/there') }).end();
    const services = await servicesFor(service, admin, await createApp(admin, 'Redirects'));
    const request = { ...GET, url: urlOf(receiver), headers: { 'x-secret': 'mine' } };
    expect((await services.fetch(request, NEVER)).status).toBe(200);
    expect(other.requests).toMatchObject([{ url: '/there' }]);
    expect(other.requests[0]!.headers).not.toHaveProperty('x-secret');
    const posted = await services.fetch({ ...request, method: 'POST', body: Buffer.from('x') }, NEVER);
    expect(posted).toMatchObject({ status: 302, headers: { location: urlOf(other, '/there') } });
    expect(other.requests).toHaveLength(1);
  } finally {
    await other.close();
  }
});

test('a run that a user has limited follows no redirects', async ({ service, admin, receiver }) => {
  receiver.respond = (_request, response) => response.writeHead(302, { location: 'https://other.invalid/' }).end();
  const access = { scopes: ['read' as const, 'send' as const], hosts: [`127.0.0.1:${receiver.port}`] };
  const received = new Received();
  await received.set({ mayKeep: true });
  const limit = {
    tenantId: 'x',
    appId: 'x',
    grantId: null,
    url: 'x',
    declared: { ...access, required: [] },
    granted: access,
    received,
  };
  const services = await servicesFor(service, admin, await createApp(admin, 'Limited'), { limits: [limit] });
  const response = await services.fetch({ ...GET, url: urlOf(receiver) }, NEVER);
  expect(response).toMatchObject({ status: 302, headers: { location: 'https://other.invalid/' } });
  await expect(services.fetch({ ...GET, url: response.headers.location! }, NEVER)).rejects.toMatchObject({
    status: 403,
  });
});

test('a response from outside may have 10 MB', async ({ service, admin, receiver }) => {
  const services = await servicesFor(service, admin, await createApp(admin, 'Large'));
  const receive = async (size: number) => {
    receiver.respond = (_request, response) => response.end(Buffer.alloc(size));
    return (await services.fetch({ ...GET, url: urlOf(receiver) }, NEVER)).body.length;
  };
  expect(await receive(10_000_000)).toBe(10_000_000);
  await expect(receive(10_000_001)).rejects.toMatchObject({
    code: 'UPSTREAM_FAILED',
    message: /more than 10000000 bytes/,
  });
});

test('the end of the run ends a call', async ({ service, admin, receiver }) => {
  const services = await servicesFor(service, admin, await createApp(admin, 'Ended'));
  const run = new AbortController();
  const closed = Promise.withResolvers<void>();
  receiver.respond = (_request, response) => {
    response.once('close', () => closed.resolve());
    run.abort(new Error('The run has ended'));
  };
  await expect(services.fetch({ ...GET, url: urlOf(receiver) }, run.signal)).rejects.toThrow('The run has ended');
  await closed.promise;
});
