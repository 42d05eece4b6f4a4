import pg from 'pg';
import { beforeEach, describe, expect } from 'vitest';
import { AppGrantOwners } from '../../src/migrations/m075-app-grant-owner.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { test, type World } from '../support/fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { createTeam } from '../support/team-fixture.ts';
import { putFile } from './app-fixture.ts';
import { deploy, deployApp, sendRaw } from './echo-app.ts';

/** Does what the query names, and returns its outcome. */
const HANDLER = `
  const attempts = {
    read: ({ fetch }) => fetch('/api/reports').then((response) => response.json()),
    users: ({ fetch }) => fetch('/api/outbox').then((response) => response.json()),
    write: ({ fetch }) => fetch('/api/reports', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"By the app"}' }).then((response) => response.json()),
    outside: ({ fetch }) => fetch('https://no-such-host.invalid/'),
    other: ({ fetch }) => fetch('https://other.invalid/'),
    insert: ({ query }) => query('insert into note values (1)'),
    emit: ({ emit }) => emit('ran'),
    notify: ({ notify }) => notify('admin', { message: 'Ran' }),
    email: ({ email }) => email({ to: 'a@example.com', subject: 'Ran', text: 'x' }),
    hook: ({ fetch, context: { app } }) => fetch('/api/apps/' + app.id + '/_hook/x').then((response) => response.json()),
    log: ({ log }) => log.info('a secret row'),
    fail: () => { throw new Error('a secret row'); },
  };
  export const post = async (app) => {
    const outcomes = [];
    for (const name of app.request.query.do.split(',')) {
      if (name === 'fail') attempts.fail();
      outcomes.push(await Promise.resolve(attempts[name](app)).then(
        (value) => value?.code ?? 'ok', ({ code }) => code));
    }
    return outcomes;
  };`;
const ALL = ['read', 'write', 'notify', 'email', 'keep', 'send', 'admin'];
const HOST = 'no-such-host.invalid';
const GRANTS = '/me/app-grants';
const OTHER_RELEASE = /^The app has another release now/;

let app: string;
let session: Client;
let root: Client;

beforeEach<World>(async ({ service, admin, ann }) => {
  if (app) return;
  app = await deployApp(admin, 'Reader', {
    'server/x.js': HANDLER,
    'webhooks/x.js': 'export const get = () => ({});',
    'migrations/001.sql': 'create table note (id int);',
  });
  await declare(admin, { scopes: ALL, hosts: [HOST] });
  await expectStatus(admin.put(`/apps/${app}/shares/${ann.id}`, { accessLevel: 1 }), 200);
  session = await service.login('ann');
  const superuser = await service.user('root', { superuser: true });
  root = await service.login(superuser.username);
});

/** Declares the access of the app and deploys it. */
async function declare(owner: Client, access: object): Promise<void> {
  await expectStatus(owner.put(`/apps/${app}`, { access }), 200);
  await deploy(owner, app);
}

/** Returns the release that the page shows. */
async function shownRelease(): Promise<string> {
  const { body } = await session.request('GET', `/app-access/${app}`);
  return /data-release-id="([^"]*)"/.exec(String(body))![1]!;
}

const run = async (client: Client, ...names: string[]) =>
  (await client.post(`/apps/${app}/view/x?do=${names.join(',')}`)).body;
const grant = (scopes: string[], hosts: string[] = [], client = session) =>
  expectBody(client.put(`${GRANTS}/${app}`, { scopes, hosts }), 200, { scopes, hosts });

