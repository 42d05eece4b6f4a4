import { expect } from 'vitest';
import { sweepAppRecords } from '../../src/operations/janitor.ts';
import { finishRunRecords, recordRun } from '../../src/services/app/app-run-record.ts';
import { test } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createApp } from './app-fixture.ts';
import { appOf, callOf, recordInOrder, requestOf, runOf } from './record-fixture.ts';

const countOf = async (service: Service, table: string, appId: string): Promise<number> =>
  (await systemQuery<{ count: number }>(service, `select count(*)::int from dws.${table} where app_id = $1`, appId))[0]!
    .count;

/** Runs `work` and returns the number of transactions that tenants began during it. */
async function countTransactions({ platform: { database } }: Service, work: () => Promise<unknown>): Promise<number> {
  const { transaction } = database;
  let count = 0;
  database.transaction = (tenantId, run) => {
    count += 1;
    return transaction.call(database, tenantId, run) as never;
  };
  try {
    await work();
    return count;
  } finally {
    database.transaction = transaction;
  }
}

test('2000 concurrent calls are recorded in few transactions, and count in their statistic', async ({
  admin,
  service,
}) => {
  const id = await createApp(admin, 'Flood');
  const app = await appOf(service, id);
  const runs = Array.from({ length: 2000 }, (_, index) =>
    callOf(app, { status: index % 4 === 0 ? 500 : 200 }, { durationMs: index % 2 === 0 ? 10 : 30 }),
  );
  const transactions = await countTransactions(service, () =>
    Promise.all(runs.map((run) => recordRun(service.platform, run))),
  );
  expect(transactions).toBeLessThanOrEqual(6);
  expect(await countOf(service, 'webhook_call', id)).toBe(2000);
  expect((await admin.get(`/apps/${id}/webhooks`)).body.stats).toEqual([
    {
      method: 'post',
      path: '/orders/:id',
      date: new Date().toISOString().slice(0, 10),
      count: 2000,
      avgDuration: 20,
      errorCount: 500,
      refused: [],
    },
  ]);
  const usage = await systemQuery(
    service,
    `select sum(quantity)::text as quantity, sum(events)::int as events from dws.usage_day
     where entity_type = 'app' and entity_id = $1`,
    id,
  );
  expect(usage).toEqual([{ quantity: '40.000000000', events: 2000 }]);
});

test('a record is committed when recordRun resolves', async ({ admin, service }) => {
  const id = await createApp(admin, 'Committed');
  await recordRun(service.platform, callOf(await appOf(service, id)));
  expect(await runSql(service.databaseUrl, 'select path from dws.webhook_call where app_id = $1', [id])).toEqual([
    { path: '/orders/7' },
  ]);
});

test('compute time is charged to the user, for a team to a member, and once a run', async ({ admin, ann, service }) => {
  const id = await createApp(admin, 'Metered');
  const app = await appOf(service, id);
  const team = await admin.creates('/teams', { name: 'Payers' });
  await admin.put(`/teams/${team.id}/members/ann`, { role: 'member' });
  await admin.put(`/teams/${team.id}/members/bob`, { role: 'member' });
  await recordInOrder(service, [
    runOf(app, { payerId: admin.id, durationMs: 12.3456 }),
    runOf(app, { payerId: team.id, durationMs: 2000 }),
    callOf(app, { status: 401, request: null }, { payerId: admin.id, durationMs: 20, computeMs: 0, memoryBytes: 0 }),
    callOf(app, {}, { payerId: ann.id, durationMs: 1000 }),
  ]);
  const events = await systemQuery(
    service,
    `select actor, quantity::text, credits::text, resource_type, metadata
    from dws.usage_event
    where entity_type = 'app' and entity_id = $1
    order by occurred_at, id`,
    id,
  );
  const members = (await admin.get(`/teams/${team.id}/members`)).body._embedded['svc:membership'];
  const first = members.find(({ role }: { role: string }) => role === 'admin') ?? members[0];
  const common = { resource_type: 'app_compute' };
  expect(events).toEqual([
    {
      ...common,
      actor: `user:${admin.id}`,
      quantity: '0.012346000',
      credits: '0.000123',
      metadata: { trigger: 'view', route: '/orders/:id' },
    },
    {
      ...common,
      actor: `user:${first.userId}`,
      quantity: '2.000000000',
      credits: '0.020000',
      metadata: { trigger: 'view', route: '/orders/:id' },
    },
    {
      ...common,
      actor: `user:${ann.id}`,
      quantity: '1.000000000',
      credits: '0.010000',
      metadata: { trigger: 'webhook', route: '/orders/:id' },
    },
  ]);
});

