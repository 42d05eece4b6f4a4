import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createClient } from 'graphql-ws';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import type { Client } from '../support/client.ts';
import { makeSource, test } from '../support/shop-fixture.ts';

describe('hostile texts are the client’s fault, never ours', () => {
  test('half a character within JSON is refused in both APIs', async ({ ann }) => {
    for (const settings of [{ theme: '\ud800' }, { '\udc00': 1 }, { list: ['a', '\ud800'] }]) {
      expect(await ann.put('/me', { settings })).toMatchObject({
        status: 400,
        body: { code: 'BAD_USER_INPUT', message: 'Text must be well-formed Unicode' },
      });
      const { errors } = await ann.gql('mutation ($input: UpdateMeInput!) { updateMe(input: $input) { id } }', {
        input: { settings },
      });
      expect(errors).toMatchObject([
        { message: 'Text must be well-formed Unicode', extensions: { code: 'BAD_USER_INPUT' } },
      ]);
    }
  });

  test('an offset is no time zone, and a name in any case is one', async ({ ann, source }) => {
    const dataset = await ann.creates('/datasets', {
      name: 'Hours',
      datasourceId: source.id,
      query: `select timestamptz '2024-03-31 00:30Z' as at`,
      refresh: true,
    });
    const by = (timezone: string) =>
      ann.post(`/datasets/${dataset.id}/_aggregate`, {
        groupBy: [{ field: 'at', interval: 'day', timezone }],
        measures: [{ fn: 'count', as: 'n' }],
      });
    for (const timezone of ['+02:00', '-05', "'; drop", 'Mars/Olympus'])
      expect(await by(timezone), timezone).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('time zone') },
      });
    for (const timezone of ['Europe/Berlin', 'europe/berlin'])
      expect(await by(timezone), timezone).toMatchObject({
        status: 200,
        body: { rows: [['2024-03-30T23:00:00.000Z', 1]] },
      });
  });

  test('a subscription by plain HTTP is told where to go', async ({ ann }) => {
    const { status, errors } = await ann.gql('subscription { progress(id: "x") { id } }');
    expect(status).toBe(400);
    expect(errors).toMatchObject([
      { message: expect.stringContaining('WebSocket'), extensions: { code: 'BAD_USER_INPUT' } },
    ]);
  });

  test('a value nested by the thousand is a limit that was passed', async ({ ann }) => {
    const { status, errors } = await ann.gql(
      `mutation { updateMe(input: {settings: {a: ${'['.repeat(4500)}${']'.repeat(4500)}}}) { id } }`,
    );
    expect(status).toBe(400);
    expect(errors).toMatchObject([{ extensions: { code: 'GRAPHQL_LIMIT' } }]);
  });

  test('rows count towards the cost of an operation', async ({ ann, source }) => {
    const dataset = await ann.creates('/datasets', { name: 'Rows', datasourceId: source.id, query: 'select 1 as one' });
    const rows = (alias: string) => `${alias}: dataset(id: "${dataset.id}") { data(limit: 10000) { items } }`;
    expect((await ann.gql(`{ ${rows('a')} }`)).errors).toBeUndefined();
    expect(await ann.gql(`{ ${['a', 'b', 'c', 'd', 'e'].map(rows).join(' ')} }`)).toMatchObject({
      status: 400,
      errors: [{ extensions: { code: 'GRAPHQL_LIMIT' } }],
    });
  });

  test('many regular expressions together are bounded as one is', async ({ ann, source }) => {
    const dataset = await ann.creates('/datasets', {
      name: 'Words',
      datasourceId: source.id,
      query: `select 'abc' as s`,
      refresh: true,
    });
    const search = (sources: string[]) =>
      ann.post(`/datasets/${dataset.id}/_search`, { filter: { $or: sources.map(($regex) => ({ s: { $regex } })) } });
    expect(await search(Array.from({ length: 1000 }, (_, i) => `^abc${i}?`))).toMatchObject({
      status: 200,
      body: { count: 1 },
    });
    expect(await search(Array.from({ length: 100 }, (_, i) => `(a{20}){20}${i}`))).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('$regex') },
    });
  });
});

