import { describe, expect } from 'vitest';
import type { AppResponse } from '../../src/core/app-run.ts';
import { upstreamFailed } from '../../src/core/errors.ts';
import { sweepWebhookReplies } from '../../src/operations/janitor.ts';
import { findWebhookApp } from '../../src/services/app/find-running-app.ts';
import { Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { startService } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { deployApp, echo } from './echo-app.ts';
import { neverRun, once, onceOf, recordedCalls, responseOf } from './webhook-calls.ts';

const CONFIG = { idempotency: { header: 'X-Delivery' } };
const FILES = {
  'webhooks/index.js': echo(['post', 'put'], CONFIG),
  'webhooks/orders/[id].js': echo(['post'], CONFIG),
};
const RUNS = 'A call with the same idempotency key is running';
const OTHER = 'The value of the header X-Delivery was used for another request';

describe('calls of a webhook with the same key', () => {
  test('get the first response, also from another process, and are all recorded', async ({
    admin,
    anonymous,
    service,
  }) => {
    const app = await deployApp(admin, 'Deliveries', FILES);
    const second = await startService({ ROLE: 'web' }, { databaseUrl: service.databaseUrl });
    const post = (client: Client, respond: object, key?: string) =>
      client.request('POST', `/api/apps/${app}/_hook`, 'body', {
        'x-respond': JSON.stringify(respond),
        ...(key !== undefined && { 'x-delivery': key }),
      });
    const first = { status: 201, headers: { location: '/orders/1', 'content-type': 'text/csv' }, body: 'a,b' };
    for (const client of [anonymous, anonymous, new Client(second.url), admin]) {
      const { status, headers, body } = await post(client, client === anonymous ? first : { status: 500 }, 'k1');
      expect([status, headers.get('location'), headers.get('content-type'), body]).toEqual([
        201,
        '/orders/1',
        'text/csv; charset=utf-8',
        'a,b',
      ]);
    }
    expect(await post(anonymous, { status: 202 }, 'k2')).toMatchObject({ status: 202 });
    for (const key of [undefined, ''])
      for (const status of [200, 203]) expect(await post(anonymous, { status }, key)).toMatchObject({ status });
    expect((await recordedCalls(admin, app)).map(({ status }) => status)).toEqual([
      201, 201, 201, 201, 202, 200, 203, 200, 203,
    ]);
    await second.close();
  });

  test('do not run again if the sizes of the tenant could not be read', async ({ admin, service }) => {
    const app = await deployApp(admin, 'Unknown sizes', FILES);
    const { platform } = service;
    const query: typeof platform.database.query = (tenantId, statement) =>
      statement.text.includes('dws.store_size')
        ? Promise.reject(new Error('The database restarts'))
        : platform.database.query(tenantId, statement);
    const failing = { platform: { ...platform, database: { query } as typeof platform.database } };
    expect(await once(failing, app, {}, responseOf('first'))).toMatchObject({ response: { status: 200 } });
    await expect(once(service, app, {}, neverRun)).rejects.toMatchObject({
      message: expect.stringMatching(/processed before/),
    });
  });

  test('are separate for another app, method and route', async ({ admin, anonymous }) => {
    const app = await deployApp(admin, 'Keys', FILES);
    const other = await deployApp(admin, 'Other keys', FILES);
    const headers = { 'x-delivery': 'same' };
    await expectBody(anonymous.post(`/apps/${app}/_hook`, {}, headers), 200, { method: 'POST', path: '/' });
    await expectBody(anonymous.put(`/apps/${app}/_hook`, {}, headers), 200, { method: 'PUT' });
    await expectBody(anonymous.post(`/apps/${app}/_hook/orders/7`, {}, headers), 200, { path: '/orders/7' });
    await expectBody(anonymous.post(`/apps/${other}/_hook`, { a: 1 }, headers), 200, { rawBody: '{"a":1}' });
  });

  test('are 422 for another body, path and query', async ({ admin, anonymous }) => {
    const app = await deployApp(admin, 'Mismatch', FILES);
    const { token } = (await admin.get(`/apps/${app}/webhooks`)).body.hookToken;
    const post = (path: string, body: string) =>
      anonymous.request('POST', `/api/hooks/${token}${path}`, body, { 'x-delivery': 'k' });
    await expectBody(post('/orders/7?a=1', 'x'), 200, {});
    await expectError(post('/orders/7?a=1', 'y'), 422, OTHER);
    await expectError(post('/orders/8?a=1', 'x'), 422, OTHER);
    await expectError(post('/orders/7?a=2', 'x'), 422, OTHER);
    await expectBody(post('/orders/7?a=1', 'x'), 200, { rawBody: 'x' });
  });

  test('run again after a response from 500 on, and not after one below', async ({ admin, anonymous }) => {
    const app = await deployApp(admin, 'Failing', FILES);
    const post = async (respond: object, key: string) =>
      (await anonymous.post(`/apps/${app}/_hook`, {}, { 'x-respond': JSON.stringify(respond), 'x-delivery': key }))
        .status;
    expect(await post({ status: 503 }, 'k')).toBe(503);
    expect(await post({ status: 422 }, 'k')).toBe(422);
    expect(await post({ status: 200 }, 'k')).toBe(422);
    const failing = () => anonymous.post(`/apps/${app}/_hook?fail=boom`, {}, { 'x-delivery': 'f' });
    for (const _ of [1, 2]) await expectError(failing(), 500, 'The handler failed');
  });
});

describe('a run with a key', () => {
  test('refuses further calls with 409 until it ends', async ({ admin, service }) => {
    const app = await deployApp(admin, 'Running', FILES);
    const { promise, resolve } = Promise.withResolvers<{ response: AppResponse }>();
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const first = once(service, app, {}, () => {
      start();
      return promise;
    });
    await started;
    await expect(once(service, app, {}, neverRun)).rejects.toMatchObject({
      status: 409,
      message: RUNS,
      headers: { 'retry-after': '1' },
    });
    await expect(once(service, app, { body: Buffer.from('c') }, neverRun)).rejects.toMatchObject({
      status: 422,
      code: 'IDEMPOTENCY_KEY_REUSED',
    });
    resolve(await responseOf('done', 201)());
    const response = { status: 201, headers: { 'x-own': 'a' }, body: Buffer.from('done') };
    expect(await first).toEqual({ response });
    expect(await once(service, app, {}, neverRun)).toEqual({ response });
  });

  test('is a single one for many concurrent calls', async ({ admin, service }) => {
    const app = await deployApp(admin, 'Racing', FILES);
    let runs = 0;
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () =>
        once(service, app, {}, () => {
          runs += 1;
          return responseOf('one')();
        }),
      ),
    );
    expect(runs).toBe(1);
    for (const result of results)
      expect(result.status === 'fulfilled' ? result.value : result.reason.message).toEqual(
        result.status === 'fulfilled'
          ? { response: { status: 200, headers: { 'x-own': 'a' }, body: Buffer.from('one') } }
          : RUNS,
      );
  });

  test('releases its key when it fails, throws, or its process was killed', async ({ admin, service }) => {
    const app = await deployApp(admin, 'Releasing', FILES);
    const failure = upstreamFailed('boom');
    expect(await once(service, app, {}, async () => ({ failure }))).toEqual({ failure });
    await expect(once(service, app, {}, () => Promise.reject(new Error('aborted')))).rejects.toThrow('aborted');
    const killed = once(service, app, {}, () => new Promise(() => {}));
    killed.catch(() => {});
    await expect.poll(() => once(service, app, {}, neverRun).catch(({ status }) => status)).toBe(409);
    await systemQuery(service, `update dws.webhook_reply set running_until = now() where app_id = $1`, app);
    expect(await once(service, app, {}, responseOf('again'))).toMatchObject({
      response: { body: Buffer.from('again') },
    });
  });

  test('that ends late does not replace the response of the run that took its key', async ({ admin, service }) => {
    const app = await deployApp(admin, 'Late', FILES);
    const { promise, resolve } = Promise.withResolvers<{ response: AppResponse }>();
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const late = once(service, app, {}, () => {
      start();
      return promise;
    });
    await started;
    await systemQuery(service, `update dws.webhook_reply set running_until = now() where app_id = $1`, app);
    await once(service, app, {}, responseOf('second'));
    resolve(await responseOf('first')());
    await late;
    expect(await once(service, app, {}, neverRun)).toMatchObject({ response: { body: Buffer.from('second') } });
  });
});