test('runs of a deleted app leave no records, are metered, and do not affect records of others', async ({
  admin,
  service,
}) => {
  const [deletedId, otherId] = [await createApp(admin, 'Deleted'), await createApp(admin, 'Kept')];
  const [deleted, other] = [await appOf(service, deletedId), await appOf(service, otherId)];
  await admin.delete(`/apps/${deletedId}`);
  const logs = [{ level: 'info', text: 'a' }] as const;
  await Promise.all(
    [deleted, other, deleted, other].map((app) => recordRun(service.platform, callOf(app, {}, { logs }))),
  );
  for (const table of ['webhook_call', 'webhook_day', 'app_log'])
    expect(await countOf(service, table, deletedId), table).toBe(0);
  expect(await countOf(service, 'webhook_call', otherId)).toBe(2);
  expect(await countOf(service, 'app_log', otherId)).toBe(2);
  const metered = await systemQuery(
    service,
    `select entity_id as id, sum(events)::int as events from dws.usage_day where entity_id = any($1)
     group by entity_id order by entity_id`,
    [deletedId, otherId],
  );
  expect(metered).toEqual([deletedId, otherId].toSorted().map((id) => ({ id, events: 2 })));
  await admin.delete(`/apps/${otherId}`);
  for (const table of ['webhook_call', 'webhook_day', 'app_log'])
    expect(await countOf(service, table, otherId), table).toBe(0);
});

test('a record that cannot be written fails nothing, and later ones are written', async ({ admin, service }) => {
  const id = await createApp(admin, 'Failing');
  const app = await appOf(service, id);
  await expect(recordRun(service.platform, callOf(app, {}, { payerId: 'none' }))).resolves.toBe(false);
  expect(await countOf(service, 'webhook_call', id)).toBe(0);
  await recordRun(service.platform, callOf(app));
  expect(await countOf(service, 'webhook_call', id)).toBe(1);
});

test('texts that Postgres refuses are replaced, and long ones cut', async ({ admin, service }) => {
  const id = await createApp(admin, 'Texts');
  const app = await appOf(service, id);
  const run = callOf(
    app,
    { path: `/a\0b\u001b\u0085${'c'.repeat(20_000)}` },
    { error: 'x\0\ud800\u001b[2J\ty\nz', logs: [{ level: 'info', text: 'l\0\udfff' }] },
  );
  await recordRun(service.platform, run);
  const [call] = (await admin.get(`/apps/${id}/webhooks/calls`)).body._embedded['svc:webhook-call'];
  expect(call.path).toBe(`/a\u{fffd}b\u{fffd}\u{fffd}${'c'.repeat(1993)}…`);
  const error = 'x\u{fffd}\u{fffd}\u{fffd}[2J\ty\nz';
  expect(call.error).toBe(error);
  const lines = (await admin.get(`/apps/${id}/logs`)).body._embedded['svc:app-log'];
  expect(lines.map(({ message }: { message: string }) => message)).toEqual([error, 'l\u{fffd}\u{fffd}']);
});

test('a run logs at most 64 KB and 1000 lines', async ({ admin, service }) => {
  const id = await createApp(admin, 'Chatty');
  const app = await appOf(service, id);
  const linesOf = async (requestId: string) =>
    (await admin.get(`/apps/${id}/logs?requestId=${requestId}&limit=1000`)).body;
  await recordRun(
    service.platform,
    runOf(app, {
      requestId: 'long',
      logs: Array.from({ length: 3 }, () => ({ level: 'info' as const, text: 'é'.repeat(16_384) })),
      error: 'the end',
    }),
  );
  const { total, _embedded } = await linesOf('long');
  expect(total).toBe(4);
  expect(
    _embedded['svc:app-log'].map(({ level, message }: { level: string; message: string }) => [level, message.length]),
  ).toEqual([
    ['error', 'the end'.length],
    ['warn', '… The rest of the log was left out.'.length],
    ['info', 16_384],
    ['info', 16_384],
  ]);
  await recordRun(
    service.platform,
    runOf(app, { requestId: 'many', logs: Array.from({ length: 5000 }, () => ({ level: 'info' as const, text: '' })) }),
  );
  expect((await linesOf('many')).total).toBe(1001);
});