describe('what fails at the source fails as the specification says', () => {
  test('a refresh or run whose query the source refuses is 500 with the source’s words, and the rows stay', async ({
    ann,
    source,
  }) => {
    const dataset = await ann.creates('/datasets', {
      name: 'Kept',
      datasourceId: source.id,
      query: 'select 1 as one',
      refresh: true,
    });
    await ann.put(`/datasets/${dataset.id}`, { query: 'select nothing' });
    for (const verb of ['_refresh', '_run']) {
      expect(await ann.post(`/datasets/${dataset.id}/${verb}`, {}), verb).toMatchObject({
        status: 500,
        body: { code: 'UPSTREAM_FAILED', message: expect.stringContaining('nothing') },
      });
    }
    expect((await ann.get(`/datasets/${dataset.id}/data`)).body).toMatchObject({
      total: 1,
      _embedded: { 'svc:record': [{ one: 1 }] },
    });
    expect((await ann.get(`/datasets/${dataset.id}`)).body).toMatchObject({
      records: 1,
      lastRefresh: { success: false, error: expect.stringContaining('nothing') },
    });
  });

  test('an error of a plain answer carries the id of its request', async ({ admin }) => {
    const dead = await admin.creates('/datasources', {
      name: 'Dead',
      type: 'postgres',
      config: { host: '127.0.0.1', port: 1, database: 'd', user: 'u' },
    });
    const { status, headers, body } = await admin.get(`/datasources/${dead.id}/schema`);
    expect(status).toBe(500);
    expect(body).toMatchObject({ code: 'UPSTREAM_FAILED', requestId: headers.get('x-request-id') });
  });

  test('an answer for people is cut where it is too long to read, without reading on', async ({ ann, source }) => {
    const { status, body } = await ann.post(`/datasources/${source.id}/_query`, {
      query: `select g, repeat('x', 3000000) as x from generate_series(1, 100000) g`,
      limit: 1000,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ truncated: true });
    expect(body.rows.length).toBeLessThan(10);
  });
});

describe('a server that a datasource names cannot harm the service', () => {
  const message = (kind: string, length: number, body = Buffer.alloc(Math.max(0, length - 4))) => {
    const head = Buffer.from(`${kind}....`);
    head.writeUInt32BE(length, 1);
    return Buffer.concat([head, body]);
  };
  const unknownAuthentication = message('R', 8, Buffer.from([0, 0, 0, 99]));
  const cutRow = message('D', 6, Buffer.from([0x7f, 0xff]));
  const ok = message('R', 8);
  const ready = message('Z', 5, Buffer.from('I'));

  const tried = async (maker: Client, answer: (socket: Socket) => void) => {
    const server = createServer((socket) => socket.on('error', () => {}).once('data', () => answer(socket))).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    const { id } = await maker.creates('/datasources', {
      name: 'Hostile',
      type: 'postgres',
      config: { host: '127.0.0.1', port: (server.address() as AddressInfo).port, database: 'd', user: 'u' },
    });
    const tested = await maker.post(`/datasources/${id}/_test`);
    server.close();
    return tested;
  };

  test.for([
    ['an authentication that does not exist', [unknownAuthentication]],
    ['a row without its values', [ok, ready, cutRow]],
    ['a message of two gigabytes', [ok, message('S', 2 ** 31, Buffer.alloc(100))]],
    ['a message shorter than its own length', [ok, message('S', 0, Buffer.alloc(0)), Buffer.alloc(100)]],
    ['noise', [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(50))]],
  ] as const)('by %s', async ([, bytes], { admin }) => {
    expect(await tried(admin, (socket) => bytes.forEach((part) => socket.write(part)))).toMatchObject({
      status: 200,
      body: { ok: false, message: expect.any(String) },
    });
    expect(await admin.get('/session')).toMatchObject({ status: 200 });
  });

  test('by a row that is longer than memory', async ({ ann, source }) => {
    expect(
      await ann.post(`/datasources/${source.id}/_query`, { query: `select repeat('x', 100000000) as x` }),
    ).toMatchObject({ status: 400, body: { message: expect.stringContaining('MiB') } });
  });
});

describe('refreshes and what else is done to their dataset', () => {
  const CONCURRENCY_KEY_LOCK = `hashtextextended('dws.concurrency_key:dataset:' || $1, 0)`;

  test('a refresh that is asked for while another ends cannot wait for it while it waits for us', async ({
    ann,
    source,
    service,
  }) => {
    const { id } = await ann.creates('/datasets', {
      name: 'Crossing',
      datasourceId: source.id,
      query: 'select 1 as one',
    });
    const ending = new pg.Client(service.databaseUrl);
    await ending.connect();
    await ending.query('begin');
    await ending.query(`select pg_advisory_xact_lock(${CONCURRENCY_KEY_LOCK})`, [id]);
    const asked = ann.post(`/datasets/${id}/_refresh`, {});
    await expect
      .poll(
        async () =>
          (await ending.query(`select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted`))
            .rows[0].n,
        { timeout: 20_000 },
      )
      .toBe(1);
    expect((await ending.query('select id from dws.dataset where id = $1 for update nowait', [id])).rows).toEqual([
      { id },
    ]);
    await ending.query('commit');
    await ending.end();
    expect(await asked).toMatchObject({ status: 200 });
  });

  test('deleting a dataset stops its refresh, down to the source', async ({ ann, source, shop }) => {
    const { id } = await ann.creates('/datasets', {
      name: 'Going',
      datasourceId: source.id,
      query: 'select pg_sleep(600)',
    });
    const refreshed = ann.post(`/datasets/${id}/_refresh`, {});
    const sleepers = async () =>
      (
        await shop.sql(
          `select pid from pg_stat_activity where datname = current_database() and state = 'active' and pid <> pg_backend_pid() and query like '%pg_sleep%'`,
        )
      ).length;
    await expect.poll(sleepers, { timeout: 20_000 }).toBe(1);
    expect(await ann.delete(`/datasets/${id}`)).toMatchObject({ status: 204 });
    expect(await refreshed).toMatchObject({ status: 409, body: { code: 'CANCELLED' } });
    expect(await sleepers()).toBe(0);
  });

  test('a list is asked for by its owner’s name as well, and nobody’s is not found', async ({ ann, bob, source }) => {
    await ann.creates('/datasets', { name: 'Owned', datasourceId: source.id, query: 'select 1 as one' });
    const total = async (ownerId: string) => (await ann.get(`/datasets?ownerId=${ownerId}`)).body.total;
    expect(await total('ann')).toBe(await total(ann.id));
    expect(await total('ann')).toBeGreaterThan(0);
    expect(await total(bob.username)).toBe(0);
    for (const path of ['/datasets', '/datasources', '/queries'])
      expect(await ann.get(`${path}?ownerId=ghost`), path).toMatchObject({
        status: 404,
        body: { message: 'There is no user ghost' },
      });
  });
});

