import { expect } from 'vitest';
import { Notification } from '../../entities/notification.ts';
import { newRow } from '../../src/core/new-row.ts';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { inTransaction } from '../support/notification-fixture.ts';
import { systemQuery } from '../support/system-query.ts';
import { createTeam } from '../support/team-fixture.ts';
import { createApp } from './app-fixture.ts';
import { servicesFor } from './handler-services-fixture.ts';

const listOf = async (user: Client): Promise<any[]> =>
  (await user.get('/notifications')).body._embedded['svc:notification'];

test('notify reaches readers of the app once, with a link', async ({ service, admin, ann, bob }) => {
  const appId = await createApp(admin, 'Order inbox');
  const [cleo, dan] = [await service.user('cleo'), await service.user('dan')];
  const team = await createTeam(admin, 'Sales', cleo, dan);
  await expectStatus(admin.put(`/teams/${team}/members/cleo`, { role: 'memberPlus' }), 200);
  for (const principal of [ann.id, `team:${team}`])
    await expectStatus(admin.put(`/apps/${appId}/shares/${principal}`, { accessLevel: 1 }), 200);

  const { notify } = await servicesFor(service, bob, appId);
  const message = 'An order has arrived';
  expect(await notify(['ann', `user:${ann.id}`, `team:${team}`], { message, link: '/orders/7?tab=1#x' })).toBe(3);
  for (const user of [ann, cleo, admin])
    expect(await listOf(user)).toMatchObject([
      {
        type: 'app.notification',
        message,
        link: '/orders/7?tab=1#x',
        resource: { kind: 'app', id: appId },
        read: false,
      },
    ]);
  for (const user of [bob, dan]) expect(await listOf(user)).toEqual([]);
  const { notifications } = await ann.data('{ notifications { items { type message link } } }');
  expect(notifications.items).toEqual([{ type: 'APP_NOTIFICATION', message, link: '/orders/7?tab=1#x' }]);

  expect(await notify(ann.id, { message: 'One' })).toBe(1);
  expect((await listOf(ann))[0]).toMatchObject({ message: 'One', link: null });
});

test('those who cannot read the app are named', async ({ service, admin, ann, bob, stranger }) => {
  const appId = await createApp(admin, 'Private');
  await expectStatus(admin.put(`/apps/${appId}/shares/${ann.id}`, { accessLevel: 1 }), 200);
  const team = await createTeam(admin, 'Outsiders', ann);
  const { notify } = await servicesFor(service, ann, appId);
  const send = (...principals: string[]) => notify(principals, { message: 'x' });
  await expect(send('ann', bob.username, `team:${team}`)).rejects.toMatchObject({
    status: 400,
    message: `The app can notify its readers only, not bob, team:${team}`,
  });
  await expect(send('nobody-here')).rejects.toMatchObject({ status: 404, message: 'There is no user nobody-here' });
  await expect(send(stranger.id)).rejects.toMatchObject({ status: 404 });
  await expect(send('ann', 'x@example.com')).rejects.toMatchObject({
    status: 400,
    message: 'principals.1 must be a user or a team: an address has no access to data',
  });
  expect((await listOf(bob)).filter(({ message }) => message === 'x')).toEqual([]);
  expect((await listOf(ann)).filter(({ message }) => message === 'x')).toEqual([]);
});

test('what is not a notification is refused', async ({ service, admin }) => {
  const { notify } = await servicesFor(service, admin, await createApp(admin, 'Checked'));
  for (const [principals, notification, message] of [
    [undefined, { message: 'x' }, 'principals is required'],
    [[], { message: 'x' }, 'principals must not be empty'],
    [['admin', 7], { message: 'x' }, 'principals.1 must be a text'],
    [Array(101).fill('admin'), { message: 'x' }, 'principals must have at most 100 items'],
    ['admin', 'x', 'notification must be an object'],
    ['admin', null, 'notification must be an object'],
    ['admin', {}, 'message is required'],
    ['admin', { message: ' ' }, 'message must not be empty'],
    ['admin', { message: 'x'.repeat(1001) }, 'message must have at most 1000 characters'],
    ['admin', { message: 'a\0' }, 'message must not contain control characters'],
  ] as const)
    await expect(notify(principals, notification), message).rejects.toMatchObject({ status: 400, message });
  for (const link of [
    'javascript:alert(1)',
    'http://example.com',
    '//example.com',
    '/\\example.com',
    'orders',
    'https://user:secret@example.com/',
    'https://',
    7,
  ])
    await expect(notify('admin', { message: 'x', link }), String(link)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/^link must be/),
    });
  expect(await notify('admin', { message: 'x', link: 'https://example.com/a' })).toBe(1);
});

test('a disabled owner sends nothing', async ({ service, admin }) => {
  const owner = await service.user('leaver', { permissions: ['apps:create'] });
  const services = await servicesFor(service, admin, await createApp(owner, 'Left'));
  await expectStatus(admin.put('/users/leaver', { enabled: false }), 200);
  const refusal = { status: 403, message: 'The user leaver is disabled' };
  await expect(services.notify('admin', { message: 'x' })).rejects.toMatchObject(refusal);
  await expect(services.email({ to: 'a@example.com', subject: 'x', text: 'x' })).rejects.toMatchObject(refusal);
});

test('the apps of a tenant send 1,000 notifications in an hour', async ({ service, admin, ann }) => {
  await systemQuery(service, `delete from dws.notification`);
  const appId = await createApp(admin, 'Chatty');
  await expectStatus(admin.put(`/apps/${appId}/shares/${ann.id}`, { accessLevel: 1 }), 200);
  const { notify } = await servicesFor(service, admin, appId);
  await inTransaction(service, async (tx, tenantId) => {
    const count = await tx.count(Notification, { type: 'app.notification' });
    for (let number = count; number < 999; number += 1)
      tx.insert(newRow(Notification, { tenantId, userId: ann.id, type: 'app.notification', message: 'x' }));
    tx.insert(newRow(Notification, { tenantId, userId: ann.id, type: 'job.notification', message: 'x' }));
  });
  expect(await notify('ann', { message: 'The last' })).toBe(1);
  await expect(notify('ann', { message: 'Too many' })).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    message: 'The apps of a tenant send at most 1000 notifications in an hour',
  });
  expect((await listOf(ann))[0].message).toBe('The last');
  // Notifications of an owner's app to the owner count to no one else.
  expect(await notify('admin', { message: 'To the owner' })).toBe(1);
});
