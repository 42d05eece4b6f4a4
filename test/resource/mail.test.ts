import { describe, expect, onTestFinished } from 'vitest';
import { readConfig } from '../../src/core/config.ts';
import { reconcile } from '../../src/operations/reconciler.ts';
import { queueMail } from '../../src/services/resource/mail.ts';
import { QUICK } from '../operation/platform.ts';
import { test } from '../support/fixture.ts';
import { findMail, openMailServer, startDelivery, waitForMail } from '../support/mail-delivery.ts';
import { createMail, RESET_LINK, tenantIdOf } from '../support/mail-fixture.ts';
import { refusal, startMailServer, type MailServer } from '../support/mail-server.ts';
import { startService } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

describe('a mail', () => {
  test('is sent after the commit and marked as sent in the outbox', async ({ service, admin, ann }) => {
    const server = await openMailServer();
    startDelivery(service, server.url, { interval: 60_000 });
    const id = await createMail(service, ann);
    await waitForMail(service, id, { status: 'sent', attempts: 1, error: null, sent: true });
    expect(server.received).toMatchObject([{ from: 'dws@example.com', to: ['ann@example.com'], text: 'Grüße\n' }]);
    expect(Object.fromEntries(server.received[0]!.headers)).toMatchObject({
      from: 'Workspace <dws@example.com>',
      to: 'ann@example.com',
      subject: 'News',
      'message-id': `<${id}@example.com>`,
      'auto-submitted': 'auto-generated',
    });
    expect((await admin.get('/outbox')).body._embedded['svc:mail']).toMatchObject([
      {
        id,
        to: 'ann@example.com',
        subject: 'News',
        text: 'Grüße',
        html: null,
        status: 'sent',
        attempts: 1,
        error: null,
        sentAt: expect.any(String),
      },
    ]);
  });

  test('of a transaction that is rolled back is not sent', async ({ service, ann }) => {
    const server = await openMailServer();
    startDelivery(service, server.url);
    const tenantId = await tenantIdOf(service, ann);
    const undone = service.platform.database.transaction(tenantId, async (tx) => {
      queueMail(service.platform, tx, {
        tenantId,
        user: { id: ann.id, username: 'ann', email: 'ann@example.com' },
        subject: 'Undone',
        text: 'x',
      });
      await tx.query({ text: 'select 1' });
      throw new Error('no');
    });
    await expect(undone).rejects.toThrow('no');
    const id = await createMail(service, ann, { subject: 'Done' });
    await waitForMail(service, id, { status: 'sent' });
    expect(server.received.map(({ headers }) => headers.get('subject'))).toEqual(['Done']);
  });

  test('is retried after a temporary failure with the same message id', async ({ service, ann }) => {
    const server = await openMailServer();
    const messageIds: (string | undefined)[] = [];
    server.judge = ({ headers }) => {
      messageIds.push(headers.get('message-id'));
      if (messageIds.length < 3) throw refusal(451, 'Try again later');
    };
    startDelivery(service, server.url);
    const id = await createMail(service, ann);
    await waitForMail(service, id, { status: 'sent', attempts: 3, error: null });
    expect(messageIds).toEqual(Array(3).fill(`<${id}@example.com>`));
    expect(server.received).toHaveLength(1);
  });

  test('is retried after a connection that ended before the server had it', async ({ service, ann }) => {
    let connections = 0;
    const server: MailServer = await openMailServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      onRcptTo(_address, _session, done) {
        connections += 1;
        if (connections < 3) server.disconnect();
        else done();
      },
    });
    startDelivery(service, server.url);
    const id = await createMail(service, ann);
    await waitForMail(service, id, { status: 'sent', attempts: 3, error: null });
    expect(server.received).toHaveLength(1);
  });

  test.for(['ends the connection', 'does not reply'])(
    'is not sent again if the server receives it and %s',
    async (event, { service, ann }) => {
      const server = await openMailServer();
      const messageIds: (string | undefined)[] = [];
      server.judge = async ({ headers }) => {
        messageIds.push(headers.get('message-id'));
        if (event === 'ends the connection') server.disconnect();
        await new Promise(() => {});
      };
      startDelivery(service, server.url, { attemptTimeout: 1000 });
      const id = await createMail(service, ann);
      await waitForMail(service, id, {
        status: 'failed',
        attempts: 1,
        error: expect.stringMatching(/\. It is unknown whether the mail arrived$/),
        sent: false,
      });
      const next = await createMail(service, ann, { expiresAt: new Date(Date.now() - 1000) });
      await waitForMail(service, next, { status: 'failed', attempts: 0 });
      expect(messageIds).toEqual([`<${id}@example.com>`]);
    },
  );

  test('fails immediately on a permanent refusal, whose quoted link is masked', async ({ service, ann }) => {
    const server = await openMailServer();
    server.judge = ({ text }) => {
      throw refusal(554, `Spam: ${text.trim()}`);
    };
    startDelivery(service, server.url);
    const id = await createMail(service, ann, { text: RESET_LINK });
    await waitForMail(service, id, {
      status: 'failed',
      attempts: 1,
      error: expect.stringContaining('Spam: http://127.0.0.1/password-reset/••••'),
      sent: false,
    });
  });

  test('fails after the last attempt if there is no server', async ({ service, ann }) => {
    const server = await startMailServer();
    await server.close();
    startDelivery(service, server.url);
    const id = await createMail(service, ann);
    await waitForMail(service, id, {
      status: 'failed',
      attempts: 4,
      error: expect.stringContaining('ECONNREFUSED'),
    });
  });

  test('is sent once when several processes send', async ({ service, ann, bob }) => {
    const server = await openMailServer();
    for (let n = 0; n < 3; n++) startDelivery(service, server.url);
    const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => createMail(service, n % 2 ? ann : bob)));
    for (const id of ids) await waitForMail(service, id, { status: 'sent', attempts: 1 });
    expect(server.received.map(({ headers }) => headers.get('message-id')).toSorted()).toEqual(
      ids.map((id) => `<${id}@example.com>`).toSorted(),
    );
  });

  test('whose sender died is marked as failed and not sent again', async ({ service, ann }) => {
    const id = await createMail(service, ann);
    await systemQuery(
      service,
      `update dws.mail set claimed_at = now() - interval '2 minutes', attempts = 1 where id = $1`,
      id,
    );
    const server = await openMailServer();
    startDelivery(service, server.url);
    await waitForMail(service, id, {
      status: 'failed',
      attempts: 1,
      error: expect.stringMatching(/sending process ended/),
    });
    expect(server.received).toEqual([]);
  });

  test('that has expired is not sent', async ({ service, ann }) => {
    const id = await createMail(service, ann, { expiresAt: new Date(Date.now() - 1000) });
    const server = await openMailServer();
    startDelivery(service, server.url);
    await waitForMail(service, id, { status: 'failed', attempts: 0, error: expect.stringMatching(/expired/) });
    expect(server.received).toEqual([]);
  });

  test('to a user without an address is not sent but left for an operator', async ({ service, admin, bob }) => {
    const server = await openMailServer();
    startDelivery(service, server.url);
    const id = await createMail(service, bob, { email: null, text: 'Hello' });
    const next = await createMail(service, bob);
    await waitForMail(service, next, { status: 'sent' });
    expect(server.received).toHaveLength(1);
    const { body } = await admin.get('/outbox?q=bob&limit=2');
    expect(body._embedded['svc:mail'].find((mail: { id: string }) => mail.id === id)).toMatchObject({
      to: 'bob',
      text: 'Hello',
      status: 'failed',
      attempts: 0,
      error: expect.stringMatching(/no e-mail address/),
    });
  });

  test('is not sent to a server with an untrusted certificate', async ({ service, ann }) => {
    // The test server uses a self-signed certificate.
    const server = await openMailServer({ authOptional: true, secure: true });
    startDelivery(service, server.url.replace('smtp:', 'smtps:'));
    const id = await createMail(service, ann);
    await waitForMail(service, id, { status: 'failed', error: expect.stringMatching(/certificate/) });
    expect(server.received).toEqual([]);
  });

  test('that is being sent delays the shutdown until it is sent', async ({ service, ann }) => {
    const server = await openMailServer();
    const [received, accepted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    server.judge = () => (received.resolve(), accepted.promise);
    const delivery = startDelivery(service, server.url);
    const id = await createMail(service, ann);
    await received.promise;
    const stopped = delivery.stop();
    accepted.resolve();
    await stopped;
    expect(await findMail(service, id)).toMatchObject({ status: 'sent' });
  });

  test('is deleted after a month', async ({ service, ann }) => {
    const [old, recent] = [await createMail(service, ann), await createMail(service, ann)];
    await systemQuery(service, `update dws.mail set created_at = now() - interval '31 days' where id = $1`, old);
    await expect
      .poll(async () => {
        await reconcile(service.platform, {}, { ...QUICK, orphanAge: 600_000 });
        return findMail(service, old);
      })
      .toBeUndefined();
    expect(await findMail(service, recent)).toBeDefined();
  });
});

