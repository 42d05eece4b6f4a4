import { describe, expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { sweepRecords } from '../../src/operations/janitor.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectGraphqlError, expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { BROKEN_FILTER, notifyPrincipals, notifyUser } from '../support/notification-fixture.ts';
import { systemQuery } from '../support/system-query.ts';

const REL = 'svc:notification';

const listMessages = async (client: Client, query = ''): Promise<string[]> =>
  (await client.get(`/notifications${query}`)).body._embedded[REL].map(({ message }: { message: string }) => message);

describe('a notification', () => {
  const LIST = `{
    notifications {
      total
      items { id type message link resource { kind id } read readAt createdAt updatedAt version }
    }
  }`;

  test('is listed in both APIs', async ({ service }) => {
    const user = await service.user('reader');
    const datasetId = newId();
    await notifyPrincipals(service, [`user:${user.id}`], { resource: { kind: 'dataset', id: datasetId } });
    const list = await expectBody(user.get('/notifications'), 200, { total: 1, count: 1, start: 0 });
    const [item] = list._embedded[REL];
    expect(item).toEqual({
      id: expect.any(String),
      ...BROKEN_FILTER,
      link: null,
      resource: { kind: 'dataset', id: datasetId },
      read: false,
      readAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      _links: {
        self: { href: `/api/notifications/${item.id}` },
        'svc:resource': { href: `/api/datasets/${datasetId}` },
      },
    });
    const { _links, ...record } = item;
    const words = { type: 'DATASET_FILTER_BROKEN', resource: { kind: 'DATASET', id: datasetId } };
    expect((await user.data(LIST)).notifications).toEqual({ total: 1, items: [{ ...record, ...words, version: 1 }] });
  });

  test('is marked as read or unread in both APIs', async ({ service }) => {
    const user = await service.user('marker');
    await notifyUser(service, user, BROKEN_FILTER.message);
    const [item] = (await user.get('/notifications')).body._embedded[REL];
    const path = `/notifications/${item.id}`;
    const { readAt, updatedAt } = await expectBody(user.put(path, { ...item, read: true }), 200, {
      id: item.id,
      message: BROKEN_FILTER.message,
      read: true,
      readAt: expect.any(String),
    });
    // Marking it again changes nothing.
    await expectBody(user.put(path, { read: true }), 200, { readAt, updatedAt });
    await expectBody(user.put(path, {}), 200, { readAt });
    expect((await user.data(LIST)).notifications).toMatchObject({ items: [{ read: true, readAt, version: 2 }] });

    const mark = async (read: boolean) => {
      const { updateNotification } = await user.data(
        `mutation { updateNotification(id: "${item.id}", input: { read: ${read} }) { read readAt version } }`,
      );
      return updateNotification;
    };
    expect(await mark(false)).toEqual({ read: false, readAt: null, version: 3 });
    expect(await mark(false)).toEqual({ read: false, readAt: null, version: 3 });
    expect(await mark(true)).toEqual({ read: true, readAt: expect.any(String), version: 4 });
    await expectStatus(user.put(path, { read: false }, { 'if-match': 'W/"3"' }), 412);
    await expectError(user.put(path, { read: null }), 400, 'read must not be null');
    await expectError(user.put(path, { read: 'yes' }), 400, /read/);
  });

  test('that concerns no resource has none', async ({ service }) => {
    const user = await service.user('resourceless');
    await notifyUser(service, user, 'The service was updated.');
    expect((await user.get('/notifications')).body._embedded[REL]).toMatchObject([
      { message: 'The service was updated.', resource: null },
    ]);
  });

  test('is visible to its recipient only, not even to superusers', async ({
    service,
    ann,
    bob,
    admin,
    stranger,
    anonymous,
  }) => {
    await notifyUser(service, ann, 'For Ann.');
    const { id } = (await ann.get('/notifications')).body._embedded[REL][0];
    const message = `There is no notification ${id}`;
    for (const other of [bob, admin, stranger]) {
      await expectBody(other.get('/notifications'), 200, { total: 0, _embedded: { [REL]: [] } });
      expect(await other.data('{ notifications { total items { id } } }')).toEqual({
        notifications: { total: 0, items: [] },
      });
      await expectError(other.put(`/notifications/${id}`, { read: true }), 404, message);
      const mutation = `mutation { updateNotification(id: "${id}", input: { read: true }) { id } }`;
      await expectGraphqlError(other.gql(mutation), 'NOT_FOUND', message);
    }
    for (const unknownId of [newId(), 'no-uuid'])
      await expectStatus(ann.put(`/notifications/${unknownId}`, { read: true }), 404);
    await expectStatus(anonymous.get('/notifications'), 401);
    expect((await ann.get('/notifications')).body._embedded[REL]).toMatchObject([{ read: false }]);
  });

  test('is deleted after 90 days, and with its user', async ({ service, admin }) => {
    const user = await service.user('old');
    for (const days of [89, 91]) {
      await notifyUser(service, user, `of day ${days}`);
      await systemQuery(
        service,
        `update dws.notification set created_at = now() - $2 * interval '1 day' where user_id = $1 and message = $3`,
        user.id,
        days,
        `of day ${days}`,
      );
    }
    await sweepRecords((statement) => service.platform.system.query(statement));
    expect(await listMessages(user)).toEqual(['of day 89']);
    await admin.delete('/users/old');
    expect(await systemQuery(service, 'select id from dws.notification where user_id = $1', user.id)).toEqual([]);
  });
});

describe('the list of notifications', () => {
  test('is paged, latest first', async ({ service }) => {
    const user = await service.user('pager');
    for (const message of ['one', 'two', 'three', 'four']) await notifyUser(service, user, message);
    expect(await listMessages(user)).toEqual(['four', 'three', 'two', 'one']);
    expect(await listMessages(user, '?limit=2&start=1')).toEqual(['three', 'two']);
    await expectBody(user.get('/notifications?limit=2&start=1'), 200, {
      total: 4,
      count: 2,
      start: 1,
      _links: { next: { href: expect.stringContaining('start=3') } },
    });
    expect(await listMessages(user, '?sort=createdAt')).toEqual(['one', 'two', 'three', 'four']);
    await expectStatus(user.get('/notifications?sort=message'), 400);
  });

  test('is filtered by read and unread', async ({ service }) => {
    const user = await service.user('filterer');
    for (const message of ['one', 'two', 'three', 'four']) await notifyUser(service, user, message);
    const { id } = (await user.get('/notifications')).body._embedded[REL][1];
    await user.put(`/notifications/${id}`, { read: true });
    expect(await listMessages(user, '?read=false')).toEqual(['four', 'two', 'one']);
    expect(await listMessages(user, '?read=true')).toEqual(['three']);
    expect(
      await user.data(`{
        unread: notifications(read: false, limit: 1, sort: "createdAt") { total count items { message } }
        read: notifications(read: true) { total items { message } }
        rest: notifications(start: 3) { items { message } }
      }`),
    ).toEqual({
      unread: { total: 3, count: 1, items: [{ message: 'one' }] },
      read: { total: 1, items: [{ message: 'three' }] },
      rest: { items: [{ message: 'one' }] },
    });
  });
});

describe('the recipients of a notification', () => {
  test('of a team are its members with write access, each once, including disabled users', async ({
    service,
    admin,
  }) => {
    const usernames = ['member', 'plus', 'leader', 'off', 'outsider'];
    for (const username of usernames) await service.user(username);
    const { id: plusId } = (await admin.get('/users/plus')).body;
    const roles = { member: 'member', plus: 'memberPlus', leader: 'admin', off: 'memberPlus' };
    const teamIds: string[] = [];
    for (const name of ['First team', 'Second team']) {
      const { id } = await admin.creates('/teams', { name });
      for (const [username, role] of Object.entries(roles))
        await admin.put(`/teams/${id}/members/${username}`, { role });
      await admin.delete(`/teams/${id}/members/admin`);
      teamIds.push(id);
    }
    await admin.put('/users/off', { enabled: false });

    await notifyPrincipals(service, [
      ...teamIds.map((id) => `team:${id}`),
      `user:${plusId}`,
      `user:${plusId}`,
      `user:${newId()}`,
      `team:${newId()}`,
    ]);
    await notifyPrincipals(service, []);
    const counts = await systemQuery<{ username: string; count: number }>(
      service,
      `select u.username, count(n.id)::int
      from dws.app_user u
      left join dws.notification n on n.user_id = u.id
      where u.username = any($1)
      group by u.username`,
      ['admin', ...usernames],
    );
    expect(Object.fromEntries(counts.map(({ username, count }) => [username, count]))).toEqual({
      admin: 0,
      leader: 1,
      member: 0,
      off: 1,
      outsider: 0,
      plus: 1,
    });
  });

  test('are users of the tenant only', async ({ service, stranger }) => {
    await notifyUser(service, stranger, 'Across.');
    expect((await stranger.get('/notifications')).body.total).toBe(0);
  });
});
