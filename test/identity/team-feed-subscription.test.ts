import { describe, expect } from 'vitest';
import { storeActivities } from '../../src/services/resource/activity.ts';
import { LAST_SETUP_MESSAGE, subscribeActively } from '../support/active-subscription.ts';
import type { Client } from '../support/client.ts';
import { expectStatus } from '../support/expect.ts';
import { test } from '../support/fixture.ts';
import { openSocket } from '../support/follow-operation.ts';
import { inTransaction, notifyUser } from '../support/notification-fixture.ts';
import { PostgresProxy } from '../support/postgres-proxy.ts';
import { recordRoundTrips } from '../support/round-trips.ts';
import { at } from '../support/service-process.ts';
import { startService, type Service } from '../support/service.ts';
import { addFeedItem, createTeam, type FeedRecord } from '../support/team-fixture.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';

const documentOf = (team: string) =>
  `subscription { teamFeed(teamId: "${team}") { id type entityType entityId message viewed user { username } } }`;
const subscribe = (service: Service, client: Client, team: string, key = team) =>
  subscribeActively<FeedRecord>(client, 'teamFeed', documentOf(key), (message) => addFeedItem(service, team, message));

describe('a subscriber of a feed', () => {
  test('receives new items from every process, each once and none of other teams', async ({ service, admin, ann }) => {
    const team = await createTeam(admin, 'Live', ann);
    const other = await createTeam(admin, 'Elsewhere', ann);
    await addFeedItem(service, team, 'Before.');
    const otherProcess = await startService({ ROLE: 'web' }, { databaseUrl: service.databaseUrl });
    const here = await subscribe(service, ann, team);
    const there = await subscribe(service, at(otherProcess.url, ann), team, 'live');
    while ((await here.nextMessage()) !== LAST_SETUP_MESSAGE);

    await admin.creates('/reports', { name: 'Elsewhere', ownerId: `team:${other}` });
    const { id } = await at(otherProcess.url, ann).creates(`/teams/${team}/comments`, { message: 'Hello' });
    for (const subscriber of [here, there])
      expect(await subscriber.next()).toEqual({
        id: expect.any(String),
        type: 'COMMENT_ADDED',
        entityType: 'COMMENT',
        entityId: id,
        message: 'ann commented in Live',
        viewed: false,
        user: { username: 'ann' },
      });
    await inTransaction(service, async (tx, tenantId) => {
      const resource = { id: team, name: 'Live', ownerId: `team:${team}` };
      const eventOf = (message: string) => ({ kind: 'team', resource, event: 'updated', message }) as const;
      storeActivities(tx, { tenantId, userId: null }, ['a', 'b', 'c'].map(eventOf));
    });
    await admin.put(`/teams/${team}/members/ann`, { role: 'memberPlus' });
    await addFeedItem(otherProcess, team, 'last');
    for (const subscriber of [here, there])
      for (const message of ['a', 'b', 'c', 'last']) expect(await subscriber.nextMessage()).toBe(message);
    await here.dispose();
    await there.dispose();
    await otherProcess.close();
  });

  test('shares the polls and reads of all others of its user', async ({ service, admin, ann }) => {
    const team = await createTeam(admin, 'Shared', ann);
    const first = await subscribe(service, ann, team);
    const more = Array.from({ length: 20 }, () => first.socket.iterate<{ teamFeed: FeedRecord }>(documentOf(team), {}));
    const nextOf = async (results: (typeof more)[number]) => (await results.next()).value!.data!.teamFeed.message;
    let active = 0;
    const starts = more.map((results) => nextOf(results).then(() => active++));
    await expect
      .poll(async () => {
        await addFeedItem(service, team, 'Active?');
        return active;
      })
      .toBe(20);
    await Promise.all(starts);
    await addFeedItem(service, team, LAST_SETUP_MESSAGE);
    const skipSetup = async (next: () => Promise<string>) => {
      while ((await next()) !== LAST_SETUP_MESSAGE);
    };
    await Promise.all([skipSetup(first.nextMessage), ...more.map((results) => skipSetup(() => nextOf(results)))]);

    const trips = await recordRoundTrips(async () => {
      await addFeedItem(service, team, 'for all');
      expect(await Promise.all([first.nextMessage(), ...more.map(nextOf)])).toEqual(Array(21).fill('for all'));
    });
    const reads = trips.flat().filter((text) => text.includes('dws.activity') && /^\s*select/i.test(text));
    const polls = reads.filter((text) => text.includes('pg_current_snapshot'));
    expect(polls.length).toBeLessThanOrEqual(2);
    expect(reads.length - polls.length).toBe(1);
    await first.dispose();
  });

  test('receives what is committed late, and nothing that is rolled back', async ({ service, admin, ann }) => {
    const team = await createTeam(admin, 'Late', ann);
    const subscriber = await subscribe(service, ann, team);
    const [written, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const add = (message: string, wait: () => Promise<void>) =>
      inTransaction(service, async (tx, tenantId) => {
        const resource = { id: team, name: 'Late', ownerId: `team:${team}` };
        // The rows then have the number of a part of the transaction.
        await tx.query({ text: 'savepoint part' });
        storeActivities(tx, { tenantId, userId: null }, [{ kind: 'team', resource, event: 'updated', message }]);
        await tx.query({ text: 'select 1' });
        await wait();
      });
    const late = add('late', () => {
      written.resolve();
      return commit.promise;
    });
    await written.promise;
    await expect(add('undone', () => Promise.reject(new Error('undone')))).rejects.toThrow('undone');
    await addFeedItem(service, team, 'early');
    expect(await subscriber.nextMessage()).toBe('early');
    commit.resolve();
    await late;
    expect(await subscriber.nextMessage()).toBe('late');
    await subscriber.dispose();
  });

  test('receives items and notifications that were created while Postgres was away, each once', async ({
    service,
    admin,
    ann,
  }) => {
    const team = await createTeam(admin, 'Restarted', ann);
    const proxy = new PostgresProxy(service.databaseUrl);
    await proxy.open();
    const cutOff = await startService({ ROLE: 'web' }, { databaseUrl: proxy.url });
    const here = at(cutOff.url, ann);
    const feed = await subscribe(service, here, team);
    const notifications = await subscribeActively(
      here,
      'notifications',
      'subscription { notifications { message } }',
      (message) => notifyUser(service, ann, message),
    );
    await proxy.close();
    await expect.poll(async () => (await here.request('GET', '/readyz')).status).toBe(503);
    await addFeedItem(service, team, 'meanwhile');
    await notifyUser(service, ann, 'meanwhile');
    await proxy.open();
    for (const subscriber of [feed, notifications]) expect(await subscriber.nextMessage()).toBe('meanwhile');
    await addFeedItem(service, team, 'afterwards');
    await notifyUser(service, ann, 'afterwards');
    for (const subscriber of [feed, notifications]) {
      expect(await subscriber.nextMessage()).toBe('afterwards');
      await subscriber.dispose();
    }
    await cutOff.close();
    await proxy.close();
  });
});

describe('a subscription to a feed', () => {
  const errorOf = (code: string, message: string) => [{ message, extensions: expect.objectContaining({ code }) }];
  const LACKS = errorOf('FORBIDDEN', 'You lack the permission team:participate');

  test('ends immediately for a member who leaves, in every process, and no other subscription does', async ({
    service,
    admin,
    ann,
  }) => {
    const leaver = await service.user('leaver');
    const team = await createTeam(admin, 'Leaving', ann, leaver);
    const otherProcess = await startService({ ROLE: 'web' }, { databaseUrl: service.databaseUrl });
    const here = await subscribe(service, leaver, team);
    const there = await subscribe(service, at(otherProcess.url, leaver), team);
    while ((await here.nextMessage()) !== LAST_SETUP_MESSAGE);
    const staying = await subscribe(service, ann, team);
    const notified = there.socket.iterate<{ notifications: { message: string } }>(
      'subscription { notifications { message } }',
      {},
    );
    const notification = notified.next();
    for (const subscriber of [here, there]) while ((await subscriber.nextMessage()) !== LAST_SETUP_MESSAGE);

    const ends = [here, there].map(({ results }) => results.next().catch((error: unknown) => error));
    await expectStatus(admin.delete(`/teams/${team}/members/leaver`), 204);
    // Without a new item.
    for (const end of ends) expect(await end).toMatchObject(LACKS);
    await addFeedItem(service, team, 'for those who stay');
    expect(await staying.nextMessage()).toBe('for those who stay');
    let isNotified = false;
    void notification.then(() => {
      isNotified = true;
    });
    await expect
      .poll(async () => {
        await notifyUser(service, leaver, 'still here');
        return isNotified;
      })
      .toBe(true);
    expect((await notification).value!.data).toEqual({ notifications: { message: 'still here' } });
    for (const subscriber of [here, there, staying]) await subscriber.dispose();
    await otherProcess.close();
  });

  test('ends for a superuser who is one no longer, and when the team is deleted', async ({ service, admin, ann }) => {
    const former = await service.user('former', { superuser: true });
    const team = await createTeam(admin, 'Ending', ann);
    const ofFormer = await subscribe(service, former, team);
    const ofMember = await subscribe(service, ann, team);
    const ofSuperuser = await subscribe(service, admin, team);
    const skipSetup = async ({ nextMessage }: typeof ofMember, count: number) => {
      for (let seen = 0; seen < count;) if ((await nextMessage()) === LAST_SETUP_MESSAGE) seen++;
    };
    await skipSetup(ofFormer, 2);
    await skipSetup(ofMember, 1);
    const session = await service.login('admin');
    await expectStatus(session.delete('/users/former/superuser'), 204);
    await expect(ofFormer.results.next()).rejects.toMatchObject(LACKS);

    await expectStatus(session.delete(`/teams/${team}`), 204);
    const gone = errorOf('NOT_FOUND', `There is no team ${team}`);
    for (const { results } of [ofMember, ofSuperuser]) await expect(results.next()).rejects.toMatchObject(gone);
    for (const subscriber of [ofFormer, ofMember, ofSuperuser]) await subscriber.dispose();
  });

  test('is refused to others than members and superusers, and to an unknown team', async ({
    admin,
    ann,
    bob,
    stranger,
  }) => {
    const team = await createTeam(admin, 'Closed', ann);
    for (const [client, id, error] of [
      [bob, team, LACKS],
      [stranger, team, errorOf('NOT_FOUND', `There is no team ${team}`)],
      [ann, UNKNOWN_ID, errorOf('NOT_FOUND', `There is no team ${UNKNOWN_ID}`)],
    ] as const) {
      const socket = openSocket(client);
      expect((await socket.iterate(documentOf(id), {}).next()).value).toMatchObject({ errors: error });
      await socket.dispose();
    }
  });
});
