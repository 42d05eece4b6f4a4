import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { findMail, openMailServer, startDelivery, waitForMail } from '../support/mail-delivery.ts';
import { createMail } from '../support/mail-fixture.ts';
import { requestLink } from '../support/password-reset-fixture.ts';
import { systemQuery } from '../support/system-query.ts';

type Change = (admin: Client, user: Client) => Promise<{ status: number }>;

const update =
  (input: object): Change =>
  (admin, { id }) =>
    admin.put(`/users/${id}`, input);

describe('a mail that waits is not sent if its recipient', () => {
  const changes: [what: string, change: Change, error: string][] = [
    ['is disabled', update({ enabled: false }), 'The recipient is disabled or locked'],
    ['is locked by an administrator', update({ locked: true }), 'The recipient is disabled or locked'],
    ['gets another address', update({ email: 'new@example.com' }), 'The e-mail address of the recipient has changed'],
    ['loses the address', update({ email: null }), 'The e-mail address of the recipient has changed'],
    ['is deleted', (admin, { id }) => admin.delete(`/users/${id}`), 'The recipient was deleted'],
  ];
  test.for(changes)('%s', async ([what, change, error], { service, admin, ann }) => {
    const user = await service.user(what.replaceAll(' ', '-'));
    const id = await createMail(service, user);
    expect((await change(admin, user)).status).toBeLessThan(300);
    const server = await openMailServer();
    startDelivery(service, server.url);
    await waitForMail(service, id, { status: 'failed', attempts: 0, error, sent: false });
    const other = await createMail(service, ann);
    await waitForMail(service, other, { status: 'sent' });
    expect(server.received.map(({ to }) => to)).toEqual([['ann@example.com']]);
    await expectBody(admin.get(`/outbox?q=${user.username}@example.com`), 200, {
      _embedded: { 'svc:mail': [{ id, status: 'failed', error }] },
    });
    expect(
      await admin.data('query ($id: ID!) { node(id: $id) { ... on Mail { status attempts error } } }', { id }),
    ).toEqual({ node: { status: 'FAILED', attempts: 0, error } });
  });

  test('changes between two attempts', async ({ service, admin }) => {
    const user = await service.user('between');
    const id = await createMail(service, user);
    const server = await openMailServer();
    server.judge = async () => {
      await expectStatus(admin.delete(`/users/${user.id}`), 204);
      throw new Error('451 later');
    };
    startDelivery(service, server.url);
    await waitForMail(service, id, { status: 'failed', attempts: 1, error: 'The recipient was deleted' });
    expect(server.received).toEqual([]);
  });
});

describe('a mail that waits is sent', () => {
  test('to a user whom failed logins have locked, with a link for a new password', async ({ service, anonymous }) => {
    const user = await service.user('forgetful');
    await systemQuery(
      service,
      `update dws.app_user set email = 'forgetful@example.com', locked_at = now() where id = $1`,
      user.id,
    );
    await expectStatus(requestLink(anonymous, 'forgetful'), 204);
    await systemQuery(service, `update dws.app_user set email = 'Forgetful@example.com' where id = $1`, user.id);
    const [mail] = await systemQuery<{ id: string }>(service, `select id from dws.mail where user_id = $1`, user.id);
    const server = await openMailServer();
    startDelivery(service, server.url);
    await waitForMail(service, mail!.id, { status: 'sent', attempts: 1 });
    expect(await findMail(service, mail!.id)).toMatchObject({ error: null });
    expect(server.received).toHaveLength(1);
  });
});
