import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Transaction } from '../../src/core/platform.ts';
import { sweepRecords } from '../../src/operations/janitor.ts';
import { notify, type NewNotification } from '../../src/services/resource/notification.ts';
import type { Client } from '../support/client.ts';
import { test } from '../support/fixture.ts';
import { openSocket } from '../support/follow-operation.ts';
import { runSql } from '../support/run-sql.ts';
import { at } from '../support/service-process.ts';
import { startService, type Service } from '../support/service.ts';

const REL = 'svc:notification';
const BROKEN = { type: 'dataset.filter.broken', message: 'The filter EU of Orders no longer fits its fields.' };

/** A transaction in the tenant of the service's people. */
async function within<T>({ platform }: Service, work: (tx: Transaction, tenantId: string) => Promise<T>): Promise<T> {
  const [tenant] = await platform.system.query<{ id: string }>({
    text: `select id from dws.tenant where slug = 'default'`,
  });
  return platform.database.transaction(tenant!.id, (tx) => work(tx, tenant!.id));
}

const tell = (service: Service, principals: readonly string[], news: Partial<NewNotification> = {}): Promise<void> =>
  within(service, (tx, tenantId) => notify(tx, tenantId, principals, { ...BROKEN, ...news }));
const say = (service: Service, client: Client, message: string): Promise<void> =>
  tell(service, [`user:${client.id}`], { message });

const messages = async (client: Client, query = ''): Promise<string[]> =>
  (await client.get(`/notifications${query}`)).body._embedded[REL].map(({ message }: { message: string }) => message);

test('a user is told something, reads it and marks it as read, in both APIs', async ({ service }) => {
  const user = await service.user('reader');
  const id = newId();
  await tell(service, [`user:${user.id}`], { resource: { kind: 'dataset', id } });
  const listed = (await user.get('/notifications')).body;
  const [item] = listed._embedded[REL];
  expect(listed).toMatchObject({ total: 1, count: 1, start: 0 });
  expect(item).toEqual({
    id: expect.any(String),
    ...BROKEN,
    resource: { kind: 'dataset', id },
    read: false,
    readAt: null,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    _links: { self: { href: `/api/notifications/${item.id}` } },
  });
  const graphql = async () =>
    (
      await user.data(
        '{ notifications { total items { id type message resource { kind id } read readAt createdAt updatedAt version } } }',
      )
    ).notifications;
  const { _links, ...record } = item;
  expect(await graphql()).toEqual({ total: 1, items: [{ ...record, version: 1 }] });

  const read = await user.put(`/notifications/${item.id}`, { ...item, read: true });
  expect(read).toMatchObject({
    status: 200,
    body: { id: item.id, message: BROKEN.message, read: true, readAt: expect.any(String) },
  });
  expect(await user.put(`/notifications/${item.id}`, { read: true }), 'again').toMatchObject({
    status: 200,
    body: { readAt: read.body.readAt, updatedAt: read.body.updatedAt },
  });
  expect(await user.put(`/notifications/${item.id}`, {})).toMatchObject({
    status: 200,
    body: { readAt: read.body.readAt },
  });
  expect(await graphql()).toMatchObject({ items: [{ read: true, readAt: read.body.readAt, version: 2 }] });

  const mark = (value: boolean) =>
    user.data(`mutation { updateNotification(id: "${item.id}", input: { read: ${value} }) { read readAt version } }`);
  expect(await mark(false)).toEqual({ updateNotification: { read: false, readAt: null, version: 3 } });
  expect(await mark(false)).toEqual({ updateNotification: { read: false, readAt: null, version: 3 } });
  expect(await mark(true)).toEqual({ updateNotification: { read: true, readAt: expect.any(String), version: 4 } });
  expect(await user.put(`/notifications/${item.id}`, { read: false }, { 'if-match': 'W/"3"' })).toMatchObject({
    status: 412,
  });
  expect(await user.put(`/notifications/${item.id}`, { read: null })).toMatchObject({
    status: 400,
    body: { message: 'read must not be null' },
  });
  expect(await user.put(`/notifications/${item.id}`, { read: 'yes' })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('read') },
  });
});

test('what is about no resource says so', async ({ service }) => {
  const user = await service.user('resourceless');
  await say(service, user, 'The service was updated.');
  expect((await user.get('/notifications')).body._embedded[REL]).toMatchObject([
    { message: 'The service was updated.', resource: null },
  ]);
});

