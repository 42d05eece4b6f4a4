import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { notify } from '../../src/services/resource/notification.ts';
import { LAST_SETUP_MESSAGE, subscribeActively } from '../support/active-subscription.ts';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { BROKEN_FILTER, inTransaction, notifyPrincipals, notifyUser } from '../support/notification-fixture.ts';
import { runSql } from '../support/run-sql.ts';
import { at } from '../support/service-process.ts';
import { startService, type Service } from '../support/service.ts';

interface ReceivedNotification {
  message: string;
  type: string;
  read: boolean;
  resource: { kind: string } | null;
}

const subscribe = (service: Service, client: Client) =>
  subscribeActively<ReceivedNotification>(
    client,
    'notifications',
    'subscription { notifications { message type read resource { kind } } }',
    (message) => notifyUser(service, client, message),
  );

describe('a subscriber', () => {
  test('receives new notifications from every process, each once and none of other users', async ({ service, bob }) => {
    const user = await service.user('listener');
    await notifyUser(service, user, 'Before.');
    const otherProcess = await startService({ ROLE: 'web' }, { databaseUrl: service.databaseUrl });
    const here = await subscribe(service, user);
    const there = await subscribe(service, at(otherProcess.url, user));
    while ((await here.nextMessage()) !== LAST_SETUP_MESSAGE);

    await notifyUser(otherProcess, bob, 'For Bob.');
    await notifyPrincipals(otherProcess, [`user:${user.id}`], { resource: { kind: 'dataset', id: newId() } });
    for (const subscriber of [here, there])
      expect(await subscriber.next()).toEqual({
        ...BROKEN_FILTER,
        type: 'DATASET_FILTER_BROKEN',
        read: false,
        resource: { kind: 'DATASET' },
      });
    await inTransaction(service, async (tx, tenantId) => {
      for (const message of ['a', 'b', 'c'])
        await notify(tx, tenantId, [`user:${user.id}`], { ...BROKEN_FILTER, message });
    });
    for (const subscriber of [here, there])
      for (const message of ['a', 'b', 'c']) expect(await subscriber.nextMessage()).toBe(message);
    await here.dispose();
    await there.dispose();
    await otherProcess.close();
  });

  test('receives what is committed late, and nothing that is rolled back', async ({ service }) => {
    const user = await service.user('patient');
    const subscriber = await subscribe(service, user);
    const [written, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const late = inTransaction(service, async (tx, tenantId) => {
      await notify(tx, tenantId, [`user:${user.id}`], { ...BROKEN_FILTER, message: 'late' });
      await tx.query({ text: 'select 1' });
      written.resolve();
      await commit.promise;
    });
    await written.promise;
    await expect(
      inTransaction(service, async (tx, tenantId) => {
        await notify(tx, tenantId, [`user:${user.id}`], { ...BROKEN_FILTER, message: 'undone' });
        throw new Error('undone');
      }),
    ).rejects.toThrow('undone');
    await notifyUser(service, user, 'early');
    expect(await subscriber.nextMessage()).toBe('early');
    commit.resolve();
    await late;
    expect(await subscriber.nextMessage()).toBe('late');
    await subscriber.dispose();
  });

  test('receives nothing again that is marked as read', async ({ service }) => {
    const user = await service.user('reading');
    await notifyUser(service, user, 'Before.');
    const subscriber = await subscribe(service, user);
    await notifyUser(service, user, 'during');
    expect(await subscriber.nextMessage()).toBe('during');
    const { body } = await user.get('/notifications?limit=100');
    for (const { id } of body._embedded['svc:notification'])
      await expectStatus(user.put(`/notifications/${id}`, { read: true }), 200);
    await notifyUser(service, user, 'afterwards');
    expect(await subscriber.next()).toMatchObject({ message: 'afterwards', read: false });
    await subscriber.dispose();
  });

  test('receives what was created while the connection to Postgres was lost', async ({ service }) => {
    const user = await service.user('reconnecting');
    const subscriber = await subscribe(service, user);
    await runSql(
      service.databaseUrl,
      `select pg_terminate_backend(pid)
      from pg_stat_activity
      where datname = current_database() and application_name = 'dws listener'`,
    );
    await notifyUser(service, user, 'meanwhile');
    expect(await subscriber.nextMessage()).toBe('meanwhile');
    await subscriber.dispose();
  });
});
