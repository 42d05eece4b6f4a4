import { afterEach, describe, expect, vi } from 'vitest';
import { createSmtpMailer } from '../../src/adapters/mail/smtp-mailer.ts';
import { readConfig } from '../../src/core/config.ts';
import { startMailDelivery, type DeliveryOptions } from '../../src/operations/mail-delivery.ts';
import { reconcile } from '../../src/operations/reconciler.ts';
import { post } from '../../src/services/resource/mail.ts';
import { QUICK } from '../operation/platform.ts';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { refusal, startMailServer, type MailServer } from '../support/mail-server.ts';
import { startService, type Service } from '../support/service.ts';

const IMPATIENT: DeliveryOptions = {
  interval: 50,
  attemptTimeout: 5000,
  claimTimeout: 60_000,
  shutdownTimeout: 2000,
  retryDelays: [10, 10, 10],
};
const LINK = `http://127.0.0.1/password-reset/${'s'.repeat(43)}`;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function mailServer(options?: Parameters<typeof startMailServer>[0]): Promise<MailServer> {
  const server = await startMailServer(options);
  closing.push(() => server.close());
  return server;
}

/** A process that sends what is in the outbox of the service, until the test ends. */
function deliver(service: Service, url: string, options: Partial<DeliveryOptions> = {}) {
  const delivery = startMailDelivery(
    service.platform,
    createSmtpMailer({ url, from: 'Workspace <dws@example.com>', host: 'example.com' }),
    { ...IMPATIENT, ...options },
  );
  closing.push(() => delivery.stop());
  return delivery;
}

/** Puts a mail for a user into the outbox; answers its id. */
const write = (
  service: Service,
  user: Client,
  more: { text?: string; email?: string | null; expiresAt?: Date; subject?: string } = {},
): Promise<string> =>
  tenantOf(service, user).then((tenantId) =>
    service.platform.database.transaction(tenantId, async (tx) =>
      post(service.platform, tx, {
        tenantId,
        user: { id: user.id, username: user.username, email: `${user.username}@example.com` },
        subject: 'News',
        text: 'Grüße',
        ...more,
        ...('email' in more && { user: { id: user.id, username: user.username, email: more.email } }),
      }),
    ),
  );

const tenantOf = async (service: Service, user: Client): Promise<string> =>
  (
    await service.platform.system.query<{ id: string }>({
      text: `select tenant_id as id from dws.app_user where id = $1`,
      values: [user.id],
    })
  )[0]!.id;

const look = async (service: Service, id: string) =>
  (
    await service.platform.system.query<{ status: string; attempts: number; error: string | null; sent: boolean }>({
      text: `select status, attempts, error, sent_at is not null as sent from dws.mail where id = $1`,
      values: [id],
    })
  )[0]!;
const settles = (service: Service, id: string, wanted: object) =>
  vi.waitFor(async () => expect(await look(service, id)).toMatchObject(wanted), { timeout: 15_000 });