describe('the service', () => {
  test('sends through SMTP_URL with its credentials, from MAIL_FROM', async () => {
    const logins: string[] = [];
    const server = await openMailServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth({ username, password }, _session, done) {
        logins.push(`${username}/${password}`);
        done(null, { user: username });
      },
    });
    const service = await startService({
      SMTP_URL: server.url.replace('://', '://mailer:p%40ss@'),
      MAIL_FROM: 'Data <data@example.org>',
    });
    onTestFinished(() => service.close());
    const id = await createMail(service, await service.user('ann'));
    await waitForMail(service, id, { status: 'sent' });
    expect(logins).toEqual(['mailer/p@ss']);
    expect(server.received).toMatchObject([{ from: 'data@example.org', to: ['ann@example.com'] }]);
  });

  test('without SMTP_URL leaves mails in the outbox for an operator', async ({ service, admin, ann }) => {
    const id = await createMail(service, ann, { text: 'To be read' });
    expect((await admin.get('/outbox?limit=1')).body._embedded['svc:mail']).toMatchObject([
      { id, text: 'To be read', status: 'queued', attempts: 0, sentAt: null },
    ]);
  });

  test('refuses to start with a MAIL_FROM that is not an address', () => {
    expect(() => readConfig({ MAIL_FROM: 'Workspace' })).toThrow(/^MAIL_FROM must be an address/);
    expect(() => readConfig({ MAIL_FROM: 'a@example.com\r\nbcc: b@example.com' })).toThrow(/^MAIL_FROM/);
    expect(readConfig({ MAIL_FROM: 'dws@example.com' }).MAIL_FROM).toBe('dws@example.com');
  });
});
