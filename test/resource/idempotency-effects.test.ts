import { describe, expect } from 'vitest';
import { createApp } from '../app/app-fixture.ts';
import { deployApp, echo } from '../app/echo-app.ts';
import { callApi, servicesFor } from '../app/handler-services-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectError, expectStatus } from '../support/expect.ts';
import { test, type World } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';
import { createRenderable } from '../template/render-fixture.ts';

const keyed = (key: string) => ({ 'idempotency-key': key });
const isReplayed = ({ headers }: { headers: Headers }): boolean => headers.get('idempotency-replayed') === 'true';

describe('effects outside of transactions', () => {
  /** Deploys an app with a webhook. Returns the path of the list of its calls, and the path that repeats the first call. */
  async function createCall({ admin, anonymous }: Pick<World, 'admin' | 'anonymous'>, name: string) {
    const app = await deployApp(admin, name, { 'webhooks/index.js': echo(['post']) });
    await expectStatus(anonymous.request('POST', `/api/apps/${app}/_hook`, 'body'), 200);
    const calls = `/apps/${app}/webhooks/calls`;
    const [call] = (await admin.get(calls)).body._embedded['svc:webhook-call'];
    return { app, calls, path: `${calls}/${call.id}/_replay` };
  }
  const countCalls = async (admin: Client, calls: string) => (await admin.get(calls)).body.total;

  test('happen once: one of many equal requests repeats a call of a webhook', async ({ admin, anonymous }) => {
    const { calls, path } = await createCall({ admin, anonymous }, 'Once');
    const send = () => admin.post(path, undefined, keyed('replay'));
    const responses = await Promise.all(Array.from({ length: 10 }, send));
    expect(responses.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    const again = await send();
    expect([again.status, isReplayed(again)]).toEqual([200, true]);
    expect(await countCalls(admin, calls)).toBe(2);
  });

  test('leave no key when they fail', async ({ service, admin, anonymous }) => {
    const { app, path } = await createCall({ admin, anonymous }, 'Failing');
    await systemQuery(service, `update dws.webhook_call set request = null where app_id = $1`, app);
    await expectStatus(admin.post(path, undefined, keyed('fails')), 409);
    const left = await systemQuery(service, `select from dws.idempotency_key where not ended`);
    expect(left).toEqual([]);
  });

  test('do not happen again when the process ended before it stored the response', async ({
    service,
    admin,
    anonymous,
  }) => {
    const { calls, path } = await createCall({ admin, anonymous }, 'Killed');
    const { database } = service.platform;
    const original = database.query;
    let stored = 0;
    database.query = ((tenantId, statement) =>
      statement.text.includes('insert into dws.idempotency_key') && ++stored > 1
        ? Promise.reject(new Error('killed'))
        : original.call(database, tenantId, statement)) as typeof original;
    const send = () => admin.post(path, undefined, keyed('killed'));
    await expectStatus(send(), 200);
    database.query = original;
    const running = await send();
    expect([running.status, running.headers.get('retry-after')]).toEqual([409, '1']);
    await systemQuery(service, `update dws.idempotency_key set created_at = created_at - interval '2 minutes'`);
    const later = await send();
    expect([later.status, later.headers.get('retry-after')]).toEqual([409, null]);
    expect(later.body.message).toBe('The call was processed before; its response was not kept');
    expect(await countCalls(admin, calls)).toBe(2);
  });
});

describe('a document that is rendered with a key', () => {
  const render = (caller: Client, path: string, key: string, input: object = {}, headers = {}) =>
    caller.post(`${path}/_render`, input, { ...keyed(key), ...headers });

  test('is sent again by a repetition, and rendered once', async ({ service, ann }) => {
    const { id, path } = await createRenderable(ann, { files: { 'a.njk': 'Hello' } });
    const first = await render(ann, path, 'rendered');
    expect([first.status, first.body]).toEqual([200, 'Hello']);
    const again = await render(ann, path, 'rendered');
    expect([again.status, again.body, again.headers.get('location')]).toEqual([
      200,
      'Hello',
      first.headers.get('location'),
    ]);
    expect(isReplayed(again)).toBe(true);
    const deferred = await render(ann, path, 'rendered', {}, { prefer: 'respond-async' });
    expect([deferred.status, deferred.body.status]).toEqual([202, 'succeeded']);
    const preview = await render(ann, path, 'preview', { preview: true });
    const previewed = await render(ann, path, 'preview', { preview: true });
    expect([previewed.body, previewed.headers.get('location')]).toEqual(['Hello', preview.headers.get('location')]);
    expect(await systemQuery(service, 'select from dws.rendition where template_id = $1', id)).toHaveLength(2);
  });
});

describe('keys of apps', () => {
  test('are separate from the keys of the user for whom they call', async ({ service, admin, ann }) => {
    const services = await servicesFor(service, ann, await createApp(admin, 'With keys'));
    const send = () => callApi(services, 'POST', '/api/reports', { name: 'By both' }, { headers: keyed('both') });
    const own = await ann.post('/reports', { name: 'By both' }, keyed('both'));
    const [first, again] = [await send(), await send()];
    expect([own.status, first.status, again.status]).toEqual([201, 201, 201]);
    expect(first.body.id).not.toBe(own.body.id);
    expect(again).toMatchObject({ body: { id: first.body.id }, headers: { 'idempotency-replayed': 'true' } });
  });
});

describe('denied calls with a key', () => {
  test('are recorded in the audit log, whether the key is known or not', async ({ service, ann }) => {
    const events = () =>
      systemQuery(service, `select from dws.audit_event where outcome = 'denied' and user_id = $1`, ann.id);
    const before = (await events()).length;
    const session = await service.login(ann.username);
    const { body } = await session.post('/tokens', { name: 'reader', scopes: ['read'] });
    const reader = ann.with({ authorization: `Bearer ${body.token}` });
    await expectStatus(ann.post('/tags', { name: 'denied' }, keyed('denied')), 201);
    for (const key of ['denied', 'other'])
      await expectError(reader.post('/tags', { name: 'denied' }, keyed(key)), 403, 'This token lacks the scope write');
    expect(await events()).toHaveLength(before + 2);
  });
});
