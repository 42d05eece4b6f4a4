import { beforeEach, describe, expect } from 'vitest';
import { authorityOf } from '../../src/core/authority.ts';
import { createHostCalls } from '../../src/services/app/handler-host.ts';
import { Client } from '../support/client.ts';
import { expectBody } from '../support/expect.ts';
import { test, type World } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';
import { deployApp, deployAppWith, grantApp } from './echo-app.ts';

const SET_BACK = `do $$ begin perform set_config('transaction_read_only', 'off', true); insert into note values (3); end $$`;
/** Attempts of the handler, by the host calls that they use. */
const ATTEMPTS = {
  query: {
    select: `query('select 1')`,
    insert: `query('insert into note values (1)')`,
    setBack: `query(\`${SET_BACK}\`)`,
    setBackPlain: `query('set transaction_read_only = off; insert into note values (3)')`,
  },
  begin: {
    transaction: `transaction(({ query }) => query('insert into note values (2)'))`,
    setBackFirst: `transaction(({ query }) => query(\`${SET_BACK}\`))`,
  },
  commit: {},
  rollBack: {},
  fetch: {
    read: `call('GET', '/api/me')`,
    create: `call('POST', '/api/reports', '{"name":"By a handler"}')`,
    outside: `call('POST', 'https://no-such-host.invalid/')`,
  },
  emit: { emit: `emit('ran', null)` },
  notify: { notify: `notify('admin', { message: 'Ran' })` },
  // The caller of the run gets the response, as at its end.
  respond: {},
  email: { email: `email({ to: 'a@example.com', subject: 'Ran', text: 'x' })` },
} as const;
type Attempt = { [K in keyof typeof ATTEMPTS]: keyof (typeof ATTEMPTS)[K] }[keyof typeof ATTEMPTS];

const HANDLER = `
  const run = async ({ query, transaction, fetch, emit, notify, email }) => {
    const call = async (method, url, body) => {
      const response = await fetch(url, { method, body, headers: { 'content-type': 'application/json' } });
      if (!response.ok) throw { code: response.status };
    };
    const attempts = { ${Object.values(ATTEMPTS)
      .flatMap((attempts) => Object.entries<string>(attempts).map(([name, code]) => `${name}: () => ${code}`))
      .join(', ')} };
    const outcomes = {};
    for (const [name, attempt] of Object.entries(attempts))
      outcomes[name] = await attempt().then(() => 'ok', ({ code }) => code);
    return outcomes;
  };
  export { run as get, run as post };`;

/** Calls a path of its app, and returns what that returns. */
const NESTED = `
  const nest = async ({ fetch, request: { query } , context: { app } }) =>
    (await fetch('/api/apps/' + app.id + query.path, { method: query.method })).json();
  export { nest as get, nest as post };`;

/** Returns the caller of a session with a token that only reads. */
async function readingToken(owner: Client): Promise<Client> {
  const { token } = await owner.creates('/tokens', { name: 'Reads', scopes: ['read'] });
  return new Client(owner.url, { authorization: `Bearer ${token}` }, owner);
}

let app: string;
let reading: Client;
let session: Client;
let visitors: { ann: Client; bob: Client };

beforeEach<World>(async ({ service, admin, ann, bob }) => {
  if (!app) {
    const files = {
      'server/run.js': HANDLER,
      'webhooks/run.js': HANDLER,
      'server/nest.js': NESTED,
      'migrations/001.sql': 'create table note (id int);',
    };
    app = await deployAppWith(admin, 'Authority', files, { scopes: ['read', 'write', 'notify', 'email', 'keep'] });
    await grantApp(service, admin, ann, app, []);
    await grantApp(service, admin, bob, app, ['read']);
    visitors = { ann, bob };
  }
  session ??= await service.login('admin');
  reading ??= await readingToken(session);
});

const FULL: Record<Attempt, string | number> = {
  select: 'ok',
  insert: 'ok',
  setBack: 'ok',
  setBackPlain: '42601',
  transaction: 'ok',
  setBackFirst: 'ok',
  read: 'ok',
  create: 'ok',
  outside: 'UNAVAILABLE',
  emit: 'ok',
  notify: 'ok',
  email: 'ok',
};
const SENDS_NOTHING = { emit: 'FORBIDDEN', notify: 'FORBIDDEN', email: 'FORBIDDEN' };
const READS = {
  ...FULL,
  ...SENDS_NOTHING,
  insert: '25006',
  setBack: '25001',
  transaction: '25006',
  setBackFirst: '25001',
  create: 403,
};
const OF_A_GET = { ...FULL, ...SENDS_NOTHING, create: 'FORBIDDEN', outside: 'FORBIDDEN' };

const nested = (path: string, method: string) => `/view/nest?path=${path}&method=${method}`;