test('null clears where something can be without, and is refused elsewhere instead of being passed over', async ({
  ann,
  source,
}) => {
  const { id } = await ann.creates('/datasets', {
    name: 'Clear',
    description: 'x',
    datasourceId: source.id,
    query: 'select 1 as one',
    settings: { a: 1 },
  });
  expect(
    await ann.put(`/datasets/${id}`, { description: null, folderId: null, queryId: null, settings: null, flow: null }),
  ).toMatchObject({ status: 200, body: { description: null, settings: {}, flow: [] } });
  for (const key of ['name', 'slug', 'ownerId', 'query', 'datasourceId']) {
    expect(await ann.put(`/datasets/${id}`, { [key]: null }), key).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(key) },
    });
    expect(
      (
        await ann.gql(
          'mutation ($id: ID!, $input: UpdateDatasetInput!) { updateDataset(id: $id, input: $input) { id } }',
          { id, input: { [key]: null } },
        )
      ).errors,
      key,
    ).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  }
});

test('nothing is given to somebody who is being deleted', async ({ ann, source, service }) => {
  const leaver = await service.user('leaver');
  const ending = new pg.Client(service.databaseUrl);
  await ending.connect();
  await ending.query('begin');
  await ending.query('select id from dws.app_user where id = $1 for update', [leaver.id]);
  const given = ann.post('/datasets', {
    name: 'Given',
    datasourceId: source.id,
    query: 'select 1 as one',
    ownerId: leaver.id,
  });
  await expect
    .poll(
      async () =>
        (
          await ending.query(
            `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        ).rows[0].n,
      { timeout: 20_000 },
    )
    .toBe(1);
  await ending.query('delete from dws.app_user where id = $1', [leaver.id]);
  await ending.query('commit');
  await ending.end();
  expect(await given).toMatchObject({ status: 404, body: { message: expect.stringContaining(leaver.id) } });
});

test('who gives something away is told what became of it, and is out from then on', async ({ ann, bob, source }) => {
  const made = { name: 'Gift', datasourceId: source.id, query: 'select 1 as one' };
  const hidden = { ownerId: bob.id, query: null, permissions: { read: false, write: false } };
  expect(await ann.post('/datasets', { ...made, ownerId: 'bob' })).toMatchObject({ status: 201, body: hidden });
  const { id } = await ann.creates('/datasets', made);
  expect(await ann.put(`/datasets/${id}`, { ownerId: 'bob' })).toMatchObject({ status: 200, body: { id, ...hidden } });
  expect(await ann.get(`/datasets/${id}`)).toMatchObject({ status: 404 });
  const saved = await ann.creates('/queries', made);
  const { data, errors } = await ann.gql(
    'mutation ($id: ID!) { updateSavedQuery(id: $id, input: {ownerId: "bob"}) { id ownerId permissions { read } } }',
    { id: saved.id },
  );
  expect({ data, errors }).toEqual({
    data: { updateSavedQuery: { id: saved.id, ownerId: bob.id, permissions: { read: false } } },
  });
  expect(await ann.get(`/queries/${saved.id}`)).toMatchObject({ status: 404 });
});

test('a subscription shows nothing more to who lost the right to it', async ({ admin, bob, shop }) => {
  const team = await admin.creates('/teams', { name: 'Watchers' });
  await admin.put(`/teams/${team.id}/members/bob`, { role: 'member' });
  const shared = await makeSource(admin, shop, { ownerId: `team:${team.id}` });
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
  const told = socket.iterate({ query: `subscription { datasetUpdated(id: "${id}") { data { items } } }` });
  expect((await told.next()).value).toMatchObject({ data: { datasetUpdated: { data: { items: [{ one: 1 }] } } } });

  const isMember = async () => (await bob.get(`/datasets/${id}`)).status === 200;
  await admin.delete(`/teams/${team.id}/members/bob`);
  await expect.poll(isMember).toBe(false);
  expect(await admin.post(`/datasets/${id}/_refresh`, {})).toMatchObject({ status: 200 });
  expect(await told.next()).toMatchObject({ done: true });
  await socket.dispose();
});
