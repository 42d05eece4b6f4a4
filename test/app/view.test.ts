import { beforeEach, describe, expect } from 'vitest';
import { Client } from '../support/client.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createTeam } from '../support/team-fixture.ts';
import { createApp, putFile } from './app-fixture.ts';
import { deploy, deployApp, echo, sendRaw, startSecond, VIEW_METHODS } from './echo-app.ts';

const UNKNOWN = '019a0000-0000-7000-8000-000000000000';
const ROUTES = {
  'server/index.js': echo(VIEW_METHODS),
  'server/orders/[id].js': echo(['get', 'delete']),
  'server/orders/new.js': echo(['get', 'post']),
  'server/[kind]/[id]/parts.js': echo(['get']),
  'server/small.js': echo(['post'], { maxBody: 10 }),
};
let app: string;

beforeEach<{ admin: Client; ann: Client }>(async ({ admin, ann }) => {
  app ??= await deployApp(admin, 'Routes', ROUTES);
  await admin.put(`/apps/${app}/shares/${ann.username}`, { accessLevel: 1 });
});

describe('who may call a route', () => {
  test('is who may read the app, and has the roles of their level', async ({ admin, ann, bob, service }) => {
    const editor = await service.user('editor');
    await expectStatus(editor.put('/me', { displayName: 'Ed Itor' }), 200);
    const manager = await service.user('manager');
    const member = await service.user('member');
    const team = await createTeam(admin, 'Viewers', member);
    await admin.put(`/apps/${app}/shares/${editor.username}`, { accessLevel: 2 });
    await admin.put(`/apps/${app}/shares/${manager.username}`, { accessLevel: 3 });
    await admin.put(`/apps/${app}/shares/team:${team}`, { accessLevel: 1 });
    const rolesOf = async (client: Client) => {
      const { user, roles } = await expectBody(client.get(`/apps/${app}/view`), 200, {});
      const name = client === editor ? 'Ed Itor' : client.username;
      expect(user).toEqual({ id: client.id, name, type: 'user', username: client.username });
      return roles;
    };
    expect(await rolesOf(ann)).toEqual(['viewer']);
    expect(await rolesOf(member)).toEqual(['viewer']);
    expect(await rolesOf(editor)).toEqual(['viewer', 'editor']);
    expect(await rolesOf(manager)).toEqual(['viewer', 'editor', 'admin']);
    expect(await rolesOf(admin)).toEqual(['viewer', 'editor', 'admin', 'superuser']);
    await expectStatus(bob.get(`/apps/${app}/view`), 404);
  });

  test('has credentials; an app of another tenant does not exist', async ({ admin, anonymous, stranger, service }) => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      await expectError(anonymous.request(method, `/api/apps/${app}/view`), 401, 'Missing authentication');
      await expectStatus(stranger.request(method, `/api/apps/${app}/view`), 404, method);
      await expectBody(admin.request(method, `/api/apps/${app}/view`), 200, { method });
    }
    const disabled = await service.user('disabled');
    await admin.put(`/apps/${app}/shares/disabled`, { accessLevel: 3 });
    await admin.put('/users/disabled', { enabled: false });
    await expectStatus(disabled.get(`/apps/${app}/view`), 401);
  });

  test('finds an app by id, slug and natural id', async ({ ann }) => {
    for (const id of [app, app.toUpperCase(), 'routes', 'default:routes', 'default%3Aroutes'])
      await expectBody(ann.get(`/apps/${id}/view/orders/7`), 200, { path: '/orders/7' });
  });

  test('gets the same 404 for an unknown app, one without access or deployment, and an unknown route', async ({
    admin,
    ann,
    bob,
  }) => {
    const draft = await createApp(admin, 'Draft', ROUTES);
    await admin.put(`/apps/${draft}/shares/${ann.username}`, { accessLevel: 1 });
    const bodyOf = async (client: Client, id: string, path: string) => {
      const { status, headers, body } = await client.get(`/apps/${id}/view${path}`);
      expect(headers.get('allow')).toBeNull();
      return { status, body };
    };
    const unknown = await bodyOf(ann, UNKNOWN, '/orders/7');
    expect(unknown).toEqual({
      status: 404,
      body: { statusCode: 404, error: 'Not Found', message: 'There is no route GET /orders/7', code: 'NOT_FOUND' },
    });
    expect(await bodyOf(bob, app, '/orders/7')).toEqual(unknown);
    expect(await bodyOf(ann, draft, '/orders/7')).toEqual(unknown);
    for (const id of ['no-such', 'other:routes', 'a%00b', '%F0%9F%98%80'])
      expect(await bodyOf(ann, id, '/orders/7'), id).toEqual(unknown);
    const message = 'There is no route GET /orders/7/8';
    expect(await bodyOf(ann, app, '/orders/7/8')).toEqual({ ...unknown, body: { ...unknown.body, message } });
  });

  test('changes nothing with a read-only token, or a session cookie from another site', async ({ admin, service }) => {
    const reading = await service.user('reading', { superuser: true, scopes: ['read'] });
    await expectBody(reading.get(`/apps/${app}/view`), 200, { roles: ['viewer', 'editor', 'admin', 'superuser'] });
    const session = await service.login(admin.username);
    const forged = new Client(session.url, { cookie: session.headers['cookie']!, 'sec-fetch-site': 'cross-site' });
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      await expectError(reading.request(method, `/api/apps/${app}/view`), 403, 'This token lacks the scope write');
      await expectError(forged.request(method, `/api/apps/${app}/view`), 403, /same origin/);
      await expectStatus(session.request(method, `/api/apps/${app}/view`), 200, method);
    }
  });
});