const SENDS_WITH_CONSENT = { notify: 'CONSENT_REQUIRED', email: 'CONSENT_REQUIRED' };
const WITHOUT_GRANT = { ...FULL, ...SENDS_WITH_CONSENT, read: 403, create: 403 };
/** Reads after its statements, and keeps nothing from then on. */
const GRANTED_READ = {
  ...FULL,
  ...SENDS_WITH_CONSENT,
  create: 403,
  outside: 'FORBIDDEN',
  emit: 'CONSENT_REQUIRED',
};
/** Is called by a handler that has read. */
const NESTED_GRANTED_READ = {
  ...GRANTED_READ,
  select: '42501',
  insert: '42501',
  setBack: '42501',
  setBackPlain: '42501',
  transaction: '42501',
  setBackFirst: '42501',
};

/** Requests with different authority, and the outcomes of the attempts of their handler. */
const AUTHORITIES: { name: string; call: () => ReturnType<Client['get']>; outcomes: object }[] = [
  { name: 'POST, session', call: () => session.post(`/apps/${app}/view/run`), outcomes: FULL },
  { name: 'GET, session', call: () => session.get(`/apps/${app}/view/run`), outcomes: OF_A_GET },
  {
    name: 'GET, session, view of a view',
    call: () => session.get(`/apps/${app}${nested('/view/run', 'GET')}`),
    outcomes: OF_A_GET,
  },
  {
    name: 'GET, session, webhook of a view',
    call: () => session.get(`/apps/${app}${nested('/_hook/run', 'GET')}`),
    outcomes: OF_A_GET,
  },
  {
    name: 'POST, session, GET of a view',
    call: () => session.post(`/apps/${app}${nested('/view/run', 'GET')}`),
    outcomes: FULL,
  },
  { name: 'token that reads', call: () => reading.get(`/apps/${app}/view/run`), outcomes: READS },
  {
    name: 'token that reads, view of a view',
    call: () => reading.get(`/apps/${app}${nested('/view/run', 'GET')}`),
    outcomes: READS,
  },
  {
    name: 'token that reads, webhook of a view',
    call: () => reading.get(`/apps/${app}${nested('/_hook/run', 'POST')}`),
    outcomes: READS,
  },
  {
    name: 'without a grant',
    call: () => visitors.ann.get(`/apps/${app}/view/run`),
    outcomes: WITHOUT_GRANT,
  },
  {
    name: 'grant to read',
    call: () => visitors.bob.get(`/apps/${app}/view/run`),
    outcomes: GRANTED_READ,
  },
  {
    name: 'grant to read, view of a view',
    call: () => visitors.bob.get(`/apps/${app}${nested('/view/run', 'GET')}`),
    outcomes: NESTED_GRANTED_READ,
  },
  { name: 'webhook', call: () => reading.get(`/apps/${app}/_hook/run`), outcomes: FULL },
];

describe('services of handlers', () => {
  test('are all in the table', ({ service }) => {
    const viewer = { authMethod: 'token', credentialId: 'x', scopes: new Set(['read', 'write'] as const) } as const;
    const app = { id: 'x', tenantId: 'x', ownerId: 'user:x' };
    const task = { app, visitorId: 'x', authority: authorityOf(viewer, 'POST') };
    const calls = createHostCalls(service.platform, task as never);
    expect(Object.keys(ATTEMPTS).toSorted()).toEqual(Object.keys(calls).toSorted());
  });

  test('with both scopes do all', async ({ admin }) => {
    await expectBody(admin.get(`/apps/${app}/view/run`), 200, FULL);
    await expectBody(admin.post(`/apps/${app}/view/run`), 200, FULL);
  });

  test.for(AUTHORITIES)('do no more than the request: $name', async ({ call, outcomes }) => {
    expect((await call()).body).toEqual(outcomes);
  });

  test('leave nothing behind by a token that reads', async ({ service, admin }) => {
    const count = async () =>
      (
        await systemQuery(
          service,
          `select (select count(*)::int from dws.app_event where app_id = $1) as events,
            (select count(*)::int from dws.mail where subject = 'Ran') as mails,
            (select count(*)::int from dws.notification where message = 'Ran') as notifications,
            (select count(*)::int from dws.report where name = 'By a handler') as reports`,
          app,
        )
      )[0];
    const notes = () =>
      service.platform.workspaces.query(
        { tenantId: tenantId!, appId: app },
        'select count(*) from note',
        [],
        AbortSignal.timeout(60_000),
      );
    const [{ tenantId }] = (await systemQuery(
      service,
      'select tenant_id as "tenantId" from dws.app where id = $1',
      app,
    )) as [{ tenantId: string }];
    await admin.get(`/apps/${app}/view/run`);
    const before = [await count(), await notes()];
    await reading.get(`/apps/${app}/view/run`);
    expect([await count(), await notes()]).toEqual(before);
  });
});

test('a refusal names the scope', async ({ admin }) => {
  const id = await deployApp(admin, 'Messages of refusals', {
    'server/x.js': `export const get = ({ emit, query }) => Promise.all(
      [emit('x'), query('create temp table x ()')].map((sent) => sent.catch(({ message }) => message)));`,
    'migrations/001.sql': 'create table note (id int);',
  });
  expect((await reading.get(`/apps/${id}/view/x`)).body).toEqual([
    'This token lacks the scope write',
    'This token lacks the scope write: cannot execute CREATE TABLE in a read-only transaction',
  ]);
});
