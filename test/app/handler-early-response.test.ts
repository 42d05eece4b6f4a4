import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';
import { deployApp, sendRaw, startSecond } from './echo-app.ts';

/** Responds with `{accepted: <name>}`, waits for the folder of this name, and then emits or fails. */
const WORK = `
  export const post = async ({ respond, fetch, emit, log, request }) => {
    const { name, error } = request.body;
    await respond({ accepted: name });
    log('responded');
    while (!(await fetch('folders?limit=100')).body._embedded['svc:folder'].some((folder) => folder.name === name))
      await new Promise((resolve) => setTimeout(resolve, 50));
    await emit('done', { name });
    if (error) throw new Error(error);
  };
  export const config = { timeout: 60_000, idempotency: { header: 'x-key' } };`;

/** The same below `server`. */
const VIEW_WORK = WORK.replace(/, idempotency: \{[^}]*\}/, '');

/** A handler of `post` with this body. */
const handler = (body: string, config: object = {}) => `
  export const post = async ({ respond, log, request }) => { ${body} };
  export const config = ${JSON.stringify(config)};`;

const go = (admin: Client, name: string) => admin.creates('/folders', { name });

interface Call {
  id: string;
  status: number;
  duration: number;
  error: string | null;
  peakMemory: number;
  replayOf: string | null;
}

/** Returns the recorded calls of an app, the newest first. */
const callsOf = async (admin: Client, app: string): Promise<Call[]> =>
  (await admin.get(`/apps/${app}/webhooks/calls`)).body._embedded['svc:webhook-call'];

/** Waits for the first recorded call of an app and returns it. */
async function callOf(admin: Client, app: string): Promise<Call> {
  await expect.poll(async () => (await callsOf(admin, app)).length, { timeout: 20_000 }).toBe(1);
  return (await callsOf(admin, app))[0]!;
}

/** Returns level and message of the lines of an app, the oldest first. */
const linesOf = async (admin: Client, app: string): Promise<[string, string][]> =>
  (await admin.get(`/apps/${app}/logs`)).body._embedded['svc:app-log']
    .map(({ level, message }: { level: string; message: string }) => [level, message])
    .toReversed();

