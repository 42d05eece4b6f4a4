import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addsContent } from '../../resolvers/support/with-storage.ts';
import type { HandlerRoute, RunningApp } from '../../src/core/app-run.ts';
import { measureStores } from '../../src/operations/store-sizes.ts';
import { createSchema } from '../../src/server/graphql/schema.ts';
import { finishRunRecords, recordRun } from '../../src/services/app/app-run-record.ts';
import { runOnce } from '../../src/services/app/webhook-idempotency.ts';
import { loadBytesUsed } from '../../src/services/resource/quota.ts';
import { forgetStorage, storageIssue } from '../../src/services/resource/storage-limit.ts';
import { STORES } from '../../src/services/resource/stores.ts';
import { createApp, putFile } from '../app/app-fixture.ts';
import { servicesFor } from '../app/handler-services-fixture.ts';
import { appOf, callOf, requestOf } from '../app/record-fixture.ts';
import { expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { runSql } from '../support/run-sql.ts';
import { startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createForm, withService } from '../support/upload-form.ts';

/** Stores without contents of users, and the reasons. */
const WITHOUT_CONTENT: Record<string, string> = {
  'dws.tenant': 'created by operators',
  'dws.setting': 'of the installation',
  'dws.migration': 'of the installation',
  'dws.store_size': 'the sizes themselves',
  'dws.session': 'credentials: logins must work on a full disk, and their number is limited',
  'dws.api_token': 'credentials: their number is limited',
  'dws.app_hook_token': 'credentials: one of an app',
  'dws.password_reset': 'credentials: they expire',
  'dws.user_identity': 'one small row for a user and provider',
  'dws.rate_count': 'numbers, deleted after minutes',
  'dws.login_attempt': 'digests and times, deleted after minutes',
  'dws.known_address': 'digests and times',
  'dws.used_login': 'digests and times',
  'dws.oauth_state': 'logins at providers: they expire',
  'dws.oauth_registration': 'of the service at a provider',
  'dws.usage_event': 'the ledger, which must record what happened',
  'dws.usage_day': 'the ledger',
  'dws.credit_reservation': 'the ledger',
  'dws.field_usage': 'names of clients and numbers, limited for a day',
  'dws.field_usage_document': 'names of the schema, limited in number',
  'dws.credit_sync': 'the ledger',
  'dws.budget_warning': 'the ledger',
  dws_jobs: 'the queue: ids of operations',
};

const OVER = 'The app stores more than 100000 bytes';
const DISK_LOW = "The service's disk is nearly full: it stores nothing new until there is space";

/** Files and folders of `DATA_DIR` that contain nothing that users wrote, or a database with the tables above. */
const OWN_FILES = ['postgres', 'postgres.json', 'postgres.lock', 'postgres.log', 'secret'];

async function tenantOf(service: Service): Promise<string> {
  const [tenant] = await systemQuery<{ id: string }>(service, `select id from dws.tenant where slug = 'default'`);
  return tenant!.id;
}

const sizesOf = (service: Service, appId: string): Promise<{ store: string; bytes: number }[]> =>
  systemQuery(
    service,
    'select store, bytes::float8 as bytes from dws.store_size where app_id = $1 order by store',
    appId,
  );

/** Calls a webhook with an idempotency key and returns the body of the response. The second call runs nothing. */
async function replyOf(service: Service, appId: string): Promise<string> {
  const app = (await appOf(service, appId)) as RunningApp;
  const request = requestOf('', { headers: { 'x-key': 'a' } });
  const route = { path: '/', params: [], methods: [], config: {}, file: '' } as unknown as HandlerRoute;
  const result = await runOnce(
    service.platform,
    { app, route, request, header: 'X-Key', isProven: true },
    async () => ({
      response: { status: 200, headers: {}, body: Buffer.from('a response') },
    }),
  );
  return Buffer.from(result.response.body).toString();
}

/** Records a call of a webhook with a line of the log. Returns how much of it is stored. */
async function recordedOf(service: Service, appId: string, requestId: string) {
  const logs = [{ level: 'info' as const, text: 'x'.repeat(2000) }];
  await recordRun(service.platform, callOf(await appOf(service, appId), { request: requestOf() }, { requestId, logs }));
  await finishRunRecords(service.platform);
  const count = `select (select count(*)::int from dws.app_log where request_id = $1) as lines,
    (select count(*)::int from dws.webhook_call where request_id = $1) as calls,
    (select count(request)::int from dws.webhook_call where request_id = $1) as requests`;
  return (await systemQuery(service, count, requestId))[0];
}

/** Measures, and lets the process read the sizes again. */
async function measure(service: Service): Promise<void> {
  await measureStores(service.platform, new AbortController().signal);
  forgetStorage(service.platform, await tenantOf(service));
}

test('every table and every folder is in the list of stores, or is known to have no content of users', async () => {
  await withService({}, async (service) => {
    const tables = await runSql(
      service.databaseUrl,
      `select case table_schema when 'dws_jobs' then table_schema else table_schema || '.' || table_name end as name
       from information_schema.tables
       where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
    );
    const known = [
      ...STORES.filter(({ measure: how }) => how === 'rows').map(({ name }) => `dws.${name}`),
      ...Object.keys(WITHOUT_CONTENT),
    ];
    expect(known).toEqual([...new Set(known)]);
    expect([...new Set(tables.map(({ name }) => String(name)))].toSorted()).toEqual(known.toSorted());
    const folders = STORES.filter(({ name }) => name.endsWith('/')).map(({ name }) => name.slice(0, -1));
    for (const name of readdirSync(service.platform.config.DATA_DIR))
      expect([...folders, ...OWN_FILES]).toContain(name);
  });
});

test('stores are measured by tenant and app, and the quota of the tenant counts them', async () => {
  await withService({}, async (service) => {
    const admin = await service.user('admin', { superuser: true });
    const [id, other] = [await createApp(admin, 'Large'), await createApp(admin, 'Small')];
    await measure(service);
    expect(await sizesOf(service, id)).toEqual([]);
    const tenantId = await tenantOf(service);
    const used = () => loadBytesUsed(service.platform.system, tenantId);
    const before = await used();
    expect(before).toBeGreaterThan(0);
    await systemQuery(
      service,
      `insert into dws.webhook_reply (tenant_id, app_id, key, request, run_id, running_until, response)
       select tenant_id, id, 'k' || n, '', id, now(), decode(repeat('ff', 100000), 'hex')
       from dws.app, generate_series(1, 10) n where id = $1`,
      id,
    );
    await systemQuery(
      service,
      `insert into dws.app_event (id, tenant_id, app_id, name, payload, principal, depth)
       select gen_random_uuid(), tenant_id, id, 'order', '{}', '', 0 from dws.app where id = $1`,
      other,
    );
    expect(await used()).toBe(before);
    await measure(service);
    const [replies, ...others] = await sizesOf(service, id);
    expect(others).toEqual([]);
    expect(replies!.store).toBe('webhook_reply');
    expect(Math.round(replies!.bytes / 10_000)).toBe(100);
    expect((await sizesOf(service, other)).map(({ store }) => store)).toEqual(['app_event']);
    expect((await used()) - before).toBeGreaterThan(1_000_000);
    await systemQuery(service, 'delete from dws.webhook_reply');
    await measure(service);
    expect(await sizesOf(service, id)).toEqual([]);
    expect((await used()) - before).toBeLessThan(10_000);
    await admin.delete(`/apps/${other}`);
    expect(await sizesOf(service, other)).toEqual([]);
  });
});

test.each([
  ['TENANT_DATABASE_BYTES', 'The tenant stores more than 500000 bytes in the database'],
  ['TENANT_QUOTA_BYTES', 'The quota of 500000 bytes is used up'],
])('past %s, what stores more is refused in both APIs', async (variable, message) => {
  await withService({ [variable]: '500000' }, async (service) => {
    const ann = await service.user('ann');
    const bob = await service.user('bob', { tenant: 'other' });
    const { id } = await ann.creates('/reports', { name: 'Before' });
    const fill = `insert into dws.audit_event (id, tenant_id, username, action, outcome, channel, request_id)
      select gen_random_uuid(), id, repeat('x', 1000), 'test', 'succeeded', 'rest', '' from dws.tenant, generate_series(1, 600)
      where slug = 'default'`;
    await systemQuery(service, fill);
    await measure(service);
    await expectError(ann.post('/reports', { name: 'More' }), 413, message);
    const { errors } = await ann.gql('mutation { createReport(input: {name: "More"}) { id } }');
    expect(errors).toMatchObject([{ message, extensions: { code: 'PAYLOAD_TOO_LARGE' } }]);
    // Reads, changes, logins and deletions work, and other tenants.
    await expectStatus(ann.get(`/reports/${id}`), 200);
    await expectStatus(ann.put(`/reports/${id}`, { name: 'After' }), 200);
    await service.login('ann');
    await expectStatus(bob.post('/reports', { name: 'Other' }), 201);
    await expectStatus(ann.delete(`/reports/${id}`), 204);
    await systemQuery(service, `delete from dws.audit_event where action = 'test'`);
    await measure(service);
    await expectStatus(ann.post('/reports', { name: 'More' }), 201);
  });
});

test('past its quota, in one sum, an app only reads and emits nothing, and its calls are recorded without content', async () => {
  const service = await startService({ APP_QUOTA_BYTES: '100000' });
  try {
    const admin = await service.user('admin', { superuser: true });
    const files = { 'migrations/1.sql': 'create table note (text text)' };
    const [id, other] = [await createApp(admin, 'Full', files), await createApp(admin, 'Empty', files)];
    const tenantId = await tenantOf(service);
    const record = (appId: string, requestId: string) => recordedOf(service, appId, requestId);
    const query = (appId: string, sql: string) =>
      service.platform.workspaces.query({ tenantId, appId }, sql, [], new AbortController().signal);
    for (const appId of [id, other]) {
      await expectStatus(admin.post(`/apps/${appId}/_migrate`), 200);
      await query(appId, `insert into note values ('a')`);
    }
    expect(await record(id, 'first')).toMatchObject({ calls: 1, lines: 1, requests: 1 });
    await systemQuery(
      service,
      `insert into dws.app_log (id, tenant_id, app_id, at, level, message, request_id)
       select gen_random_uuid(), tenant_id, id, now(), 'info', repeat('x', 1000), '' from dws.app, generate_series(1, 100)
       where id = $1`,
      id,
    );
    await measure(service);
    const { platform } = service;
    expect(await storageIssue(platform, tenantId, id)).toMatchObject({ status: 413, message: OVER });
    expect(await storageIssue(platform, tenantId, other)).toBeUndefined();
    expect(await storageIssue(platform, tenantId)).toBeUndefined();
    // Its tables are small; with its records they are too large.
    await expect(query(id, `insert into note values ('b')`)).rejects.toMatchObject({
      code: '53100',
      message: 'The app has more than 100000 bytes of data: it only reads until a migration has deleted some',
    });
    expect(await query(id, 'select text from note')).toEqual([{ text: 'a' }]);
    await query(other, `insert into note values ('b')`);
    await expect((await servicesFor(service, admin, id)).emit('noted', null)).rejects.toMatchObject({ message: OVER });
    expect(await record(id, 'second')).toEqual({ calls: 1, lines: 0, requests: 0 });
    expect(await record(other, 'third')).toMatchObject({ calls: 1, lines: 1, requests: 1 });
    const [response, again] = [await replyOf(service, id), await replyOf(service, id).catch((error: Error) => error)];
    expect(response).toBe('a response');
    expect(again).toMatchObject({ status: 409, message: expect.stringContaining('was not kept') });
    expect([await replyOf(service, other), await replyOf(service, other)]).toEqual(['a response', 'a response']);
  } finally {
    await service.close();
  }
});

/** Mutations that work on a full quota and with little free disk. Decide on a new one: here or in `with-storage.ts`. */
const CHANGES = `
  approveToolkitTools authorizeLibrary authorizeToolkit bulkAssignFolder bulkUpdateFolders changePassword createToken
  finishAuthorization finishLogin login logout markFeedViewed migrateApp queryDatasource removeTeamMember requestPasswordReset
  resetPassword rollbackApp rotateHookToken setAppGrant setClientMode setDatasetFieldSecurity setDatasetUserSettings setGlobalPermissions
  setJobActionFile setJobActionOrder setLibraryIntegration setSuperuser setTeamMember setTeamUsageProfile setTemplateFile
  setTemplateInputs setTemplateProcessors setTemplateSettings setTheme setUserUsageProfile startLogin syncDatasetFields
  testDatasource`
  .trim()
  .split(/\s+/);
const CHANGES_OF_ALL_KINDS =
  /^(?:un)?(?:favorite|share|tag)[A-Z]|^(?:cancel|commit|delete|disconnect|update)[A-Z]|^set[A-Z]\w*Owner$/;

test('every mutation either stores more or works in any case', async () => {
  const mutations = Object.keys((await createSchema()).getMutationType()!.getFields());
  const decided = mutations.filter((name) => !CHANGES_OF_ALL_KINDS.test(name));
  expect(decided.toSorted()).toEqual([...decided.filter(addsContent), ...CHANGES].toSorted());
  expect(mutations.filter((name) => CHANGES_OF_ALL_KINDS.test(name) && addsContent(name))).toEqual([]);
});

test('with little free disk, what adds content is refused in both APIs, and all else works', async () => {
  await withService({}, async (service) => {
    const { platform } = service;
    const admin = await service.user('admin', { superuser: true });
    const appId = await createApp(admin, 'Noting', { 'migrations/1.sql': 'create table note (text text)' });
    await expectStatus(admin.post(`/apps/${appId}/_migrate`), 200);
    await putFile(
      admin,
      appId,
      'migrations/2.sql',
      `insert into note select repeat('x', 1000) from generate_series(1, 2000)`,
    );
    const smallId = await createApp(admin, 'Small', { 'migrations/1.sql': 'create table note (text text)' });
    const { id } = await admin.creates('/reports', { name: 'Before' });
    const tenantId = await tenantOf(service);
    const query = (sql: string) =>
      platform.workspaces.query({ tenantId, appId }, sql, [], new AbortController().signal);
    const setFree = (bytes: number) => {
      platform.freeBytes = async () => bytes;
      forgetStorage(platform, tenantId);
    };
    const emit = async () => (await servicesFor(service, admin, appId)).emit('noted', null);
    setFree(2_000_000_000);
    await query(`insert into note values ('a')`);
    await emit();
    setFree(1_999_999_999);
    const refused = await admin.post('/reports', { name: 'More' });
    expect(refused).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE', message: DISK_LOW } });
    expect(refused.headers.get('retry-after')).toBe('60');
    await expectGraphqlError(
      admin.gql('mutation { createReport(input: {name: "More"}) { id } }'),
      'UNAVAILABLE',
      DISK_LOW,
    );
    await expectError(admin.post('/datasets/_previewUpload', createForm('a\n1\n')), 503, DISK_LOW);
    const readsOnly = { code: '53100', message: `${DISK_LOW}. The app only reads` };
    await expect(query(`insert into note values ('b')`)).rejects.toMatchObject(readsOnly);
    await expect(emit()).rejects.toMatchObject({ status: 503, message: DISK_LOW });
    expect(await recordedOf(service, appId, 'low')).toEqual({ calls: 1, lines: 0, requests: 0 });
    expect((await putFile(admin, appId, 'migrations/3.sql', '')).status).toBe(503);
    await expectError(admin.post(`/apps/${appId}/_migrate`), 500, `migrations/2.sql:1: ${DISK_LOW}`);
    // Reads, logins, changes and deletions work, and migrations that do not grow.
    expect(await query('select text from note')).toEqual([{ text: 'a' }]);
    await service.login('admin');
    await expectStatus(admin.put(`/reports/${id}`, { name: 'After' }), 200);
    await expectStatus(admin.get(`/reports/${id}`), 200);
    await expectStatus(admin.delete(`/reports/${id}`), 204);
    await expectStatus(admin.post(`/apps/${smallId}/_migrate`), 200);
    setFree(2_000_000_000);
    await expectStatus(admin.post(`/apps/${appId}/_migrate`), 200);
    await expectStatus(admin.post('/reports', { name: 'More' }), 201);
    await query(`insert into note values ('c')`);
    await emit();
    expect(await recordedOf(service, appId, 'free')).toEqual({ calls: 1, lines: 1, requests: 1 });
  });
});
