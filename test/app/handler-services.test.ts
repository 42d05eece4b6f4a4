import { expect } from 'vitest';
import { giveAddresses } from '../job/email-fixture.ts';
import { recordEvents } from '../support/audit-fixture.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';
import { createTeam } from '../support/team-fixture.ts';
import { deployApp, deployAppWith, grantApp } from './echo-app.ts';

/** Sends the request that the body describes to the API. Returns the response. */
const CALL = `
  const call = async ({ fetch, request: { body } }) => {
    const { method = 'GET', url, headers, body: sent } = body;
    const response = await fetch(url, { method, headers, ...(sent && { body: JSON.stringify(sent) }) });
    const text = await response.text();
    return { status: response.status, type: response.headers['content-type'], text };
  };
  export { call as post };`;

/** Calls itself as often as \`deep\` says, and then the path \`last\`. */
const DEEP = `
  export const post = async ({ fetch, request: { body, path }, context: { app } }) => {
    const { deep, last, by } = body;
    const url = deep > 0 ? '/api/apps/' + app.id + '/' + by + path : last;
    const response = await fetch(url, {
      method: deep > 0 ? 'POST' : 'GET',
      ...(deep > 0 && { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...body, deep: deep - 1 }) }),
    });
    return { status: response.status, body: await response.json() };
  };`;

const JSON_HEADERS = { 'content-type': 'application/json' };

test('a view calls the API as its caller, and a webhook as the owner of the app', async ({ service, admin, ann }) => {
  const files = { 'server/call.ts': CALL, 'webhooks/call.ts': CALL };
  const id = await deployAppWith(admin, 'Identities', files, { scopes: ['read', 'write'] });
  await grantApp(service, admin, ann, id, ['read', 'write']);
  const session = (response: { body: { text: string } }) => JSON.parse(response.body.text);
  const asked = { url: '/api/session' };
  const seen = session(await ann.post(`/apps/${id}/view/call`, asked));
  expect(seen).toMatchObject({ user: { id: ann.id }, authMethod: 'app' });
  expect(session(await ann.post(`/apps/${id}/_hook/call`, asked))).toMatchObject({ user: { id: admin.id } });

  const create = { method: 'POST', url: '/api/reports', headers: JSON_HEADERS, body: { name: 'By a view' } };
  const events = await recordEvents(service, async () => {
    const { body } = await ann.post(`/apps/${id}/view/call`, create, { 'x-request-id': 'view-1' });
    expect(body).toMatchObject({ status: 201, type: 'application/json; charset=utf-8' });
    expect(JSON.parse(body.text)).toMatchObject({ name: 'By a view', ownerId: ann.id });
  });
  expect(events).toMatchObject([
    { action: 'createReport', userId: ann.id, channel: 'app', address: '127.0.0.1', requestId: 'view-1' },
  ]);
  const tokens = { ...create, url: '/api/tokens', body: { name: 'x' } };
  const apps = { ...create, url: '/api/apps', body: { name: 'Door' } };
  for (const refused of [tokens, apps])
    for (const path of ['view', '_hook'])
      await expectBody(admin.post(`/apps/${id}/${path}/call`, refused), 200, {
        status: 403,
        text: expect.stringContaining('An app cannot create credentials'),
      });
  await expectStatus(admin.get('/apps/default:door'), 404);
});

test('a called handler sees the headers that the other one set, and no key', async ({ admin }) => {
  const id = await deployApp(admin, 'Headers', {
    'server/call.ts': CALL,
    'server/seen.ts': 'export const get = ({ request: { headers } }) => headers;',
  });
  const url = `/api/apps/${id}/view/seen`;
  const sent = {
    'x-own': '1',
    accept: 'text/x',
    cookie: 'a=b',
    authorization: 'Bearer x',
    'x-forwarded-for': '1.1.1.1',
  };
  const { body } = await admin.post(`/apps/${id}/view/call`, { url, headers: sent });
  const seen = JSON.parse(body.text);
  expect(seen).toMatchObject({ 'x-own': '1', accept: 'text/x', 'user-agent': 'data-workspace-service' });
  for (const name of ['cookie', 'authorization', 'x-forwarded-for', 'dws-internal-call'])
    expect(seen).not.toHaveProperty(name);
});

test('a GET with a session reads only, unlike one with a token', async ({ service, admin }) => {
  const handler = `
    const run = async ({ fetch }) => {
      const read = await fetch('/api/reports');
      const create = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"Forged"}' };
      const created = await fetch('/api/reports', create).then(({ status }) => status, ({ message }) => message);
      return { read: read.status, created };
    };
    export { run as get, run as post };`;
  const id = await deployApp(admin, 'By a link', { 'server/x.ts': handler });
  const session = await service.login('admin');
  const foreign = { 'sec-fetch-site': 'cross-site' };
  const refusal = 'A GET with a session changes nothing: the app must use another method';
  await expectBody(session.get(`/apps/${id}/view/x`), 200, { read: 200, created: refusal });
  await expectBody(session.post(`/apps/${id}/view/x`), 200, { read: 200, created: 201 });
  await expectBody(admin.get(`/apps/${id}/view/x`, foreign), 200, { read: 200, created: 201 });
});