describe('a route', () => {
  test('matches texts before parameters, with and without a slash at the end', async ({ ann }) => {
    const matched = async (path: string) => {
      const { status, body } = await ann.get(`/apps/${app}/view${path}`);
      return status === 200 ? [body.path, body.params] : status;
    };
    expect(await matched('')).toEqual(['/', {}]);
    expect(await matched('/')).toEqual(['/', {}]);
    expect(await matched('/orders/new')).toEqual(['/orders/new', {}]);
    expect(await matched('/orders/new/')).toEqual(['/orders/new', {}]);
    expect(await matched('/orders/%6Eew')).toEqual(['/orders/new', {}]);
    expect(await matched('/orders/New')).toEqual(['/orders/New', { id: 'New' }]);
    expect(await matched('/orders/7/parts')).toEqual(['/orders/7/parts', { kind: 'orders', id: '7' }]);
    expect(await matched('/orders')).toBe(404);
    expect(await matched('/orders//parts')).toBe(404);
    expect(await matched('//orders/7')).toBe(404);
    expect(await matched('/orders/7//')).toBe(404);
  });

  test('decodes segments, and keeps an encoded slash within its parameter', async ({ ann }) => {
    const paramOf = async (segment: string) =>
      (await expectBody(ann.get(`/apps/${app}/view/orders/${segment}`), 200, {})).params.id;
    expect(await paramOf('a%2Fb')).toBe('a/b');
    expect(await paramOf('a%252Fb')).toBe('a%2Fb');
    expect(await paramOf('100%25')).toBe('100%');
    expect(await paramOf('%C3%BC%20%F0%9F%98%80+')).toBe('ü 😀+');
    expect(await paramOf('x'.repeat(3000))).toBe('x'.repeat(3000));
  });

  test('is 400 for malformed percent-encoding', async ({ ann }) => {
    for (const path of ['/orders/%', '/orders/%zz', '/orders/%ff', '/%c3%28/7', '?a=%zz'])
      expect((await sendRaw(ann, 'GET', `/apps/${app}/view${path}`)).status, path).toBe(400);
  });

  test('is found although another one with the same text lacks the method; else 405 lists methods', async ({ ann }) => {
    await expectBody(ann.delete(`/apps/${app}/view/orders/new`), 200, { params: { id: 'new' } });
    const { status, headers, body } = await ann.put(`/apps/${app}/view/orders/new`);
    expect([status, headers.get('allow'), body.code]).toEqual([
      405,
      'GET, POST, DELETE, OPTIONS',
      'METHOD_NOT_ALLOWED',
    ]);
    const patched = await ann.request('PATCH', `/api/apps/${app}/view/orders/7`);
    expect([patched.status, patched.headers.get('allow')]).toEqual([405, 'GET, DELETE, OPTIONS']);
  });

  test('is found below api/_server too, unless the app has that path', async ({ admin, ann }) => {
    const id = await deployApp(admin, 'Aliased', {
      'server/orders/[id].js': echo(['get']),
      'server/index.js': echo(['get']),
      'server/api/[kind]/own.js': echo(['get']),
      'server/own.js': echo(['post']),
    });
    await expectBody(admin.get(`/apps/${id}/view/api/_server/orders/7`), 200, {
      path: '/orders/7',
      params: { id: '7' },
    });
    await expectBody(admin.get(`/apps/${id}/view/api/_server`), 200, { path: '/' });
    await expectBody(admin.get(`/apps/${id}/view/api/_server/own`), 200, { path: '/api/_server/own' });
    await expectStatus(admin.post(`/apps/${id}/view/api/_server/own`), 405);
    const message = 'There is no route GET /api/_server/none';
    await expectError(admin.get(`/apps/${id}/view/api/_server/none`), 404, message);
    await expectError(ann.get(`/apps/${id}/view/api/_server/none`), 404, message);
    await expectError(
      ann.get(`/apps/${id}/view/api/_server/orders/7`),
      404,
      'There is no route GET /api/_server/orders/7',
    );
  });

  test('is not run by HEAD and OPTIONS', async ({ ann }) => {
    for (const [path, methods] of [
      ['', 'GET, POST, PUT, PATCH, DELETE, OPTIONS'],
      ['/orders/7', 'GET, DELETE, OPTIONS'],
    ] as const) {
      const head = await sendRaw(ann, 'HEAD', `/apps/${app}/view${path}?fail=ran`);
      expect([head.status, head.headers.allow]).toEqual([405, methods]);
      const options = await sendRaw(ann, 'OPTIONS', `/apps/${app}/view${path}`);
      expect([options.status, options.headers.allow]).toEqual([204, 'GET, POST, PUT, PATCH, DELETE, OPTIONS']);
    }
  });

  test('is served as deployed immediately, even by another process', async ({ admin, service }) => {
    const id = await deployApp(admin, 'Changing', { 'server/a.js': echo(['get']) });
    const second = await startSecond(service);
    const elsewhere = new Client(second.url, admin.headers);
    await expectStatus(elsewhere.get(`/apps/${id}/view/b`), 404);
    await putFile(admin, id, 'server/b.js', echo(['get']));
    await expectStatus(admin.get(`/apps/${id}/view/b`), 404);
    await deploy(admin, id);
    for (const client of [admin, elsewhere]) await expectStatus(client.get(`/apps/${id}/view/b`), 200);
    const [, first] = (await admin.get(`/apps/${id}/releases`)).body._embedded['svc:release'];
    await admin.post(`/apps/${id}/_rollback`, { releaseId: first.id });
    for (const client of [admin, elsewhere]) await expectStatus(client.get(`/apps/${id}/view/b`), 404);
    await admin.delete(`/apps/${id}`);
    for (const client of [admin, elsewhere]) await expectStatus(client.get(`/apps/${id}/view/a`), 404);
    await second.close();
  });
});
