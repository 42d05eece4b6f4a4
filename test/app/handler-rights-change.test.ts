import type { RequestListener } from 'node:http';
import { beforeEach, describe, expect } from 'vitest';
import { test, urlOf } from '../job/webhook-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import type { World } from '../support/fixture.ts';
import { createTeam } from '../support/team-fixture.ts';
import { deployApp, deployAppWith, grantApp } from './echo-app.ts';

type Receiver = Parameters<typeof urlOf>[0] & { respond: RequestListener };

/** Does what the query names, then waits for the URL `pause`, and does it again. Returns the outcomes of both. */
const HANDLER = `
  export const post = async ({ request: { query: asked }, query, transaction, fetch, emit, notify, email }) => {
    const call = async (url) => {
      const response = await fetch(url);
      return response.ok ? 'ok' : (await response.json()).code;
    };
    const attempts = {
      read: () => call('/api/me'),
      users: () => call('/api/outbox'),
      report: () => call('/api/reports/' + asked.report),
      outside: () => fetch(asked.outside),
      insert: () => query('insert into note values (1)'),
      begin: () => transaction(({ query }) => query('insert into note values (2)')),
      emit: () => emit('ran', null),
      notify: () => notify('admin', { message: 'Ran' }),
      email: () => email({ to: 'a@example.com', subject: 'Ran', text: 'x' }),
    };
    const run = async () => {
      const outcomes = {};
      for (const name of asked.do.split(','))
        outcomes[name] = await attempts[name]().then((value) => (typeof value === 'string' ? value : 'ok'), ({ code }) => code);
      return outcomes;
    };
    const before = await run();
    await fetch(asked.pause);
    return { before, after: await run() };
  };`;
/** Calls the handler above, in another view of its app. */
const NESTED = `export const post = async ({ fetch, context: { app }, request: { query } }) =>
  (await fetch('/api/apps/' + app.id + '/view/run?' + new URLSearchParams(query), { method: 'POST' })).json();`;
const FILES = {
  'server/run.js': HANDLER,
  'server/nested.js': NESTED,
  'migrations/001.sql': 'create table note (id int);',
};
const ALL = ['read', 'write', 'notify', 'email', 'keep', 'send', 'admin'];

let receiver: Receiver;
let hosts: string[];

beforeEach<World & { receiver: Receiver }>(({ receiver: started }) => {
  receiver = started;
  hosts = [new URL(urlOf(receiver)).host];
});

/** Runs the handler, and changes something while it waits. */
async function runWhile(
  change: () => Promise<unknown>,
  [client, app]: [Client, string],
  { view = 'run', ...query }: Record<string, string>,
): Promise<any> {
  let changed: Promise<unknown> | undefined;
  receiver.respond = ({ url }, response) => {
    if (url !== '/pause') return response.end();
    changed = change().finally(() => response.end());
  };
  const search = new URLSearchParams({
    ...query,
    pause: urlOf(receiver, '/pause'),
    outside: urlOf(receiver, '/outside'),
  });
  const { body } = await client.post(`/apps/${app}/view/${view}?${search}`);
  await changed;
  return body;
}

describe('a run whose grant changes has no more than both', () => {
  const CHANGES: [name: string, scopes: string[], expected: Record<string, string>][] = [
    [
      'keep ends',
      ['read', 'send', 'notify'],
      { insert: '42501', begin: '42501', read: 'ok', notify: 'ok', emit: 'CONSENT_REQUIRED' },
    ],
    ['send ends', ['read', 'keep', 'notify'], { outside: 'CONSENT_REQUIRED', read: 'ok', insert: 'ok' }],
    ['notify ends', ['read', 'keep', 'send'], { notify: 'CONSENT_REQUIRED', read: 'ok', outside: 'ok' }],
    ['read ends', ['notify'], { read: 'CONSENT_REQUIRED', notify: 'ok' }],
    ['others come', ALL, { read: 'ok', email: 'CONSENT_REQUIRED', users: 'FORBIDDEN' }],
  ];
  for (const view of ['run', 'nested'])
    test.for(CHANGES)(`${view}: %s`, async ([name, scopes, expected], { service, admin }) => {
      const username = `${name.replace(' ', '-')}-${view}`;
      const caller = await service.user(username, { superuser: true });
      const session = await service.login(username);
      const app = await deployAppWith(admin, `App of ${username}`, FILES, { scopes: ALL, hosts });
      const first = ['read', 'write', 'keep', 'send', 'notify'];
      await grantApp(service, admin, caller, app, first, hosts);
      const granted = { scopes: view === 'nested' ? [...scopes, 'write'] : scopes, hosts };
      const change = () =>
        expectStatus(
          session.put(`/me/app-grants/${app}`, scopes.includes('send') ? granted : { ...granted, hosts: [] }),
          200,
        );
      const names = Object.keys(expected);
      const { before, after } = await runWhile(change, [session, app], { view, do: names.join(',') });
      expect(after).toEqual(expected);
      expect(before).toEqual(
        name === 'others come' ? expected : Object.fromEntries(names.map((attempt) => [attempt, 'ok'])),
      );
    });

  test.for(['deleted', 'given to another owner'])('%s', async (name, { service, admin }) => {
    const username = name.replaceAll(' ', '-');
    const caller = await service.user(username);
    const other = await service.user(`owner-${username}`);
    const session = await service.login(username);
    const app = await deployAppWith(admin, `App ${name}`, FILES, { scopes: ALL, hosts });
    await grantApp(service, admin, caller, app, ALL, hosts);
    const change = () =>
      name === 'deleted'
        ? expectStatus(session.delete(`/me/app-grants/${app}`), 204)
        : expectStatus(admin.put(`/apps/${app}/owner`, { ownerId: other.id }), 200);
    const { before, after } = await runWhile(change, [session, app], { do: 'insert,read,outside' });
    expect(before).toEqual({ insert: 'ok', read: 'ok', outside: 'ok' });
    expect(after).toEqual({ insert: '42501', read: 'CONSENT_REQUIRED', outside: 'CONSENT_REQUIRED' });
  });
});

test('a run loses what its caller loses', async ({ service, admin }) => {
  const caller = await service.user('demoted', { superuser: true });
  const session = await service.login('demoted');
  const root = await service.login(admin.username);
  const app = await deployApp(caller, 'Of a superuser', FILES);
  const demote = () => expectStatus(root.put('/users/demoted/superuser', { superuser: false }), 200);
  const { before, after } = await runWhile(demote, [session, app], { do: 'users,read' });
  expect(before).toEqual({ users: 'ok', read: 'ok' });
  expect(after).toEqual({ users: 'FORBIDDEN', read: 'ok' });
});

test('a run no longer reads what only a team may that its caller has left', async ({ service, admin }) => {
  const caller = await service.user('leaving');
  await admin.put('/users/leaving/permissions', { permissions: ['apps:create'] });
  const team = await createTeam(admin, 'Readers', caller);
  const report = await admin.creates('/reports', { name: 'Of the team' });
  await expectStatus(admin.put(`/reports/${report.id}/shares/team:${team}`, { accessLevel: 1 }), 200);
  const app = await deployAppWith(admin, 'For a team', FILES, { scopes: ALL, hosts });
  await grantApp(service, admin, caller, app, ALL, hosts);
  const leave = () => expectStatus(admin.delete(`/teams/${team}/members/leaving`), 204);
  const { before, after } = await runWhile(leave, [await service.login('leaving'), app], {
    do: 'report',
    report: report.id,
  });
  expect([before, after]).toEqual([{ report: 'ok' }, { report: 'NOT_FOUND' }]);
});
