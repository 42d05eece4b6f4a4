import { Writable } from 'node:stream';
import { describe, expect } from 'vitest';
import { Client } from '../support/client.ts';
import { expectBody, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import {
  canLogIn,
  createUserWithLink,
  mailedTokens,
  requestLink,
  resetPassword,
} from '../support/password-reset-fixture.ts';
import { PASSWORD, startService, type Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';

describe('the request of a link', () => {
  const ACCEPTED = { status: 204, body: '' };
  const countMails = async (service: Service) => (await systemQuery(service, `select id from dws.mail`)).length;

  test('returns the same response for any name and mails enabled local users of the tenant only', async ({
    service,
    anonymous,
    stranger,
  }) => {
    for (const name of ['disabled', 'foreign', 'fine']) await service.user(name);
    await systemQuery(service, `update dws.app_user set enabled = false where username = 'disabled'`);
    await systemQuery(service, `update dws.app_user set domain = 'ldap' where username = 'foreign'`);
    const before = await countMails(service);
    const ignored = [
      { username: 'nobody' },
      { username: 'disabled' },
      { username: 'foreign' },
      { username: stranger.username },
      { username: 'fine', tenant: 'other' },
      { username: 'fine', tenant: 'none' },
      { username: '' },
      { username: "'; drop table" },
      { username: 'x'.repeat(5000) },
    ];
    for (const body of ignored)
      expect(await anonymous.post('/password-reset', body), JSON.stringify(body)).toMatchObject(ACCEPTED);
    expect(await countMails(service)).toBe(before);

    expect(await requestLink(anonymous, 'FINE', { tenant: null })).toMatchObject(ACCEPTED);
    expect(await requestLink(anonymous, stranger.username, { tenant: 'other' })).toMatchObject(ACCEPTED);
    expect(await countMails(service)).toBe(before + 2);
    expect(
      await systemQuery(
        service,
        `select t.slug from dws.mail m join dws.tenant t on t.id = m.tenant_id where m.user_id = $1`,
        stranger.id,
      ),
    ).toEqual([{ slug: 'other' }]);
  });

  test('changes no password and ends no session', async ({ service }) => {
    const { user } = await createUserWithLink(service, 'calm');
    const session = await service.login('calm');
    await requestLink(new Client(service.url), 'calm');
    await expectStatus(session.get('/session'), 200);
    await expectStatus(user.get('/me'), 200);
  });

  test('mails at most ten links an hour to a user, even when concurrent', async ({ service, anonymous }) => {
    const user = await service.user('flooded');
    const responses = await Promise.all(Array.from({ length: 14 }, () => requestLink(anonymous, 'flooded')));
    expect(responses.map(({ status }) => status)).toEqual(Array(14).fill(204));
    expect(await mailedTokens(service, user)).toHaveLength(10);
    await systemQuery(
      service,
      `update dws.password_reset set created_at = created_at - interval '1 hour' where user_id = $1`,
      user.id,
    );
    await requestLink(anonymous, 'flooded');
    expect(await mailedTokens(service, user)).toHaveLength(11);
  });

  test('is limited like logins, by user and address, whether the user exists or not', async () => {
    const service = await startService({ RATE_LIMIT_LOGIN: '3' });
    try {
      const client = new Client(service.url);
      await service.user('ann');
      for (const name of ['ann', 'nobody']) {
        for (let n = 0; n < 3; n++) await expectStatus(requestLink(client, name), 204);
        const refused = await requestLink(client, name.toUpperCase());
        await expectBody(refused, 429, { code: 'RATE_LIMITED' });
        expect(refused.headers.get('retry-after')).toBe('60');
      }
      expect(await client.gql('mutation { requestPasswordReset(username: "ann") }')).toMatchObject({
        status: 429,
        errors: [{ extensions: { code: 'RATE_LIMITED' } }],
      });
      await expectStatus(requestLink(client, 'another-user'), 204);
      // Logins are counted separately.
      expect(await canLogIn(service, 'ann', PASSWORD)).toBe(true);
    } finally {
      await service.close();
    }
  });
});

describe('the secret of a link', () => {
  /** Sends requests with the secret to every place that could log or store it. */
  async function useLink(service: Service, token: string): Promise<void> {
    const client = new Client(service.url);
    await client.request('GET', `/password-reset/${token}`);
    await client.get(`/password-reset/${token}`);
    await client.get(`/nothing/password-reset/${token}`);
    await resetPassword(client, token, 'short');
    await client.gql('mutation ($token: String!) { resetPassword(token: $token, password: "short") }', { token });
    await client.gql(`mutation { resetPassword(token: "${token}", password: "short") }`);
    await (await service.user('admin', { superuser: true })).get('/outbox');
    await resetPassword(client, token);
    await resetPassword(client, token);
  }

  test('is neither in the log nor in the database', async () => {
    const lines: string[] = [];
    const log = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        lines.push(chunk.toString());
        done();
      },
    });
    const service = await startService({ LOG_LEVEL: 'trace' }, { log });
    try {
      const { token } = await createUserWithLink(service, 'ann');
      await useLink(service, token);
      const tables = await systemQuery<{ name: string }>(
        service,
        `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'dws'`,
      );
      expect(tables.length).toBeGreaterThan(10);
      for (const { name } of tables.filter((table) => table.name !== 'dws.migration')) {
        const rows = await systemQuery<{ row: string }>(service, `select to_jsonb(r)::text as row from ${name} r`);
        const revealing = rows.filter(({ row }) => row.includes(token));
        expect(revealing, name).toEqual([]);
      }
      expect(lines.length).toBeGreaterThan(5);
      expect(lines.filter((line) => line.includes(token))).toEqual([]);
      expect(lines.join('')).toContain('/password-reset/:token');
    } finally {
      await service.close();
    }
  });
});

describe('the page of a link', () => {
  test('of no open link says so when it is opened, with status 410 and without a form', async ({
    service,
    anonymous,
  }) => {
    const { token } = await createUserWithLink(service, 'once');
    const open = (secret: string) => anonymous.request('GET', `/password-reset/${secret}`);
    expect((await open(token)).status, 'opening the page does not use the link up').toBe(200);
    expect((await open(token)).status).toBe(200);
    expect((await resetPassword(anonymous, token)).status).toBe(204);
    for (const dead of [token, 'T'.repeat(43), 'x', '%C3%BC']) {
      const { status, headers, body } = await open(dead);
      expect({ status, type: headers.get('content-type') }).toEqual({ status: 410, type: 'text/html; charset=utf-8' });
      expect(body).toContain('<h1>This link no longer works</h1>');
      expect(body).not.toMatch(/<form|<script/);
    }
  });

  test('is public, runs its own script only and does not reveal the link', async ({ service, anonymous }) => {
    const { token } = await createUserWithLink(service, 'private');
    const { status, headers, body } = await anonymous.request('GET', `/password-reset/${token}`);
    expect(status).toBe(200);
    expect(body).toMatch(
      /<form[\s\S]*type="password"[\s\S]*<script nonce="[\w-]{22}" src="\/password-reset\.js"><\/script>/,
    );
    expect(body).not.toContain(token);
    expect(body).not.toMatch(/(src|href)="(?!\/)/);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(headers.get('content-security-policy')).toMatch(
      /default-src 'self'; script-src 'nonce-[\w-]{22}' 'strict-dynamic';.*frame-ancestors 'none'/,
    );
    expect(await anonymous.request('GET', '/password-reset.js')).toMatchObject({
      status: 200,
      body: expect.stringContaining(`fetch('/api' + location.pathname`),
    });
  });
});