test('others’ notifications do not exist, for superusers neither', async ({
  service,
  ann,
  bob,
  admin,
  stranger,
  anonymous,
}) => {
  await say(service, ann, 'For Ann.');
  const { id } = (await ann.get('/notifications')).body._embedded[REL][0];
  for (const other of [bob, admin, stranger]) {
    expect((await other.get('/notifications')).body).toMatchObject({ total: 0, _embedded: { [REL]: [] } });
    expect(await other.data('{ notifications { total items { id } } }')).toEqual({
      notifications: { total: 0, items: [] },
    });
    expect(await other.put(`/notifications/${id}`, { read: true })).toMatchObject({
      status: 404,
      body: { message: `There is no notification ${id}` },
    });
    expect(await other.gql(`mutation { updateNotification(id: "${id}", input: { read: true }) { id } }`)).toMatchObject(
      { errors: [{ message: `There is no notification ${id}`, extensions: { code: 'NOT_FOUND' } }] },
    );
  }
  for (const nothing of [newId(), 'no-uuid'])
    expect(await ann.put(`/notifications/${nothing}`, { read: true })).toMatchObject({ status: 404 });
  expect(await anonymous.get('/notifications')).toMatchObject({ status: 401 });
  expect((await ann.get('/notifications')).body._embedded[REL]).toMatchObject([{ read: false }]);
});

test('the list is paged, the latest first, and shows the unread when asked', async ({ service }) => {
  const user = await service.user('pager');
  for (const message of ['one', 'two', 'three', 'four']) await say(service, user, message);
  expect(await messages(user)).toEqual(['four', 'three', 'two', 'one']);
  expect(await messages(user, '?limit=2&start=1')).toEqual(['three', 'two']);
  expect((await user.get('/notifications?limit=2&start=1')).body).toMatchObject({
    total: 4,
    count: 2,
    start: 1,
    _links: { next: { href: expect.stringContaining('start=3') } },
  });
  expect(await messages(user, '?sort=createdAt')).toEqual(['one', 'two', 'three', 'four']);
  expect(await user.get('/notifications?sort=message')).toMatchObject({ status: 400 });

  const { id } = (await user.get('/notifications')).body._embedded[REL][1];
  await user.put(`/notifications/${id}`, { read: true });
  expect(await messages(user, '?read=false')).toEqual(['four', 'two', 'one']);
  expect(await messages(user, '?read=true')).toEqual(['three']);
  expect(
    await user.data(
      '{ unread: notifications(read: false, limit: 1, sort: "createdAt") { total count items { message } } read: notifications(read: true) { total items { message } } rest: notifications(start: 3) { items { message } } }',
    ),
  ).toEqual({
    unread: { total: 3, count: 1, items: [{ message: 'one' }] },
    read: { total: 1, items: [{ message: 'three' }] },
    rest: { items: [{ message: 'one' }] },
  });
});

test('of a team those are told who may write what it owns, everybody once, disabled users too', async ({
  service,
  admin,
}) => {
  const people = Object.fromEntries(
    await Promise.all(
      ['member', 'plus', 'leader', 'off', 'outsider'].map(async (name) => [name, await service.user(name)] as const),
    ),
  );
  const teams = [
    await admin.creates('/teams', { name: 'First told' }),
    await admin.creates('/teams', { name: 'Second told' }),
  ].map(({ id }) => id as string);
  const roles = { member: 'member', plus: 'memberPlus', leader: 'admin', off: 'memberPlus' };
  for (const [name, role] of Object.entries(roles))
    for (const team of teams) await admin.put(`/teams/${team}/members/${name}`, { role });
  await admin.put('/users/off', { enabled: false });
  for (const team of teams) await admin.delete(`/teams/${team}/members/admin`);

  await tell(service, [
    ...teams.map((team) => `team:${team}`),
    `user:${people['plus']!.id}`,
    `user:${people['plus']!.id}`,
    `user:${newId()}`,
    `team:${newId()}`,
  ]);
  await tell(service, []);
  const told = await service.platform.system.query<{ username: string; count: number }>({
    text: `select u.username, count(n.id)::int from dws.app_user u left join dws.notification n on n.user_id = u.id where u.username = any($1) group by u.username order by u.username`,
    values: [['admin', ...Object.keys(people)]],
  });
  expect(told.map(({ username, count }) => [username, count])).toEqual([
    ['admin', 0],
    ['leader', 1],
    ['member', 0],
    ['off', 1],
    ['outsider', 0],
    ['plus', 1],
  ]);
});