describe('a mail', () => {
  test('is sent once its transaction is committed, and the outbox says so', async ({ service, admin, ann }) => {
    const server = await mailServer();
    deliver(service, server.url, { interval: 60_000 });
    const id = await write(service, ann);
    await settles(service, id, { status: 'sent', attempts: 1, error: null, sent: true });
    expect(server.received).toMatchObject([{ from: 'dws@example.com', to: ['ann@example.com'], text: 'Grüße\n' }]);
    const { headers } = server.received[0]!;
    expect(Object.fromEntries(headers)).toMatchObject({
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

  test('of a transaction that was undone was never written', async ({ service, ann }) => {
    const server = await mailServer();
    deliver(service, server.url);
    const tenantId = await tenantOf(service, ann);
    const undone = service.platform.database.transaction(tenantId, async (tx) => {
      post(service.platform, tx, {
        tenantId,
        user: { id: ann.id, username: 'ann', email: 'ann@example.com' },
        subject: 'Undone',
        text: 'x',
      });
      await tx.query({ text: 'select 1' });
      throw new Error('no');
    });
    await expect(undone).rejects.toThrow('no');
    const id = await write(service, ann, { subject: 'Done' });
    await settles(service, id, { status: 'sent' });
    expect(server.received.map(({ headers }) => headers.get('subject'))).toEqual(['Done']);
  });

  test('is tried again after a temporary failure, as the same message', async ({ service, ann }) => {
    const server = await mailServer();
    const seen: (string | undefined)[] = [];
    server.judge = ({ headers }) => {
      seen.push(headers.get('message-id'));
      if (seen.length < 3) throw refusal(451, 'Try again later');
    };
    deliver(service, server.url);
    const id = await write(service, ann);
    await settles(service, id, { status: 'sent', attempts: 3, error: null });
    expect(seen).toEqual(Array(3).fill(`<${id}@example.com>`));
    expect(server.received).toHaveLength(1);
  });

  test('that the server refuses for good has failed at once, and a link that the server quotes is not kept', async ({
    service,
    ann,
  }) => {
    const server = await mailServer();
    server.judge = ({ text }) => {
      throw refusal(554, `Spam: ${text.trim()}`);
    };
    deliver(service, server.url);
    const id = await write(service, ann, { text: LINK });
    await settles(service, id, {
      status: 'failed',
      attempts: 1,
      error: expect.stringContaining('Spam: http://127.0.0.1/password-reset/••••'),
      sent: false,
    });
  });

  test('has failed after the last attempt when there is no server', async ({ service, ann }) => {
    const server = await startMailServer();
    await server.close();
    deliver(service, server.url);
    const id = await write(service, ann);
    await settles(service, id, { status: 'failed', attempts: 4, error: expect.stringContaining('ECONNREFUSED') });
  });

  test('is sent once, however many processes send', async ({ service, ann, bob }) => {
    const server = await mailServer();
    for (let n = 0; n < 3; n++) deliver(service, server.url);
    const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => write(service, n % 2 ? ann : bob)));
    for (const id of ids) await settles(service, id, { status: 'sent', attempts: 1 });
    expect(server.received.map(({ headers }) => headers.get('message-id')).toSorted()).toEqual(
      ids.map((id) => `<${id}@example.com>`).toSorted(),
    );
  });

  test('whose sender died is recorded failed and not sent twice', async ({ service, ann }) => {
    const id = await write(service, ann);
    await service.platform.system.query({
      text: `update dws.mail set claimed_at = now() - interval '2 minutes', attempts = 1 where id = $1`,
      values: [id],
    });
    const server = await mailServer();
    deliver(service, server.url);
    await settles(service, id, {
      status: 'failed',
      attempts: 1,
      error: expect.stringMatching(/sending process ended/),
    });
    expect(server.received).toEqual([]);
  });

  test('that is out of date is not sent', async ({ service, ann }) => {
    const id = await write(service, ann, { expiresAt: new Date(Date.now() - 1000) });
    const server = await mailServer();
    deliver(service, server.url);
    await settles(service, id, { status: 'failed', attempts: 0, error: expect.stringMatching(/expired/) });
    expect(server.received).toEqual([]);
  });

  test('to a user without an address goes nowhere and says that somebody must hand it over', async ({
    service,
    admin,
    bob,
  }) => {
    const server = await mailServer();
    deliver(service, server.url);
    const id = await write(service, bob, { email: null, text: 'Hello' });
    const next = await write(service, bob);
    await settles(service, next, { status: 'sent' });
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

  test('is not given to a server that does not prove who it is', async ({ service, ann }) => {
    // Its certificate is its own.
    const server = await mailServer({ authOptional: true, secure: true });
    deliver(service, server.url.replace('smtp:', 'smtps:'));
    const id = await write(service, ann);
    await settles(service, id, { status: 'failed', error: expect.stringMatching(/certificate/) });
    expect(server.received).toEqual([]);
  });

  test('that is under way when the process stops is waited for', async ({ service, ann }) => {
    const server = await mailServer();
    const [begun, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    server.judge = () => (begun.resolve(), answered.promise);
    const delivery = deliver(service, server.url);
    const id = await write(service, ann);
    await begun.promise;
    const stopped = delivery.stop();
    answered.resolve();
    await stopped;
    expect(await look(service, id)).toMatchObject({ status: 'sent' });
  });

  test('is deleted after a month', async ({ service, ann }) => {
    const [old, young] = [await write(service, ann), await write(service, ann)];
    await service.platform.system.query({
      text: `update dws.mail set created_at = now() - interval '31 days' where id = $1`,
      values: [old],
    });
    await reconcile(service.platform, {}, { ...QUICK, orphanAge: 600_000 });
    expect(await look(service, old)).toBeUndefined();
    expect(await look(service, young)).toBeDefined();
  });
});

describe('the service', () => {
  test('sends through SMTP_URL with its login, from MAIL_FROM', async () => {
    const logins: string[] = [];
    const server = await mailServer({
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
    closing.push(() => service.close());
    const id = await write(service, await service.user('ann'));
    await settles(service, id, { status: 'sent' });
    expect(logins).toEqual(['mailer/p@ss']);
    expect(server.received).toMatchObject([{ from: 'data@example.org', to: ['ann@example.com'] }]);
  });

  test('without SMTP_URL keeps mail for an operator to read', async ({ service, admin, ann }) => {
    const id = await write(service, ann, { text: 'To be read' });
    expect((await admin.get('/outbox?limit=1')).body._embedded['svc:mail']).toMatchObject([
      { id, text: 'To be read', status: 'queued', attempts: 0, sentAt: null },
    ]);
  });

  test('refuses to start with a MAIL_FROM that is no address', () => {
    expect(() => readConfig({ MAIL_FROM: 'Workspace' })).toThrow(/^MAIL_FROM must be an address/);
    expect(() => readConfig({ MAIL_FROM: 'a@example.com\r\nbcc: b@example.com' })).toThrow(/^MAIL_FROM/);
    expect(readConfig({ MAIL_FROM: 'dws@example.com' }).MAIL_FROM).toBe('dws@example.com');
  });
});

describe('the outbox', () => {
  test('is for superusers, each for their tenant', async ({ service, admin, ann, stranger, anonymous }) => {
    const id = await write(service, ann);
    expect(await ann.get('/outbox')).toMatchObject({
      status: 403,
      body: { message: 'You lack the permission tenant:superuser' },
    });
    expect(await anonymous.get('/outbox')).toMatchObject({ status: 401 });
    expect(await stranger.get('/outbox')).toMatchObject({
      status: 200,
      body: { total: 0, _embedded: { 'svc:mail': [] } },
    });
    const { body } = await admin.get('/outbox?limit=1&sort=-createdAt');
    expect(body).toMatchObject({
      count: 1,
      _links: { self: { href: '/api/outbox?limit=1&sort=-createdAt' } },
      _embedded: { 'svc:mail': [{ id, _links: { 'svc:user': { href: `/api/users/${ann.id}` } } }] },
    });
    expect(body.total).toBeGreaterThan(1);
    expect((await admin.data('{ outbox(limit: 1) { total items { id to status text } } }')).outbox).toEqual({
      total: body.total,
      items: [{ id, to: 'ann@example.com', status: 'QUEUED', text: 'Grüße' }],
    });
  });

  test('keeps the words of mails sealed', async ({ service, ann }) => {
    const id = await write(service, ann, { text: `Go to ${LINK}` });
    const [{ row }] = (await service.platform.system.query<{ row: string }>({
      text: `select to_jsonb(m)::text as row from dws.mail m where id = $1`,
      values: [id],
    })) as [{ row: string }];
    expect(row).not.toMatch(/sssss|Go to/);
  });

  test('masks every link that would give its reader more than they have', async ({ service, admin, ann }) => {
    const rival = await service.user('rival', { superuser: true });
    const readOnly = await service.user('watcher', { superuser: true, scopes: ['read'] });
    const ids = new Map<string, string>();
    for (const user of [ann, rival, admin])
      ids.set(user.username, await write(service, user, { text: `Go to ${LINK}` }));
    const inSession = await service.login('admin');
    const shown = async (client: Client, username: string) => {
      const { body } = await client.get('/outbox');
      const { text } = body._embedded['svc:mail'].find(({ id }: { id: string }) => id === ids.get(username));
      const { outbox } = await client.data('{ outbox { items { id text } } }');
      expect(outbox.items.find(({ id }: { id: string }) => id === ids.get(username)).text).toBe(text);
      expect(text).toMatch(/^Go to http:\/\/127\.0\.0\.1\/password-reset\/(s{43}|••••)$/);
      return !text.includes('••••');
    };
    expect(await shown(admin, 'ann')).toBe(true);
    expect(await shown(inSession, 'ann')).toBe(true);
    expect(await shown(readOnly, 'ann')).toBe(false);
    expect(await shown(admin, 'rival')).toBe(false);
    expect(await shown(inSession, 'rival')).toBe(false);
    expect(await shown(inSession, 'admin')).toBe(true);
    // A token must not become a session by way of a new password.
    expect(await shown(admin, 'admin')).toBe(false);
    // What counts is who the user is now.
    await inSession.put('/users/ann/superuser', { superuser: true });
    expect(await shown(inSession, 'ann')).toBe(false);
    await inSession.put('/users/ann/superuser', { superuser: false });
    expect(await shown(inSession, 'ann')).toBe(true);
  });
});
