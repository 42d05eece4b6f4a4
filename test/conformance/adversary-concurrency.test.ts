import { createClient } from 'graphql-ws';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import { expectError } from '../support/expect.ts';
import { createSource, test } from '../support/shop-fixture.ts';
import { WAITING_FOR_LOCKS } from '../support/waiting-locks.ts';

describe('a refresh and a concurrent change of its dataset', () => {
  const CONCURRENCY_KEY_LOCK = `hashtextextended('dws.concurrency_key:dataset:' || $1, 0)`;

  test('do not deadlock when another refresh ends at the same time', async ({ ann, source, service }) => {
    const { id } = await ann.creates('/datasets', {
      name: 'Crossing',
      datasourceId: source.id,
      query: 'select 1 as one',
    });
    const otherRefresh = new pg.Client(service.databaseUrl);
    await otherRefresh.connect();
    await otherRefresh.query('begin');
    await otherRefresh.query(`select pg_advisory_xact_lock(${CONCURRENCY_KEY_LOCK})`, [id]);
    const refreshed = ann.post(`/datasets/${id}/_refresh`, {});
    const countWaiting = async () => (await otherRefresh.query(WAITING_FOR_LOCKS)).rows.length;
    await expect.poll(countWaiting).toBe(1);
    const locked = await otherRefresh.query('select id from dws.dataset where id = $1 for update nowait', [id]);
    expect(locked.rows).toEqual([{ id }]);
    await otherRefresh.query('commit');
    await otherRefresh.end();
    expect(await refreshed).toMatchObject({ status: 200 });
  });

  test('deleting the dataset cancels its refresh, in the data source too', async ({ ann, source, shop }) => {
    const { id } = await ann.creates('/datasets', {
      name: 'Deleted',
      datasourceId: source.id,
      query: 'select pg_sleep(600)',
    });
    const refreshed = ann.post(`/datasets/${id}/_refresh`, {});
    const countSleeping = async () => {
      const rows = await shop.sql(
        `select pid
        from pg_stat_activity
        where datname = current_database()
          and state = 'active'
          and pid <> pg_backend_pid()
          and query like '%pg_sleep%'`,
      );
      return rows.length;
    };
    await expect.poll(countSleeping).toBe(1);
    expect(await ann.delete(`/datasets/${id}`)).toMatchObject({ status: 204 });
    expect(await refreshed).toMatchObject({ status: 409, body: { code: 'CANCELLED' } });
    await expect.poll(countSleeping).toBe(0);
  });
});

test('a user who is being deleted cannot become an owner', async ({ ann, source, service }) => {
  const leaver = await service.user('leaver');
  const deletion = new pg.Client(service.databaseUrl);
  await deletion.connect();
  await deletion.query('begin');
  await deletion.query('select id from dws.app_user where id = $1 for update', [leaver.id]);
  const created = ann.post('/datasets', {
    name: 'Owned by leaver',
    datasourceId: source.id,
    query: 'select 1 as one',
    ownerId: leaver.id,
  });
  const countWaiting = async () => {
    const { rows } = await deletion.query(
      `select count(*)::int as n
      from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0].n;
  };
  await expect.poll(countWaiting).toBe(1);
  await deletion.query('delete from dws.app_user where id = $1', [leaver.id]);
  await deletion.query('commit');
  await deletion.end();
  await expectError(created, 404, new RegExp(leaver.id));
});

test('a user who changes the owner gets the record as they still see it, and has no access afterwards', async ({
  ann,
  bob,
  source,
}) => {
  const input = { name: 'Gift', datasourceId: source.id, query: 'select 1 as one' };
  const hiddenRecord = { ownerId: bob.id, query: null, permissions: { read: false, write: false } };
  expect(await ann.post('/datasets', { ...input, ownerId: 'bob' })).toMatchObject({ status: 201, body: hiddenRecord });
  const { id } = await ann.creates('/datasets', input);
  expect(await ann.put(`/datasets/${id}`, { ownerId: 'bob' })).toMatchObject({
    status: 200,
    body: { id, ...hiddenRecord },
  });
  expect(await ann.get(`/datasets/${id}`)).toMatchObject({ status: 404 });
  const saved = await ann.creates('/queries', input);
  const mutation = `mutation ($id: ID!) {
    updateSavedQuery(id: $id, input: { ownerId: "bob" }) { id ownerId permissions { read } }
  }`;
  const { data, errors } = await ann.gql(mutation, { id: saved.id });
  expect({ data, errors }).toEqual({
    data: { updateSavedQuery: { id: saved.id, ownerId: bob.id, permissions: { read: false } } },
  });
  expect(await ann.get(`/queries/${saved.id}`)).toMatchObject({ status: 404 });
});

test('a subscription ends when the caller loses access', async ({ admin, bob, shop }) => {
  const team = await admin.creates('/teams', { name: 'Watchers' });
  await admin.put(`/teams/${team.id}/members/bob`, { role: 'member' });
  const shared = await createSource(admin, shop, { ownerId: `team:${team.id}` });
  const { id } = await admin.creates('/datasets', {
    name: 'Watched',
    datasourceId: shared.id,
    query: 'select 1 as one',
    ownerId: `team:${team.id}`,
    refresh: true,
  });
  const socket = createClient({
    url: `${bob.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: bob.headers.authorization },
    retryAttempts: 0,
  });
  const updates = socket.iterate({ query: `subscription { datasetUpdated(id: "${id}") { data { items } } }` });
  expect((await updates.next()).value).toMatchObject({ data: { datasetUpdated: { data: { items: [{ one: 1 }] } } } });

  const hasAccess = async () => (await bob.get(`/datasets/${id}`)).status === 200;
  await admin.delete(`/teams/${team.id}/members/bob`);
  await expect.poll(hasAccess).toBe(false);
  expect(await admin.post(`/datasets/${id}/_refresh`, {})).toMatchObject({ status: 200 });
  expect(await updates.next()).toMatchObject({ done: true });
  await socket.dispose();
});
