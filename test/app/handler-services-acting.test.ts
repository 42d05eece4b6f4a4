import { expect } from 'vitest';
import type { HandlerTask } from '../../src/core/app-run.ts';
import type { Authority } from '../../src/core/authority.ts';
import { createHostCalls } from '../../src/services/app/handler-host.ts';
import { createHandlerServices } from '../../src/services/app/handler-services.ts';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { deployApp } from './echo-app.ts';
import { callApi, taskFor } from './handler-services-fixture.ts';

const FILES = { 'migrations/001.sql': 'create table note (id int);' };

/** How a caller loses the right to act while a handler runs for them, and what every service of the handler then says. */
const ENDS: [
  name: string,
  path: (key: string) => [method: 'put' | 'delete', path: string, body?: object],
  message: string,
][] = [
  ['disabled', (key) => ['put', `/users/${key}`, { enabled: false }], 'The user disabled is disabled'],
  ['locked', (key) => ['put', `/users/${key}`, { locked: true }], 'The user locked is locked'],
  ['deleted', (key) => ['delete', `/users/${key}`], 'The user was deleted'],
];

test.for(ENDS)(
  'a run of a %s caller does nothing more with their rights',
  async ([name, end, message], { service, admin }) => {
    const caller = await service.user(name);
    const run = await beginRun(service, caller, await deployApp(admin, `App of ${name}`, FILES));
    const session = await service.login(admin.username);
    const [method, path, body] = end(caller.id);
    expect((await session[method](path, body as never)).status).toBeLessThan(300);
    await expectRefusals(run, message);
  },
);

test.for([
  ['session', 'session', 'The session has ended'],
  ['token', 'api_token', 'The token has ended'],
] as const)(
  'a run of an ended %s does nothing more with its rights',
  async ([method, table, message], { service, admin }) => {
    const caller = await service.user(`with-${method}`);
    const own = method === 'session' ? await service.login(caller.username) : caller;
    await expectStatus(own.get('/session'), 200);
    const [{ id }] = (await systemQuery<{ id: string }>(
      service,
      `select id from dws.${table} where user_id = $1`,
      caller.id,
    )) as [{ id: string }];
    const app = await deployApp(admin, `App by ${method}`, FILES);
    const run = await beginRun(service, caller, app, { viewer: { authMethod: method, credentialId: id } });
    // A run that another run causes has no credential of its own.
    const { credential } = run.task.authority;
    const nested = await beginRun(
      service,
      caller,
      app,
      { viewer: { authMethod: 'app', credentialId: '' } },
      credential,
    );
    await systemQuery(service, `delete from dws.${table} where id = $1`, id);
    await expectRefusals(run, message);
    await expectRefusals(nested, message);
  },
);

/** Begins a run, with an open transaction. */
async function beginRun(
  service: Service,
  caller: Client,
  appId: string,
  options: Parameters<typeof taskFor>[3] = {},
  credential?: Authority['credential'],
) {
  const found = await taskFor(service, caller, appId, options);
  const task = { ...found, authority: { ...found.authority, ...(credential && { credential }) } };
  const calls = createHostCalls(service.platform, task as HandlerTask);
  const { signal } = new AbortController();
  const transaction = await calls['begin']!(null, signal);
  const insert = { sql: 'insert into note values (1)', params: [], transaction };
  expect(await calls['query']!(insert, signal)).toEqual([]);
  const services = createHandlerServices(task);
  expect(await callApi(services, 'GET', '/api/session')).toMatchObject({ status: 200 });
  return { task, services, calls, insert, signal };
}

async function expectRefusals(
  { services, calls, insert, signal }: Awaited<ReturnType<typeof beginRun>>,
  message: string,
): Promise<void> {
  const attempts = [
    () => callApi(services, 'GET', '/api/session'),
    () => services.emit('order', {}),
    () => services.notify('admin', { message: 'x' }),
    () => services.email({ to: 'a@example.com', subject: 'x', text: 'x' }),
  ];
  for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ status: 403, message });
  const statements = [
    ['query', insert],
    ['query', { ...insert, transaction: undefined }],
    ['begin', null],
    ['commit', insert.transaction],
  ] as const;
  for (const [name, argument] of statements)
    await expect(calls[name]!(argument, signal)).rejects.toMatchObject({ code: 'FORBIDDEN', message });
}