describe('a grant', () => {
  test('is set, listed and deleted in a session, in both APIs', async ({ service, admin, ann }) => {
    await grant(['read', 'send'], [HOST]);
    const list = async () => (await ann.get(GRANTS)).body._embedded['svc:app-grant'];
    expect(await list()).toMatchObject([{ appId: app, appName: 'Reader', scopes: ['read', 'send'], hosts: [HOST] }]);
    const mutation = `mutation ($id: ID!) { setAppGrant(appId: $id, input: { scopes: [READ] }) { scopes hosts lastUsedAt } }`;
    expect((await session.gql(mutation, { id: app })).data).toEqual({
      setAppGrant: { scopes: ['READ'], hosts: [], lastUsedAt: null },
    });
    await run(ann, 'read');
    const { data } = await ann.gql('{ appGrants { appId scopes lastUsedAt } }');
    expect(data.appGrants).toEqual([{ appId: app, scopes: ['READ'], lastUsedAt: expect.any(String) }]);
    expect((await admin.get(GRANTS)).body._embedded['svc:app-grant']).toEqual([]);
    await expectError(ann.put(`${GRANTS}/${app}`, { scopes: ['read'] }), 403, /requires a session/);
    await expectGraphqlError(ann.gql(mutation, { id: app }), 'FORBIDDEN', /requires a session/);
    const foreign = session.with({ 'sec-fetch-site': 'cross-site' });
    await expectError(foreign.put(`${GRANTS}/${app}`, { scopes: ['read'] }), 403, /same origin/);
    const { slug } = (await admin.get(`/apps/${app}`)).body;
    await expectStatus(session.delete(`${GRANTS}/${slug}`), 204);
    await expectError(session.delete(`${GRANTS}/${app}`), 404);
    expect(await list()).toEqual([]);
    const audited = (await admin.get('/audit?limit=50')).body._embedded['svc:audit-event'];
    expect(audited.map(({ action }: { action: string }) => action)).toEqual(
      expect.arrayContaining(['setAppGrant', 'deleteAppGrant']),
    );
    const second = await service.login('admin');
    await expectError(second.put(`${GRANTS}/${app}`, { scopes: ['read'] }), 409, /You own the app/);
  });

  test('is for the release whose declaration was shown, in both APIs', async ({ admin }) => {
    const shown = await shownRelease();
    await grant(['read']);
    await expectBody(session.put(`${GRANTS}/${app}`, { scopes: [], releaseId: shown.toUpperCase() }), 200, {
      scopes: [],
    });
    await deploy(admin, app);
    const current = await shownRelease();
    expect(current).not.toBe(shown);
    const mutation = `mutation ($id: ID!, $releaseId: ID) {
      setAppGrant(appId: $id, input: { scopes: [READ], releaseId: $releaseId }) { scopes }
    }`;
    for (const releaseId of [shown, app, 'none', '']) {
      await expectError(session.put(`${GRANTS}/${app}`, { scopes: ['read'], releaseId }), 409, OTHER_RELEASE);
      await expectGraphqlError(session.gql(mutation, { id: app, releaseId }), 'CONFLICT', OTHER_RELEASE);
    }
    expect((await session.get(GRANTS)).body._embedded['svc:app-grant']).toMatchObject([{ scopes: [] }]);
    for (const releaseId of [current, null])
      expect((await session.gql(mutation, { id: app, releaseId })).data).toEqual({ setAppGrant: { scopes: ['READ'] } });
    await expectStatus(session.delete(`${GRANTS}/${app}`), 204);
  });

  test('is not for a release that becomes active while it is set', async ({ service, admin }) => {
    const former = await shownRelease();
    await deploy(admin, app);
    const deployment = new pg.Client({ connectionString: service.databaseUrl });
    await deployment.connect();
    const activate = (id: string, active: boolean) =>
      deployment.query('update dws.app_release set active = $2 where id = $1', [id, active]);
    const shown = await shownRelease();
    await deployment.query('begin');
    await deployment.query('select from dws.app where id = $1 for update', [app]);
    await activate(shown, false);
    await activate(former, true);
    const granted = session.put(`${GRANTS}/${app}`, { scopes: ['read'], releaseId: shown });
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await deployment.query(waiting)).rowCount).toBe(1);
    await deployment.query('commit');
    await deployment.end();
    await expectError(granted, 409, OTHER_RELEASE);
  });

  test('has no more than the app declares', async ({ admin, bob, service }) => {
    await declare(admin, { scopes: ['read'] });
    await expectInvalid(session.put(`${GRANTS}/${app}`, { scopes: ['write'] }), 'scopes', /does not declare/);
    await expectInvalid(
      session.put(`${GRANTS}/${app}`, { scopes: ['read'], hosts: ['x'] }),
      'hosts',
      /does not declare/,
    );
    const stranger = await service.login(bob.username);
    await expectError(stranger.put(`${GRANTS}/${app}`, { scopes: ['read'] }), 404);
    for (const [access, path] of [
      [{ scopes: ['read'], required: ['keep'] }, 'access.required'],
      [{ scopes: ['read'], hosts: ['a.example'] }, 'access.hosts'],
      [{ scopes: ['send'], hosts: ['https://a.example/'] }, 'access.hosts'],
    ] as const)
      await expectInvalid(admin.put(`/apps/${app}`, { access }), path, /./);
    await declare(admin, { scopes: ALL, hosts: [HOST] });
  });
});