test('nobody of another tenant is told', async ({ service, stranger }) => {
  await say(service, stranger, 'Across.');
  expect((await stranger.get('/notifications')).body.total).toBe(0);
});

/** Subscribes and waits until it is sure to hear: answers what comes next. */
async function subscribe(service: Service, client: Client) {
  const socket = openSocket(client);
  const told = socket.iterate<{
    notifications: { message: string; type: string; read: boolean; resource: object | null };
  }>('subscription { notifications { message type read resource { kind } } }', {});
  const next = async () => (await told.next()).value!.data!.notifications;
  let heard = false;
  const first = next().then(() => {
    heard = true;
  });
  while (!heard) {
    await say(service, client, 'Are you there?');
    await new Promise((wake) => {
      setTimeout(wake, 20);
    });
  }
  await first;
  await say(service, client, 'Now.');
  while ((await next()).message !== 'Now.');
  return { next: async () => (await next()).message, whole: next, dispose: () => socket.dispose() };
}

test('a subscriber hears what they are told from then on, whichever process makes it, each once and nothing of others', async ({
  service,
  bob,
}) => {
  const user = await service.user('listener');
  await say(service, user, 'Before.');
  const other = await startService({ ROLE: 'web' }, { databaseUrl: service.databaseUrl });
  const here = await subscribe(service, user);
  const there = await subscribe(service, at(other.url, user));
  while ((await here.next()) !== 'Now.');

  await say(other, bob, 'For Bob.');
  await tell(other, [`user:${user.id}`], { resource: { kind: 'dataset', id: newId() } });
  for (const subscriber of [here, there])
    expect(await subscriber.whole()).toEqual({ ...BROKEN, read: false, resource: { kind: 'dataset' } });
  await within(service, async (tx, tenantId) => {
    for (const message of ['a', 'b', 'c']) await notify(tx, tenantId, [`user:${user.id}`], { ...BROKEN, message });
  });
  for (const subscriber of [here, there])
    expect([await subscriber.next(), await subscriber.next(), await subscriber.next()]).toEqual(['a', 'b', 'c']);
  await here.dispose();
  await there.dispose();
  await other.close();
});

test('a subscriber hears what is committed late, nothing that is undone, and after a lost connection what was made meanwhile', async ({
  service,
}) => {
  const user = await service.user('patient');
  const subscriber = await subscribe(service, user);
  let commit!: () => void;
  const committed = new Promise<void>((resolve) => {
    commit = resolve;
  });
  let written!: () => void;
  const isWritten = new Promise<void>((resolve) => {
    written = resolve;
  });
  const late = within(service, async (tx, tenantId) => {
    await notify(tx, tenantId, [`user:${user.id}`], { ...BROKEN, message: 'late' });
    await tx.em.flush();
    written();
    await committed;
  });
  await isWritten;
  await expect(
    within(service, async (tx, tenantId) => {
      await notify(tx, tenantId, [`user:${user.id}`], { ...BROKEN, message: 'undone' });
      throw new Error('undone');
    }),
  ).rejects.toThrow('undone');
  await say(service, user, 'early');
  expect(await subscriber.next()).toBe('early');
  commit();
  await late;
  expect(await subscriber.next()).toBe('late');

  await runSql(
    service.databaseUrl,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'dws listener'`,
  );
  await say(service, user, 'meanwhile');
  expect(await subscriber.next()).toBe('meanwhile');
  await subscriber.dispose();
});

test('what somebody was told is deleted after 90 days and not before, and with its user', async ({
  service,
  admin,
}) => {
  const user = await service.user('old');
  const { system } = service.platform;
  for (const days of [89, 91]) {
    await say(service, user, `of day ${days}`);
    await system.query({
      text: `update dws.notification set created_at = now() - $2 * interval '1 day' where user_id = $1 and message = $3`,
      values: [user.id, days, `of day ${days}`],
    });
  }
  await sweepRecords((statement) => system.query(statement));
  expect(await messages(user)).toEqual(['of day 89']);
  await admin.delete('/users/old');
  expect(await system.query({ text: 'select id from dws.notification where user_id = $1', values: [user.id] })).toEqual(
    [],
  );
});