test('a run with a key of an app that was deleted during it is 404', async ({ admin, service }) => {
  const id = await deployApp(admin, 'Deleted', FILES);
  const found = (await findWebhookApp(service.platform.system, id))!;
  expect((await admin.delete(`/apps/${id}`)).status).toBe(204);
  await expect(onceOf(service, found, {}, neverRun)).rejects.toMatchObject({
    status: 404,
    message: 'There is no route POST /',
  });
});

describe('a response that is kept', () => {
  test('is encrypted, and kept for 24 hours', async ({ admin, service }) => {
    const app = await deployApp(admin, 'Kept', FILES);
    await once(service, app, {}, responseOf('a secret'));
    const rows = await systemQuery<{ key: string; request: string; response: Buffer }>(
      service,
      `select key, request, response from dws.webhook_reply where app_id = $1`,
      app,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      key: expect.stringMatching(/^[\da-f]{64}$/),
      request: expect.stringMatching(/^[\da-f]{64}$/),
    });
    expect(rows[0]!.response.includes('a secret')).toBe(false);
    expect(service.platform.secrets.openBytes(rows[0]!.response, 'the response').toString()).toMatch(
      /^\{"status":200,.*\}\na secret$/,
    );
    const age = (interval: string) =>
      systemQuery(
        service,
        `update dws.webhook_reply set created_at = now() - $2::interval where app_id = $1`,
        app,
        interval,
      );
    await age('23 hours 59 minutes');
    await service.platform.system.transaction(sweepWebhookReplies);
    expect(await once(service, app, {}, neverRun)).toMatchObject({ response: { body: Buffer.from('a secret') } });
    await age('24 hours 1 minute');
    expect(await once(service, app, {}, responseOf('new'))).toMatchObject({ response: { body: Buffer.from('new') } });
    await age('24 hours 1 minute');
    await service.platform.system.transaction(sweepWebhookReplies);
    expect(await systemQuery(service, `select from dws.webhook_reply where app_id = $1`, app)).toEqual([]);
  });

  test('with more than 1 MB is not repeated, nor is the run', async ({ admin, service }) => {
    const app = await deployApp(admin, 'Large', FILES);
    const request = (key: string) => ({ headers: { 'x-delivery': key } });
    const exact = 'x'.repeat(1_000_000);
    await once(service, app, request('a'), responseOf(exact));
    expect(await once(service, app, request('a'), neverRun)).toMatchObject({ response: { body: Buffer.from(exact) } });
    await once(service, app, request('b'), responseOf(`${exact}x`));
    await expect(once(service, app, request('b'), neverRun)).rejects.toMatchObject({
      status: 409,
      message: 'The call was processed before; its response was not kept',
    });
  });

  test('has 50 MB with the others of the app; past them a repetition is 409, and not a second run', async ({
    admin,
    service,
  }) => {
    const [app, other] = [await deployApp(admin, 'Full', FILES), await deployApp(admin, 'Empty', FILES)];
    const request = (key: string) => ({ headers: { 'x-delivery': key } });
    const body = 'x'.repeat(980_000);
    await once(service, app, request('a'), responseOf(body));
    const bytesOf = async (id: string) =>
      Number(
        (
          await systemQuery<{ bytes: number }>(
            service,
            `select sum(octet_length(response))::int as bytes from dws.webhook_reply where app_id = $1`,
            id,
          )
        )[0]!.bytes,
      );
    const one = await bytesOf(app);
    // Not in Base64, and not by JSON.
    expect(one - body.length).toBeLessThan(200);
    await systemQuery(
      service,
      `insert into dws.webhook_reply (tenant_id, app_id, key, request, run_id, running_until, response)
       select tenant_id, app_id, 'k' || n, request, run_id, now(), response
       from dws.webhook_reply, generate_series(1, $2) n where app_id = $1`,
      app,
      Math.floor(50_000_000 / one) - 1,
    );
    await once(service, app, request('b'), responseOf(body));
    expect(await bytesOf(app)).toBeLessThan(50_000_000);
    await expect(once(service, app, request('b'), neverRun)).rejects.toMatchObject({
      status: 409,
      message: 'The call was processed before; its response was not kept',
    });
    expect(await once(service, app, request('a'), neverRun)).toMatchObject({ response: { body: Buffer.from(body) } });
    // Responses of other calls and apps are kept.
    await once(service, app, request('b'), responseOf(body), false);
    expect(await once(service, app, request('b'), neverRun, false)).toMatchObject({
      response: { body: Buffer.from(body) },
    });
    await once(service, other, request('b'), responseOf(body));
    expect(await once(service, other, request('b'), neverRun)).toMatchObject({ response: { body: Buffer.from(body) } });
  });

  test('is deleted with the app, and when the app has more than 10,000', async ({ admin, service }) => {
    const app = await deployApp(admin, 'Many', FILES);
    await once(service, app, {}, responseOf('newest'));
    await systemQuery(
      service,
      `insert into dws.webhook_reply (tenant_id, app_id, key, request, run_id, running_until, response, created_at)
       select tenant_id, app_id, 'k' || n, request, run_id, now(), response, now() - n * interval '1 second'
       from dws.webhook_reply, generate_series(1, 10001) n where app_id = $1`,
      app,
    );
    // Many of proven calls take nothing from other calls.
    await once(service, app, {}, responseOf('other'), false);
    await systemQuery(
      service,
      `update dws.webhook_reply set created_at = now() - interval '20 hours' where app_id = $1 and not proven`,
      app,
    );
    await service.platform.system.transaction(sweepWebhookReplies);
    const left = await systemQuery(service, `select key from dws.webhook_reply where app_id = $1 and proven`, app);
    expect(await once(service, app, {}, neverRun, false)).toMatchObject({ response: { body: Buffer.from('other') } });
    expect(left).toHaveLength(10_000);
    expect(left.map(({ key }) => key)).not.toContain('k10001');
    expect(await once(service, app, {}, neverRun)).toMatchObject({ response: { body: Buffer.from('newest') } });
    await admin.delete(`/apps/${app}`);
    expect(await systemQuery(service, `select from dws.webhook_reply where app_id = $1`, app)).toEqual([]);
  });
});