describe('without a grant', () => {
  test('an app has its own tables, also for a superuser, but all rights of its owner', async ({ admin, ann }) => {
    const refused = ['CONSENT_REQUIRED', 'CONSENT_REQUIRED', 'CONSENT_REQUIRED', 'CONSENT_REQUIRED', 'ok', 'ok'];
    for (const client of [ann, session, root])
      expect(await run(client, 'read', 'write', 'notify', 'email', 'insert', 'emit')).toEqual(refused);
    expect(await run(admin, 'read', 'users', 'write', 'insert', 'emit', 'notify', 'email')).toEqual(
      Array(7).fill('ok'),
    );
    const { status, body } = await ann.get(`/apps/${app}/view/x?do=read`);
    expect([status, body.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
  });

  test('a required scope is asked before the handler runs', async ({ admin }) => {
    await declare(admin, { scopes: ALL, required: ['read'], hosts: [HOST] });
    const path = `/apps/${app}/view/x?do=insert`;
    const { status, body } = await session.post(path);
    const url = expect.stringMatching(`/app-access/${app}$`);
    expect([status, body.code, body.consent]).toEqual([403, 'CONSENT_REQUIRED', { appId: app, scopes: ['read'], url }]);
    await putFile(admin, app, 'server/page.js', `export const get = () => 'shown';`);
    await deploy(admin, app);
    const headers = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'same-origin' };
    const opened = await sendRaw(session, 'GET', `/apps/${app}/view/page?a=1`, { headers });
    const page = `/app-access/${app}?returnTo=%2Fapi%2Fapps%2F${app}%2Fview%2Fpage%3Fa%3D1`;
    expect([opened.status, opened.headers.location]).toEqual([303, page]);
    await declare(admin, { scopes: ALL, hosts: [HOST] });
  });

  test('the page names app, owner and scopes, and cannot be framed', async ({ admin }) => {
    const { slug } = (await admin.get(`/apps/${app}`)).body;
    const shown = await session.request('GET', `/app-access/${app}?returnTo=/api/apps/${app}/view/x`);
    expect(shown.status).toBe(200);
    expect(shown.headers.get('content-security-policy')).toContain(`frame-ancestors 'none'`);
    expect(shown.headers.get('cache-control')).toBe('no-store');
    for (const text of ['<strong>Reader</strong> of <strong>admin</strong>', ...ALL.map((scope) => `value="${scope}"`)])
      expect(shown.body).toContain(text);
    expect(shown.body).toContain('They can keep that after you change your choice');
    expect(shown.body).toContain(`data-return-to="/api/apps/${app}/view/x"`);
    const other = await session.request('GET', `/app-access/${app}?returnTo=https://evil.example/`);
    expect(other.body).toContain('data-return-to="/"');
    const bySlug = await session.request('GET', `/app-access/${app}?returnTo=/api/apps/default:${slug}/view`);
    expect(bySlug.body).toContain(`data-return-to="/api/apps/default:${slug}/view"`);
    const unnamed = await session.request('GET', `/app-access/${slug}`);
    expect(unnamed.body).toContain('data-return-to=""');
    expect((await session.request('GET', '/app-access/no-such')).status).toBe(404);
  });
});

describe('with a grant', () => {
  test('an app does what was granted', async ({ ann }) => {
    await grant(['read', 'notify']);
    expect(await run(ann, 'read', 'write', 'notify', 'email')).toEqual([
      'ok',
      'CONSENT_REQUIRED',
      'ok',
      'CONSENT_REQUIRED',
    ]);
    await grant(['read', 'write']);
    expect(await run(ann, 'read', 'write')).toEqual(['ok', 'ok']);
  });

  test('data that it has read leaves only in granted ways', async ({ admin, ann }) => {
    await grant(['read', 'write']);
    expect(await run(ann, 'insert', 'emit', 'outside')).toEqual(['ok', 'ok', 'UNAVAILABLE']);
    expect(await run(ann, 'read', 'insert', 'emit', 'outside', 'other', 'hook')).toEqual([
      'ok',
      '42501',
      'CONSENT_REQUIRED',
      'CONSENT_REQUIRED',
      'FORBIDDEN',
      'CONSENT_REQUIRED',
    ]);
    await expectStatus(ann.post(`/apps/${app}/view/x?do=read,log,fail`, undefined, { 'x-request-id': 'leak-1' }), 500);
    const lines = (await admin.get(`/apps/${app}/logs?requestId=leak-1`)).body._embedded['svc:app-log'];
    expect(lines).toMatchObject([{ level: 'info', message: expect.stringMatching(/^Not kept/) }]);
    await grant(['read', 'keep', 'send'], [HOST]);
    expect(await run(ann, 'read', 'insert', 'emit', 'outside', 'other', 'hook')).toEqual([
      'ok',
      'ok',
      'ok',
      'UNAVAILABLE',
      'FORBIDDEN',
      'ok',
    ]);
  });

  test('global permissions need the scope admin', async () => {
    await grant(['read'], [], root);
    expect(await run(root, 'read', 'users')).toEqual(['ok', 'FORBIDDEN']);
    await grant(['read', 'admin'], [], root);
    expect(await run(root, 'read', 'users')).toEqual(['ok', 'ok']);
  });
});

describe('a grant ends', () => {
  test('for additional declarations of another release, and for superusers with each release', async ({
    admin,
    ann,
  }) => {
    await declare(admin, { scopes: ['read'] });
    await grant(['read']);
    await grant(['read'], [], root);
    await declare(admin, { scopes: ['read', 'write'] });
    expect(await run(ann, 'read', 'write')).toEqual(['ok', 'CONSENT_REQUIRED']);
    expect(await run(root, 'read')).toEqual(['CONSENT_REQUIRED']);
    await declare(admin, { scopes: [] });
    expect(await run(ann, 'read')).toEqual(['FORBIDDEN']);
    await declare(admin, { scopes: ALL, hosts: [HOST] });
  });

  test('with the upgrade, if it was for a former owner of the app', async ({ service }) => {
    await grant(['read']);
    await grant(['read'], [], root);
    const sql = (text: string, values: unknown[] = []) => runSql(service.databaseUrl, text, values);
    await sql('drop trigger end_grants on dws.app');
    await sql('drop function dws.end_app_grants');
    await sql(`update dws.app_grant set owner_id = 'user:' || user_id where user_id = $1`, [root.id]);
    const migration = new AppGrantOwners(undefined as never, undefined as never);
    migration.up();
    for (const statement of migration.getQueries()) await sql(String(statement));
    const left = await sql('select user_id as id from dws.app_grant');
    expect(left.map(({ id }) => id)).toEqual([session.id]);
    const forced = await sql(
      `select from pg_class
      where relname in ('app', 'app_grant') and relnamespace = 'dws'::regnamespace and relforcerowsecurity`,
    );
    expect(forced.length).toBe(2);
  });

  test('when it is revoked, and when the app gets another owner', async ({ admin, ann, bob }) => {
    await grant(['read']);
    expect(await run(ann, 'read')).toEqual(['ok']);
    await session.delete(`${GRANTS}/${app}`);
    expect(await run(ann, 'read')).toEqual(['CONSENT_REQUIRED']);
    await grant(['read']);
    const team = await createTeam(admin, 'New owners', bob);
    await expectStatus(admin.put(`/apps/${app}/owner`, { ownerId: `team:${team}` }), 200);
    expect(await run(ann, 'read')).toEqual(['CONSENT_REQUIRED']);
    // Members of a team that owns the app are asked, too.
    expect(await run(bob, 'read')).toEqual(['CONSENT_REQUIRED']);
    expect((await ann.get(GRANTS)).body._embedded['svc:app-grant']).toEqual([]);
    expect(await ann.data('{ appGrants { appId } }')).toEqual({ appGrants: [] });
    // It does not hold again for the former owner.
    await expectStatus(admin.put(`/apps/${app}/owner`, { ownerId: `user:${admin.id}` }), 200);
    expect(await run(ann, 'read')).toEqual(['CONSENT_REQUIRED']);
  });
});
