import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import { expectError, expectGraphqlError } from '../support/expect.ts';
import { whileSuperusersAreLocked } from '../support/superuser-lock.ts';
import { systemQuery } from '../support/system-query.ts';
import { expectUnchanged, newUser, test, updateByGraphql } from '../support/user-escalation-fixture.ts';

describe('the last enabled superuser', () => {
  const MESSAGE = 'The last enabled superuser cannot be removed, disabled or demoted';

  test('cannot be disabled, demoted or deleted, by name, other case or id', async ({ service, stranger }) => {
    const session = await service.login('stranger', { tenant: 'other' });
    await stranger.creates('/users', newUser('heir', { enabled: true }));
    await expectUnchanged(service, stranger, async () => {
      for (const key of ['stranger', 'STRANGER', stranger.id])
        for (const response of [
          await session.put(`/users/${key}`, { enabled: false }),
          await session.put(`/users/${key}`, { domain: 'ldap' }),
          await session.put(`/users/${key}/superuser`, { superuser: false }),
          await session.delete(`/users/${key}/superuser`),
          await session.put(`/users/${key}/global-permissions`, { permissions: ['users:edit'] }),
          await session.delete(`/users/${key}?transferTo=heir`),
        ])
          await expectError(response, 409, MESSAGE);
      await expectGraphqlError(updateByGraphql(session, 'stranger', { enabled: false }), 'CONFLICT', MESSAGE);
      const notLocked = 'The last enabled superuser cannot be locked';
      for (const lock of [{ locked: true }, { lockedAt: '2020-01-31T09:30:00.000Z' }]) {
        await expectError(session.put('/users/stranger', lock), 409, notLocked);
        await expectGraphqlError(updateByGraphql(session, 'stranger', lock), 'CONFLICT', notLocked);
      }
    });
  });

  test.for([
    ['disable', (client: Client, key: string) => client.put(`/users/${key}`, { enabled: false }), 200],
    ['lock', (client: Client, key: string) => client.put(`/users/${key}`, { locked: true }), 200],
    ['delete', (client: Client, key: string) => client.delete(`/users/${key}?transferTo=heir`), 204],
    ['demote', (client: Client, key: string) => client.put(`/users/${key}/superuser`, { superuser: false }), 200],
  ] as const)('is one of two who %s each other concurrently', async ([what, change, status], { service, stranger }) => {
    await stranger.get('/me');
    const names = [0, 1].map((n) => `rival-${what}-${n}-${Math.random().toString(36).slice(2)}`);
    for (const name of names) await service.user(name, { tenant: 'other', superuser: true });
    const others = `update dws.app_user u set enabled = not enabled
      from dws.tenant t where t.id = u.tenant_id and t.slug = 'other' and superuser and not username = any($1)`;
    const [one, two] = [
      await service.login(names[0]!, { tenant: 'other' }),
      await service.login(names[1]!, { tenant: 'other' }),
    ];
    await systemQuery(service, others, names);
    try {
      const responses = await whileSuperusersAreLocked(service, () => [change(one, names[1]!), change(two, names[0]!)]);
      expect(responses.map((response) => response.status).toSorted()).toEqual([status, 409]);
      expect(
        await systemQuery(
          service,
          `select count(*)::int as left from dws.app_user u join dws.tenant t on t.id = u.tenant_id
          where t.slug = 'other' and superuser and enabled and admin_locked_at is null`,
        ),
      ).toEqual([{ left: 1 }]);
    } finally {
      await systemQuery(service, `update dws.app_user set superuser = false where username = any($1)`, names);
      await systemQuery(service, `update dws.app_user set enabled = true where username = 'stranger'`);
    }
  });
});
