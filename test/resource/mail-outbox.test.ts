import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { createMail, RESET_LINK } from '../support/mail-fixture.ts';
import { systemQuery } from '../support/system-query.ts';

interface ListedMail {
  id: string;
  text: string;
}

describe('the outbox', () => {
  test('is visible to superusers of the tenant only', async ({ service, admin, ann, stranger, anonymous }) => {
    await createMail(service, ann);
    const id = await createMail(service, ann);
    await expectError(ann.get('/outbox'), 403, 'You lack the permission tenant:superuser');
    await expectStatus(anonymous.get('/outbox'), 401);
    await expectBody(stranger.get('/outbox'), 200, { total: 0, _embedded: { 'svc:mail': [] } });
    const page = await expectBody(admin.get('/outbox?limit=1&sort=-createdAt'), 200, {
      count: 1,
      _links: { self: { href: '/api/outbox?limit=1&sort=-createdAt' } },
      _embedded: { 'svc:mail': [{ id, _links: { 'svc:user': { href: `/api/users/${ann.id}` } } }] },
    });
    expect(page.total).toBeGreaterThan(1);
    expect((await admin.data('{ outbox(limit: 1) { total items { id to status text } } }')).outbox).toEqual({
      total: page.total,
      items: [{ id, to: 'ann@example.com', status: 'QUEUED', text: 'Grüße' }],
    });
  });

  test('stores the texts of mails encrypted', async ({ service, ann }) => {
    const id = await createMail(service, ann, { text: `Go to ${RESET_LINK}` });
    const [mail] = await systemQuery(service, `select to_jsonb(m)::text as row from dws.mail m where id = $1`, id);
    expect(mail!['row']).not.toMatch(/sssss|Go to/);
  });

  test('masks links that would let the reader act as another superuser or outlive a token', async ({
    service,
    admin,
    ann,
  }) => {
    const rival = await service.user('rival', { superuser: true });
    const readOnly = await service.user('watcher', { superuser: true, scopes: ['read'] });
    const session = await service.login('admin');
    const mailIds = new Map<string, string>();
    for (const user of [ann, rival, admin])
      mailIds.set(user.username, await createMail(service, user, { text: `Go to ${RESET_LINK}` }));

    /** Returns whether the client sees the link in the mail to a user. Both APIs must agree. */
    const canSeeLink = async (client: Client, username: string): Promise<boolean> => {
      const isMail = ({ id }: ListedMail) => id === mailIds.get(username);
      const listed: ListedMail[] = (await client.get('/outbox')).body._embedded['svc:mail'];
      const { text } = listed.find(isMail)!;
      const { outbox } = await client.data('{ outbox { items { id text } } }');
      expect(outbox.items.find(isMail).text).toBe(text);
      expect(text).toMatch(/^Go to http:\/\/127\.0\.0\.1\/password-reset\/(s{43}|••••)$/);
      return !text.includes('••••');
    };
    expect(await canSeeLink(admin, 'ann')).toBe(true);
    expect(await canSeeLink(session, 'ann')).toBe(true);
    expect(await canSeeLink(readOnly, 'ann')).toBe(false);
    expect(await canSeeLink(admin, 'rival')).toBe(false);
    expect(await canSeeLink(session, 'rival')).toBe(false);
    expect(await canSeeLink(session, 'admin')).toBe(true);
    // A token must not become a session through a new password.
    expect(await canSeeLink(admin, 'admin')).toBe(false);
    // The present status of the recipient decides.
    await session.put('/users/ann/superuser', { superuser: true });
    expect(await canSeeLink(session, 'ann')).toBe(false);
    await session.put('/users/ann/superuser', { superuser: false });
    expect(await canSeeLink(session, 'ann')).toBe(true);
  });
});