describe('a webhook that responds and goes on', () => {
  test('responds to its caller while it runs, and is one call with the duration of all', async ({
    admin,
    anonymous,
    service,
  }) => {
    const app = await deployApp(admin, 'Early', { 'webhooks/work.js': WORK });
    const response = await sendRaw(anonymous, 'POST', `/apps/${app}/_hook/work`, {
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: '{"name": "early"}',
    });
    expect([response.status, response.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(JSON.parse(response.body.toString())).toEqual({ accepted: 'early' });
    expect(await callsOf(admin, app), 'it runs').toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await go(admin, 'early');
    const call = await callOf(admin, app);
    expect(call).toMatchObject({ status: 200, error: null });
    expect(call.duration).toBeGreaterThan(300);
    expect(call.peakMemory).toBeGreaterThan(0);
    expect(await linesOf(admin, app)).toEqual([['info', 'responded']]);
    const events = `select name, payload from dws.app_event where app_id = $1`;
    expect(await systemQuery(service, events, app)).toEqual([{ name: 'done', payload: { name: 'early' } }]);
    const { stats } = (await admin.get(`/apps/${app}/webhooks`)).body;
    expect(stats).toMatchObject([{ count: 1, errorCount: 0 }]);
  });

  test('has an error after its response in log and record', async ({ admin, anonymous }) => {
    const app = await deployApp(admin, 'Late error', { 'webhooks/work.js': WORK });
    await expectBody(anonymous.post(`/apps/${app}/_hook/work`, { name: 'late', error: 'no paper' }), 200, {});
    await go(admin, 'late');
    const error = 'webhooks/work.js:9: no paper';
    expect(await callOf(admin, app)).toMatchObject({ status: 200, error });
    expect(await linesOf(admin, app)).toEqual([
      ['info', 'responded'],
      ['error', error],
    ]);
  });

  test('runs once for a key, and repeats its response while it runs and after it failed', async ({
    admin,
    anonymous,
    service,
  }) => {
    const app = await deployApp(admin, 'Early key', { 'webhooks/work.js': WORK });
    const post = () => anonymous.post(`/apps/${app}/_hook/work`, { name: 'keyed', error: 'x' }, { 'x-key': 'k' });
    await expectBody(post(), 200, { accepted: 'keyed' });
    await expectBody(post(), 200, { accepted: 'keyed' });
    const repeated = await callOf(admin, app);
    expect(repeated).toMatchObject({ status: 200, error: null, peakMemory: 0 });
    await go(admin, 'keyed');
    await expect.poll(async () => (await callsOf(admin, app)).length).toBe(2);
    await expectBody(post(), 200, { accepted: 'keyed' });
    expect(await systemQuery(service, 'select from dws.app_event where app_id = $1', app)).toHaveLength(1);
  });

  test('is awaited by a replay', async ({ admin, anonymous }) => {
    const app = await deployApp(admin, 'Early replay', { 'webhooks/work.js': WORK });
    await go(admin, 'replayed');
    await expectBody(anonymous.post(`/apps/${app}/_hook/work`, { name: 'replayed', error: 'again' }), 200, {});
    const { id } = await callOf(admin, app);
    const { body } = await admin.post(`/apps/${app}/webhooks/calls/${id}/_replay`);
    expect(body).toMatchObject({ status: 200, error: 'webhooks/work.js:9: again', replayOf: id });
  });
});

describe('a run after its response ends', () => {
  const TIMEOUT = handler('await respond({ ok: true }); await new Promise(() => setTimeout(() => {}, 60_000));', {
    timeout: 300,
  });
  const MEMORY = handler('await respond({ ok: true }); const all = []; for (;;) all.push(new Array(1e6).fill(0.5));');
  const ENDS: [title: string, source: string, error: string][] = [
    ['at its timeout', TIMEOUT, 'The handler takes longer than 300 ms'],
    ['past its memory', MEMORY, 'The handler needs more than 128 MB of memory'],
    ['with an exception', handler('await respond({ ok: true }); null.x;'), expect.stringContaining("reading 'x'")],
  ];

  test.for(ENDS)('%s', async ([title, source, error], { admin, anonymous }) => {
    const app = await deployApp(admin, `Ends ${title}`, { 'webhooks/x.js': source });
    await expectBody(anonymous.post(`/apps/${app}/_hook/x`), 200, {});
    expect(await callOf(admin, app)).toMatchObject({ status: 200, error });
  });

  test('when its app is deleted, and its time is charged', async ({ admin, anonymous, service }) => {
    const app = await deployApp(admin, 'Ends deleted', { 'webhooks/work.js': WORK });
    await expectBody(anonymous.post(`/apps/${app}/_hook/work`, { name: 'never' }), 200, {});
    await expectStatus(admin.delete(`/apps/${app}`), 204);
    const charged = `select quantity > 0 as "isPositive" from dws.usage_event where entity_id = $1`;
    await expect.poll(() => systemQuery(service, charged, app)).toEqual([{ isPositive: true }]);
  });

  test('when the service stops, and is recorded', async ({ admin, service }) => {
    const app = await deployApp(admin, 'Ends stopped', { 'webhooks/work.js': WORK });
    const second = await startSecond(service);
    const response = await fetch(`${second.url}/api/apps/${app}/_hook/work`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name": "never"}',
    });
    expect(await response.json()).toEqual({ accepted: 'never' });
    await second.close();
    expect(await callsOf(admin, app)).toMatchObject([{ status: 200, error: 'The service is shutting down' }]);
  });

  test('with the remaining rights of its owner', async ({ admin, anonymous, service }) => {
    const owner = await service.user('early-owner', { permissions: ['apps:create', 'folders:create'] });
    const app = await deployApp(owner, 'Ends refused', { 'webhooks/work.js': WORK });
    await admin.put(`/apps/${app}/shares/${admin.id}`, { accessLevel: 3 });
    await expectBody(anonymous.post(`/apps/${app}/_hook/work`, { name: 'refused' }), 200, {});
    await expectStatus(admin.put(`/users/${owner.id}`, { enabled: false }), 200);
    expect(await callOf(admin, app)).toMatchObject({ status: 200, error: expect.stringMatching(/disabled|no longer/) });
  });
});

describe('a route below view', () => {
  test('responds and goes on as its caller, whose connection may end', async ({ admin, service }) => {
    const app = await deployApp(admin, 'Early view', { 'server/work.js': VIEW_WORK });
    await expectBody(admin.post(`/apps/${app}/view/work`, { name: 'view' }), 200, { accepted: 'view' });
    await go(admin, 'view');
    const events = `select name from dws.app_event where app_id = $1`;
    await expect.poll(() => systemQuery(service, events, app)).toEqual([{ name: 'done' }]);
    await expect.poll(() => linesOf(admin, app)).toEqual([['info', 'responded']]);
  });

  test('that a handler calls responds to it, and goes on after it', async ({ admin, anonymous, service }) => {
    const app = await deployApp(admin, 'Early nested', {
      'server/work.js': VIEW_WORK,
      'webhooks/outer.js': `export const post = async ({ fetch, context }) =>
        (await fetch(\`apps/\${context.app.id}/view/work\`, { method: 'POST', body: { name: 'nested' } })).body;`,
    });
    await expectBody(anonymous.post(`/apps/${app}/_hook/outer`), 200, { accepted: 'nested' });
    expect(await callOf(admin, app)).toMatchObject({ status: 200, error: null });
    await go(admin, 'nested');
    const events = `select name from dws.app_event where app_id = $1`;
    await expect.poll(() => systemQuery(service, events, app)).toEqual([{ name: 'done' }]);
  });
});