test('the last 10,000 calls and 50,000 lines of an app are kept', async ({ admin, service }) => {
  const [id, otherId] = [await createApp(admin, 'Long'), await createApp(admin, 'Beside')];
  const app = await appOf(service, id);
  await recordInOrder(service, [callOf(await appOf(service, otherId), {}, { logs: [{ level: 'info', text: 'a' }] })]);
  await runSql(
    service.databaseUrl,
    `insert into dws.webhook_call (id, tenant_id, app_id, at, method, path, status, duration, peak_memory, request_id)
    select gen_random_uuid(), $1, $2, now() - n * interval '1 second', 'post', '/' || n, 200, 1, 1, 'r'
    from generate_series(1, 10100) n`,
    [app.tenantId, id],
  );
  await runSql(
    service.databaseUrl,
    `insert into dws.app_log (id, tenant_id, app_id, at, level, message, request_id)
    select gen_random_uuid(), $1, $2, now() - n * interval '1 second', 'info', n::text, 'r'
    from generate_series(1, 50100) n`,
    [app.tenantId, id],
  );
  await recordRun(service.platform, callOf(app, {}, { logs: [{ level: 'info', text: 'newest' }] }));
  await finishRunRecords(service.platform);
  expect(await countOf(service, 'webhook_call', id)).toBe(10_000);
  expect(await countOf(service, 'app_log', id)).toBe(50_000);
  expect(await countOf(service, 'webhook_call', otherId)).toBe(1);
  expect(await countOf(service, 'app_log', otherId)).toBe(1);
  const { body } = await admin.get(`/apps/${id}/webhooks/calls?limit=1&start=9999`);
  expect(body).toMatchObject({ count: 1, total: 10_000 });
  expect(body._embedded['svc:webhook-call'][0].path).toBe('/9999');
});

test('paths and messages of the calls of an app have at most 100 MB', async ({ admin, service }) => {
  const id = await createApp(admin, 'Long texts');
  const app = await appOf(service, id);
  await runSql(
    service.databaseUrl,
    `insert into dws.webhook_call
      (id, tenant_id, app_id, at, method, path, status, duration, peak_memory, request_id, error, request)
    select gen_random_uuid(), $1, $2, now() - n * interval '1 second', 'post', repeat('p', 1000000), 404, 1, 1, n,
      repeat('e', 999000), 'x'
    from generate_series(1, 60) n`,
    [app.tenantId, id],
  );
  await recordRun(service.platform, callOf(app));
  await finishRunRecords(service.platform);
  const kept = await systemQuery<{ request_id: string }>(
    service,
    'select request_id from dws.webhook_call where app_id = $1 and status = 404 order by request_id::int',
    id,
  );
  expect(kept.map((call) => Number(call.request_id))).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
});

test('requests are kept up to 256 KB, and encrypted', async ({ admin, service }) => {
  const id = await createApp(admin, 'Sizes');
  const app = await appOf(service, id);
  const body = (length: number) => requestOf('s3cret'.padEnd(length, 'x'));
  await recordInOrder(service, [callOf(app, { request: body(262_144) }), callOf(app, { request: body(262_145) })]);
  const calls = (await admin.get(`/apps/${id}/webhooks/calls`)).body._embedded['svc:webhook-call'];
  expect(calls.map(({ replayable }: { replayable: boolean }) => replayable)).toEqual([false, true]);
  const [stored] = await systemQuery<{ request: string }>(
    service,
    'select request from dws.webhook_call where id = $1',
    calls[1].id,
  );
  expect(stored!.request).toMatch(/^v1\.[0-9a-f]{16}\./);
  expect(JSON.parse(service.platform.secrets.open(stored!.request, 'a test')).headers).toEqual({});
});

test('the janitor deletes lines after 7 days, and calls and their statistic after 30', async ({ admin, service }) => {
  const id = await createApp(admin, 'Old');
  const app = await appOf(service, id);
  await recordRun(service.platform, callOf(app, {}, { logs: [{ level: 'info', text: 'a' }] }));
  const age = async (table: string, column: string, days: number) => {
    await runSql(
      service.databaseUrl,
      `update dws.${table} set ${column} = (now() at time zone 'UTC' - $2 * interval '24 hours') at time zone 'UTC'
      where app_id = $1`,
      [id, days],
    );
    await sweepAppRecords((statement) => service.platform.system.query(statement));
    return countOf(service, table, id);
  };
  expect(await age('app_log', 'at', 6.9)).toBe(1);
  expect(await age('app_log', 'at', 7.1)).toBe(0);
  expect(await age('webhook_call', 'at', 29.9)).toBe(1);
  expect(await age('webhook_call', 'at', 30.1)).toBe(0);
  expect(await age('webhook_day', 'day', 30)).toBe(1);
  expect(await age('webhook_day', 'day', 31)).toBe(0);
});

test('a process that stops writes what it has recorded', async ({ admin, service }) => {
  const id = await createApp(admin, 'Stopping');
  const app = await appOf(service, id);
  const other = await startService({ ROLE: 'web' }, { databaseUrl: service.databaseUrl });
  const recorded = Array.from({ length: 50 }, () => recordRun(other.platform, callOf(app)));
  await other.close();
  expect(await countOf(service, 'webhook_call', id)).toBe(50);
  await Promise.all(recorded);
});
