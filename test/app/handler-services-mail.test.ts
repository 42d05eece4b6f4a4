import { expect } from 'vitest';
import { giveAddresses } from '../job/email-fixture.ts';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { openMailServer, startDelivery } from '../support/mail-delivery.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createApp } from './app-fixture.ts';
import { servicesFor } from './handler-services-fixture.ts';

interface Queued extends Record<string, unknown> {
  to: string;
  userId: string | null;
  senderId: string | null;
  source: string;
}

const queuedMails = (service: Service, appId: string): Promise<Queued[]> =>
  systemQuery<Queued>(
    service,
    `select recipient as to, user_id as "userId", sender_id as "senderId", source from dws.mail
    where source like 'app:' || $1 || ':%' order by recipient collate "C"`,
    appId,
  );

/** Queues mails in the name of an app of a user. */
const fillOutbox = (service: Service, owner: Client, source: string, count: number) =>
  systemQuery(
    service,
    `insert into dws.mail (id, tenant_id, recipient, subject, sealed_text, source, sender_id, status)
    select gen_random_uuid(), tenant_id, 'x@example.com', 'x', '', $2, id, 'sent'
    from dws.app_user, generate_series(1, $3) where dws.app_user.id = $1`,
    owner.id,
    source,
    count,
  );

test('email reaches users and addresses, and says which app sent it', async ({ service, admin, ann, bob }) => {
  await giveAddresses(ann, bob);
  const appId = await createApp(admin, 'Order & <inbox>');
  const { email } = await servicesFor(service, bob, appId);
  await email({
    to: ['ann', `user:${ann.id}`, 'ANN@example.com', 'Guest@example.com'],
    subject: 'Order 7',
    text: 'It has arrived.',
    html: '<html><body><b>It has arrived.</b></BODY ></html>',
  });
  await email({ to: bob.id, subject: 'HTML alone', html: '<h1>Order 8</h1>' });
  await email({ to: 'A. Guest, Esq. <guest@example.com> ', subject: 'Text alone', text: 'Grüße', html: null });
  expect(await queuedMails(service, appId)).toMatchObject([
    { to: 'Guest@example.com', userId: null, senderId: admin.id },
    { to: 'ann@example.com', userId: ann.id, senderId: admin.id },
    { to: 'bob@example.com', userId: bob.id, senderId: admin.id },
    { to: 'guest@example.com', userId: null, senderId: admin.id },
  ]);

  const server = await openMailServer();
  startDelivery(service, server.url);
  await expect.poll(() => server.received.length).toBe(4);
  const of = (address: string) => server.received.find(({ to }) => to[0] === address)!;
  const footer = 'Sent by the app "Order & <inbox>" of admin';
  const paragraph = '<hr><p>Sent by the app "Order &amp; &lt;inbox>" of admin</p>';
  for (const address of ['ann@example.com', 'Guest@example.com']) {
    expect(of(address).headers.get('subject')).toBe('Order 7');
    expect(of(address).text.trimEnd()).toBe(`It has arrived.\n\n-- \n${footer}`);
    expect(of(address).html!.trimEnd()).toBe(`<html><body><b>It has arrived.</b>${paragraph}</BODY ></html>`);
  }
  expect(of('bob@example.com').text.trimEnd()).toBe(`Order 8\n\n-- \n${footer}`);
  expect(of('bob@example.com').html!.trimEnd()).toBe(`<h1>Order 8</h1>${paragraph}`);
  expect(of('guest@example.com').text.trimEnd()).toBe(`Grüße\n\n-- \n${footer}`);
  expect(of('guest@example.com').html).toBeUndefined();
  const { body } = await admin.get('/outbox');
  expect(body._embedded['svc:mail'].filter(({ to }: { to: string }) => /guest/i.test(to))).toHaveLength(2);
});

test('what is not a mail is refused, and nothing is queued', async ({ service, admin, ann }) => {
  const appId = await createApp(admin, 'Checked');
  const { email } = await servicesFor(service, ann, appId);
  const mail = { to: 'a@example.com', subject: 'x', text: 'x' };
  for (const [change, message] of [
    [{ to: undefined }, 'to is required'],
    [{ to: [] }, 'to must not be empty'],
    [{ to: { id: 1 } }, 'to must be a text'],
    [{ to: Array(21).fill('a@example.com') }, 'to must have at most 20 items'],
    [{ subject: ' ' }, 'subject must not be empty'],
    [{ subject: 'x'.repeat(201) }, 'subject must have at most 200 characters'],
    [{ subject: 'x\r\nBcc: b@example.com' }, 'subject must be one line without control characters'],
    [{ text: undefined }, 'text is required, or html'],
    [{ text: 7 }, 'text must be a text'],
    [{ text: 'ü'.repeat(50_001) }, 'text must have at most 100000 bytes'],
    [{ html: 'x'.repeat(100_001) }, 'html must have at most 100000 characters'],
  ] as const)
    await expect(email({ ...mail, ...change }), message).rejects.toMatchObject({ status: 400, message });
  await expect(email('x')).rejects.toMatchObject({ status: 400, message: 'mail must be an object' });
  await expect(email({ ...mail, to: ['a@example.com', 'nobody-here'] })).rejects.toMatchObject({
    status: 404,
    message: 'There is no user nobody-here',
  });
  await service.user('gone');
  await expectStatus(admin.put('/users/gone', { enabled: false, email: 'gone@example.com' }), 200);
  await expect(email({ ...mail, to: ['gone', admin.id] })).rejects.toMatchObject({
    status: 400,
    message: 'No recipient of the mail is enabled and has an address',
  });
  expect(await queuedMails(service, appId)).toEqual([]);
});

test('an app sends 100 mails in an hour', async ({ service, admin }) => {
  const [appId, otherId] = [await createApp(admin, 'Busy'), await createApp(admin, 'Other')];
  const { email } = await servicesFor(service, admin, appId);
  const send = (...to: string[]) => email({ to, subject: 'x', text: 'x' });
  await fillOutbox(service, admin, `app:${appId}:1`, 98);
  const limit = { code: 'RATE_LIMITED', message: 'An app sends at most 100 mails in an hour' };
  await expect(send('a@example.com', 'b@example.com', 'c@example.com')).rejects.toMatchObject(limit);
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => send('a@example.com')));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  await expect(send('a@example.com')).rejects.toMatchObject(limit);
  await (await servicesFor(service, admin, otherId)).email({ to: 'a@example.com', subject: 'x', text: 'x' });
  await systemQuery(service, `update dws.mail set created_at = created_at - interval '1 hour'`);
  await send('a@example.com');
});

test('the apps of an owner and of a tenant share limits', async ({ service, admin }) => {
  await systemQuery(service, `delete from dws.mail`);
  const owner = await service.user('author', { permissions: ['apps:create'] });
  const [mine, others] = [await createApp(owner, 'Mine'), await createApp(admin, 'Not mine')];
  const send = async (appId: string) =>
    (await servicesFor(service, admin, appId)).email({ to: 'a@example.com', subject: 'x', text: 'x' });
  await fillOutbox(service, owner, 'app:another:1', 199);
  await fillOutbox(service, owner, 'job:another:1', 100);
  await send(mine);
  await expect(send(mine)).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    message: 'The apps of an owner send at most 200 mails in an hour to addresses of no user',
  });
  await send(others);
  await fillOutbox(service, await service.user('third'), 'app:another:2', 799);
  await expect(send(others)).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    message: 'The apps of a tenant send at most 1000 mails in an hour',
  });
});