test.for(['view', '_hook'])('handlers call each other by %s 3 deep', async (by, { admin }) => {
  const id = await deployApp(admin, 'Deep', { 'server/deep.ts': DEEP, 'webhooks/deep.ts': DEEP });
  const send = (deep: number) => admin.post(`/apps/${id}/${by}/deep`, { deep, by, last: '/api/me' });
  await expectBody(send(2), 200, { username: 'admin' });
  await expectError(send(3), 503, 'Handlers call view, _hook and _render at most 3 deep');
});

test('an encoded path does not get around the depth', async ({ admin }) => {
  const id = await deployApp(admin, 'Encoded', { 'server/deep.ts': DEEP, 'webhooks/deep.ts': DEEP });
  for (const by of ['%76iew', '_h%6fok', 'x/../view', '_hook/./.'])
    await expectError(
      admin.post(`/apps/${id}/view/deep`, { deep: 3, by, last: '/api/me' }),
      503,
      'Handlers call view, _hook and _render at most 3 deep',
    );
});

test('the webhook of a team acts as the team', async ({ admin, ann }) => {
  const id = await deployApp(admin, 'Of a team', { 'webhooks/call.ts': CALL });
  const team = await createTeam(admin, 'Owners', ann);
  const { id: report } = await admin.creates('/reports', { name: 'Of the team', ownerId: `team:${team}` });
  const { id: other } = await admin.creates('/reports', { name: 'Of the admin' });
  await expectStatus(admin.put(`/apps/${id}/owner`, { ownerId: `team:${team}` }), 200);
  const read = (url: string) => ann.post(`/apps/${id}/_hook/call`, { url });
  await expectBody(read(`/api/reports/${report}`), 200, { status: 200 });
  await expectBody(read(`/api/reports/${other}`), 200, { status: 404 });
  await expectBody(read('/api/users'), 200, { status: 200 });
});

test('a handler emits, notifies and mails', async ({ service, admin, ann, bob }) => {
  await giveAddresses(ann);
  const handler = `
    export const post = async ({ emit, notify, email, request: { body } }) => {
      await emit('order.created', body);
      const notified = await notify(['ann'], { message: 'Order ' + body.number, link: '/orders/' + body.number });
      await email({ to: 'ann', subject: 'Order ' + body.number, text: 'See the link.' });
      return { notified };
    };
    export const put = async ({ notify, emit }) => {
      const errors = [];
      for (const attempt of [() => notify('bob', { message: 'x' }), () => notify('ann'), () => emit(), () => emit('a b')])
        await attempt().catch(({ message }) => errors.push(message));
      return errors;
    };`;
  const id = await deployApp(admin, 'Messages', { 'webhooks/orders.ts': handler });
  await expectStatus(admin.put(`/apps/${id}/shares/${ann.id}`, { accessLevel: 1 }), 200);
  await expectBody(ann.post(`/apps/${id}/_hook/orders`, { number: 7 }), 200, { notified: 1 });
  const [event] = await systemQuery(service, 'select name, payload, principal, depth from dws.app_event');
  expect(event).toEqual({ name: 'order.created', payload: { number: 7 }, principal: `user:${admin.id}`, depth: 0 });
  expect((await ann.get('/notifications')).body._embedded['svc:notification']).toMatchObject([
    { type: 'app.notification', message: 'Order 7', link: '/orders/7', resource: { kind: 'app', id } },
  ]);
  expect((await admin.get('/outbox')).body._embedded['svc:mail']).toMatchObject([
    { to: 'ann@example.com', subject: 'Order 7', text: 'See the link.\n\n-- \nSent by the app "Messages" of admin' },
  ]);
  expect((await bob.put(`/apps/${id}/_hook/orders`)).body).toEqual([
    'The app can notify its readers only, not bob',
    'notification must be an object',
    'name must be a text',
    'name must have 1 to 100 letters, digits and _ . : -',
  ]);
});

test('a GET with a session emits, notifies and mails nothing, but a webhook does', async ({ service, admin }) => {
  const handler = `
    const run = ({ emit, notify, email }) =>
      Promise.all([
        emit('opened', null),
        notify('admin', { message: 'Opened' }),
        email({ to: 'a@example.com', subject: 'Opened', text: 'x' }),
      ].map((sent) => sent.then(() => 'sent', ({ message }) => message)));
    export { run as get, run as post };`;
  const id = await deployApp(admin, 'Foreign', { 'server/x.ts': handler, 'webhooks/x.ts': handler });
  const session = await service.login('admin');
  const call = async (method: string, path: string, headers = {}) =>
    (await session.request(method, `/api/apps/${id}/${path}/x`, undefined, headers)).body;
  const foreign = { 'sec-fetch-site': 'cross-site' };
  const count = async () =>
    (
      await systemQuery(
        service,
        `select (select count(*)::int from dws.app_event where app_id = $1) as events,
          (select count(*)::int from dws.mail where subject = 'Opened') as mails,
          (select count(*)::int from dws.notification where message = 'Opened') as notifications`,
        id,
      )
    )[0];
  const refusal = 'A GET with a session changes nothing: the app must use another method';
  expect(await call('GET', 'view')).toEqual([refusal, refusal, refusal]);
  expect(await count()).toEqual({ events: 0, mails: 0, notifications: 0 });
  expect(await call('POST', 'view')).toEqual(['sent', 'sent', 'sent']);
  expect(await call('GET', '_hook', foreign)).toEqual(['sent', 'sent', 'sent']);
  expect(await count()).toEqual({ events: 2, mails: 2, notifications: 2 });
});
