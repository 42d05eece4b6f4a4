import { expect } from 'vitest';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { systemQuery } from '../support/system-query.ts';
import { createApp } from './app-fixture.ts';
import { callApi, servicesFor } from './handler-services-fixture.ts';

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
    const services = await servicesFor(service, caller, await createApp(admin, `App of ${name}`));
    expect(await callApi(services, 'GET', '/api/session')).toMatchObject({ status: 200 });
    const session = await service.login(admin.username);
    const [method, path, body] = end(caller.id);
    expect((await session[method](path, body as never)).status).toBeLessThan(300);
    await expectRefusals(services, message);
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
    const services = await servicesFor(service, caller, await createApp(admin, `App by ${method}`), {
      viewer: { authMethod: method, credentialId: id },
    });
    expect(await callApi(services, 'GET', '/api/session')).toMatchObject({ status: 200 });
    await systemQuery(service, `delete from dws.${table} where id = $1`, id);
    await expectRefusals(services, message);
  },
);

async function expectRefusals(services: Awaited<ReturnType<typeof servicesFor>>, message: string): Promise<void> {
  const calls = [
    () => callApi(services, 'GET', '/api/session'),
    () => services.emit('order', {}),
    () => services.notify('admin', { message: 'x' }),
    () => services.email({ to: 'a@example.com', subject: 'x', text: 'x' }),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ status: 403, message });
}
