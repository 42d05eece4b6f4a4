import { describe, expect } from 'vitest';
import { UNKNOWN } from '../conformance/calls.ts';
import { ORDERS_QUERY } from '../support/shop-fixture.ts';
import { count, draftOf, fileOf, rowsOf, swept, test, WORLDS } from './dataset-copy-fixture.ts';

const names = (body: { _embedded: Record<string, { name: string }[]> }) =>
  body._embedded['svc:snapshot']!.map(({ name }) => name);

describe.each(WORLDS)('on $index', { timeout: 120_000 }, ({ test }) => {
  test('a snapshot keeps the rows of its moment, whatever becomes of the dataset', async ({
    ann,
    orders,
    shop,
    service,
  }) => {
    const dataset = await orders();
    const { status, body: made } = await ann.post(`/datasets/${dataset.id}/snapshots`, {
      name: 'January',
      description: 'before the sale',
    });
    expect(status).toBe(200);
    expect(made).toMatchObject({
      name: 'January',
      description: 'before the sale',
      slug: 'january',
      parentId: dataset.id,
      isSnapshot: true,
      isDraft: false,
      snapshotDate: expect.stringMatching(/Z$/),
      datasourceId: dataset.datasourceId,
      query: ORDERS_QUERY,
      params: [],
      flow: [],
      fields: dataset.fields,
      records: 20,
      size: expect.any(Number),
      sizeFormatted: expect.any(String),
      dataUpdatedAt: dataset.dataUpdatedAt,
      ownerId: ann.id,
      permissions: { read: true, write: true, copy: true },
      _links: {
        self: { href: `/api/datasets/${dataset.id}/snapshots/${made.id}` },
        'svc:parent': { href: `/api/datasets/${dataset.id}` },
        'svc:data': { href: `/api/datasets/${made.id}/data` },
      },
    });
    expect(made.esIndex).not.toBe(dataset.esIndex);

    await shop.sql('insert into orders values (21, $$EU$$, 5)');
    try {
      expect(await ann.post(`/datasets/${dataset.id}/_refresh`, {})).toMatchObject({
        status: 200,
        body: { records: 21 },
      });
      expect(await swept(service)).toContain(made.esIndex);
      expect([await rowsOf(ann, made.id), await rowsOf(ann, dataset.id)]).toEqual([count(20), count(21)]);
      expect((await ann.get(`/datasets/${dataset.id}/snapshots/${made.id}`)).body).toMatchObject({
        id: made.id,
        esIndex: made.esIndex,
        records: 20,
        fields: dataset.fields,
      });
    } finally {
      await shop.sql('delete from orders where id = 21');
    }
  });

  test('a snapshot is listed, renamed and deleted with its rows, in both APIs', async ({ ann, orders, service }) => {
    const { id } = await orders();
    const path = `/datasets/${id}/snapshots`;
    const first = await ann.creates(path, { name: 'First' });
    const { createSnapshot } = await ann.data(
      `mutation { createSnapshot(datasetId: "${id}", input: { name: "Second", description: "d" }) { operation { status percent result } result { id name description isSnapshot records parent { id } esIndex } } }`,
    );
    const second = createSnapshot.result;
    expect(createSnapshot).toEqual({
      operation: { status: 'SUCCEEDED', percent: 100, result: { id: second.id, name: 'Second', records: 20 } },
      result: {
        id: second.id,
        name: 'Second',
        description: 'd',
        isSnapshot: true,
        records: 20,
        parent: { id },
        esIndex: expect.any(String),
      },
    });

    const list = (await ann.get(`/datasets/${id}/snapshot-list`)).body;
    expect(list).toMatchObject({
      total: 2,
      count: 2,
      start: 0,
      _embedded: {
        'svc:snapshot': [
          { name: 'Second', records: 20, size: expect.any(Number), sizeFormatted: expect.stringMatching(/B$/) },
          { id: first.id, name: 'First' },
        ],
      },
    });
    expect(names((await ann.get(`/datasets/${id}/snapshot-list?limit=1&start=1`)).body)).toEqual(['First']);
    expect(
      (
        await ann.data(
          `{ dataset(id: "${id}") { snapshots(limit: 1) { items { name records } total } snapshot(id: "${first.id}") { name parentId snapshotDate } parent { id } } }`,
        )
      ).dataset,
    ).toEqual({
      snapshots: { items: [{ name: 'Second', records: 20 }], total: 2 },
      snapshot: { name: 'First', parentId: id, snapshotDate: first.snapshotDate },
      parent: null,
    });
    expect((await ann.get('/datasets?q=First')).body.total).toBe(0);
    expect((await ann.get('/search?q=First')).body.total).toBe(0);

    expect(await ann.put(`${path}/${first.id}`, { name: 'Eldest', description: 'the first' })).toMatchObject({
      status: 200,
      body: { id: first.id, name: 'Eldest', description: 'the first', parentId: id, records: 20 },
    });
    expect(
      await ann.data(
        `mutation { updateSnapshot(datasetId: "${id}", id: "${second.id}", input: { name: "Latest", description: null }) { name description } }`,
      ),
    ).toEqual({ updateSnapshot: { name: 'Latest', description: null } });
    expect(names((await ann.get(`/datasets/${id}/snapshot-list`)).body)).toEqual(['Latest', 'Eldest']);

    expect(await ann.delete(`${path}/${first.id}`)).toMatchObject({ status: 204, body: '' });
    expect(await ann.data(`mutation { deleteSnapshot(datasetId: "${id}", id: "${second.id}") }`)).toEqual({
      deleteSnapshot: second.id,
    });
    expect((await ann.get(`/datasets/${id}/snapshot-list`)).body.total).toBe(0);
    expect(await ann.get(`${path}/${first.id}`)).toMatchObject({
      status: 404,
      body: { message: `There is no snapshot ${first.id}` },
    });
    expect(await ann.get(`/datasets/${second.id}/data`)).toMatchObject({ status: 404 });
    const left = await swept(service);
    expect([first.esIndex, second.esIndex].filter((one) => left.includes(one))).toEqual([]);
    expect(await rowsOf(ann, id)).toEqual(count(20));
  });

  test('a promoted snapshot is an independent dataset, itself or beside the snapshot, and outlives its origin', async ({
    ann,
    orders,
    service,
  }) => {
    const { id } = await orders();
    const path = `/datasets/${id}/snapshots`;
    const [moved, kept] = [
      await ann.creates(path, { name: 'Moved', description: 'd' }),
      await ann.creates(path, { name: 'Kept', description: 'k' }),
    ];

    const itself = await ann.post(`${path}/${moved.id}/promote`, { name: 'On its own' });
    expect(itself).toMatchObject({
      status: 200,
      body: {
        id: moved.id,
        name: 'On its own',
        slug: 'on-its-own',
        description: 'd',
        parentId: null,
        isSnapshot: false,
        snapshotDate: null,
        records: 20,
        esIndex: moved.esIndex,
        query: ORDERS_QUERY,
        ownerId: ann.id,
        _links: { self: { href: `/api/datasets/${moved.id}` } },
      },
    });
    expect(itself.body._links['svc:parent']).toBeUndefined();
    const promoted = `mutation { promoteSnapshot(datasetId: "${id}", id: "${kept.id}", input: { name: "Beside", preserveSnapshot: true }) { operation { operation status } result { id name slug description parent { id } isSnapshot snapshotDate records esIndex } } }`;
    const {
      promoteSnapshot: { operation, result: beside },
    } = await ann.data(promoted);
    expect(operation).toEqual({ operation: 'dataset.promote', status: 'SUCCEEDED' });
    expect(beside).toMatchObject({
      name: 'Beside',
      slug: 'beside',
      description: 'k',
      parent: null,
      isSnapshot: false,
      snapshotDate: null,
      records: 20,
    });
    expect([beside.id, beside.esIndex]).not.toEqual([kept.id, kept.esIndex]);
    expect((await ann.get(`/datasets/${id}/snapshot-list`)).body._embedded['svc:snapshot']).toMatchObject([
      { id: kept.id, name: 'Kept', isSnapshot: true, esIndex: kept.esIndex },
    ]);
    expect((await ann.get('/datasets?q=On%20its%20own')).body.total).toBe(1);
    expect((await ann.get('/search?q=On%20its%20own')).body.total).toBe(1);

    expect(await ann.delete(`/datasets/${id}`)).toMatchObject({ status: 204 });
    expect(await ann.get(`/datasets/${kept.id}`)).toMatchObject({ status: 404 });
    const left = await swept(service);
    expect([moved.esIndex, kept.esIndex, beside.esIndex].map((one) => left.includes(one))).toEqual([true, false, true]);
    expect([await rowsOf(ann, moved.id), await rowsOf(ann, beside.id)]).toEqual([count(20), count(20)]);
    expect(await ann.post(`/datasets/${moved.id}/_refresh`, {})).toMatchObject({ status: 200, body: { records: 20 } });
  });

  test('who sees a part of the dataset sees the same part of its snapshots', async ({ ann, bob, orders }) => {
    const { id } = await orders({ fieldSecurityEnabled: true });
    const snapshot = await ann.creates(`/datasets/${id}/snapshots`, { name: 'Partly' });
    const filter = await ann.creates(`/datasets/${id}/filters`, { name: 'Big', criteria: { amount: { $gte: 110 } } });
    await ann.put(`/datasets/${id}/shares/bob`, {
      accessLevel: 3,
      datasetFilterId: filter.id,
      restrictFields: true,
      visibleFields: ['id', 'region'],
    });
    const seen = await bob.get(`/datasets/${id}/snapshots/${snapshot.id}`);
    expect(seen).toMatchObject({
      status: 200,
      body: {
        records: 10,
        size: null,
        sizeFormatted: null,
        query: null,
        params: null,
        flow: null,
        esIndex: null,
        fields: [{ name: 'id' }, { name: 'region' }],
        permissions: { read: true, copy: false, write: false },
      },
    });
    expect(seen.body.fields).toHaveLength(2);
    expect((await bob.get(`/datasets/${id}/snapshot-list`)).body).toMatchObject({
      total: 1,
      _embedded: { 'svc:snapshot': [{ id: snapshot.id, records: null, size: null }] },
    });
    expect(
      (
        await bob.data(
          `{ dataset(id: "${id}") { snapshots { items { records } } snapshot(id: "${snapshot.id}") { records fields { name } data(sort: "id", limit: 1) { items total } } } }`,
        )
      ).dataset,
    ).toEqual({
      snapshots: { items: [{ records: null }] },
      snapshot: {
        records: 10,
        fields: [{ name: 'id' }, { name: 'region' }],
        data: { items: [{ id: 11, region: null }], total: 10 },
      },
    });
    expect(await rowsOf(bob, snapshot.id)).toEqual(count(20).slice(10));
    expect(await bob.get(`/datasets/${snapshot.id}/data?sort=amount`)).toMatchObject({
      status: 400,
      body: { message: 'Unknown field "amount"' },
    });
    expect((await bob.get(`/datasets/${snapshot.id}/export?format=ndjson`)).body.trim().split('\n')).toHaveLength(10);
    for (const call of [
      () => bob.post(`/datasets/${id}/snapshots`, { name: 'x' }),
      () => bob.post(`/datasets/${id}/snapshots/${snapshot.id}/promote`, { name: 'x', preserveSnapshot: true }),
      () => bob.post(`/datasets/${snapshot.id}/copy`, { name: 'x' }),
    ]) {
      expect(await call()).toMatchObject({ status: 403, body: { message: 'You lack the permission dataset:copy' } });
    }
    for (const call of [
      () => bob.put(`/datasets/${id}/snapshots/${snapshot.id}`, { name: 'x' }),
      () => bob.delete(`/datasets/${id}/snapshots/${snapshot.id}`),
    ]) {
      expect(await call()).toMatchObject({ status: 403, body: { message: 'You lack the permission dataset:write' } });
    }
  });
});

test('a snapshot costs no copy of the rows: the files are the same', async ({ ann, orders, service }) => {
  const { id, esIndex } = await orders();
  const snapshot = await ann.creates(`/datasets/${id}/snapshots`, { name: 'Linked' });
  const promoted = (
    await ann.post(`/datasets/${id}/snapshots/${snapshot.id}/promote`, { name: 'Linked too', preserveSnapshot: true })
  ).body;
  const [one, other, third] = [
    await fileOf(service, esIndex),
    await fileOf(service, snapshot.esIndex),
    await fileOf(service, promoted.esIndex),
  ];
  expect([other.ino, third.ino]).toEqual([one.ino, one.ino]);
  expect(one.nlink).toBeGreaterThanOrEqual(3);
});

test('a reader of the whole takes snapshots and owns them, without the query whose datasource they cannot read', async ({
  ann,
  bob,
  orders,
}) => {
  const { id } = await orders({ flow: [{ type: 'limit', n: 20 }] });
  await ann.put(`/datasets/${id}/shares/bob`, { accessLevel: 1 });
  const made = await bob.post(`/datasets/${id}/snapshots`, { name: 'Bob’s' });
  expect(made).toMatchObject({
    status: 200,
    body: {
      ownerId: bob.id,
      records: 20,
      query: null,
      datasourceId: null,
      params: [],
      flow: [],
      permissions: { write: true, delete: true },
    },
  });
  const path = `/datasets/${id}/snapshots/${made.body.id}`;
  const anns = await ann.creates(`/datasets/${id}/snapshots`, { name: 'Ann’s' });
  expect((await bob.get(`/datasets/${id}/snapshots/${anns.id}`)).body).toMatchObject({
    query: null,
    flow: null,
    esIndex: null,
    records: 20,
    permissions: { write: false, copy: true },
  });
  expect(await bob.put(`/datasets/${id}/snapshots/${anns.id}`, { name: 'x' })).toMatchObject({
    status: 403,
    body: { message: 'You lack the permission dataset:write' },
  });
  expect(await bob.post(`/datasets/${id}/snapshots/${anns.id}/promote`, { name: 'x' })).toMatchObject({
    status: 403,
    body: { message: 'You lack the permission dataset:write' },
  });
  expect((await bob.gql(`mutation { deleteSnapshot(datasetId: "${id}", id: "${anns.id}") }`)).errors).toMatchObject([
    { message: 'You lack the permission dataset:write', extensions: { code: 'FORBIDDEN' } },
  ]);
  expect(await bob.put(path, { name: 'Mine' })).toMatchObject({ status: 200, body: { name: 'Mine' } });
  const own = await bob.post(`/datasets/${id}/snapshots/${anns.id}/promote`, {
    name: 'Bob’s own',
    preserveSnapshot: true,
  });
  expect(own).toMatchObject({
    status: 200,
    body: { ownerId: bob.id, parentId: null, records: 20, query: null, datasourceId: null, flow: [] },
  });
});

test('who made a snapshot sees no more of it than of its dataset, once their share shrinks or goes', async ({
  ann,
  bob,
  orders,
}) => {
  const { id } = await orders();
  const share = `/datasets/${id}/shares/bob`;
  await ann.put(share, { accessLevel: 2 });
  const snapshot = await bob.creates(`/datasets/${id}/snapshots`, { name: 'Bob’s own' });
  const path = `/datasets/${id}/snapshots/${snapshot.id}`;
  const filter = await ann.creates(`/datasets/${id}/filters`, { name: 'Small', criteria: { amount: { $lte: 30 } } });
  await ann.put(share, { accessLevel: 2, datasetFilterId: filter.id });
  expect((await bob.get(path)).body).toMatchObject({
    records: 3,
    query: null,
    permissions: { write: false, delete: false, copy: false },
  });
  expect(await rowsOf(bob, snapshot.id)).toEqual([1, 2, 3]);
  for (const call of [
    bob.put(path, { name: 'x' }),
    bob.delete(path),
    bob.delete(`/datasets/${snapshot.id}`),
    bob.post(`${path}/promote`, { name: 'x' }),
  ])
    expect(await call).toMatchObject({ status: 403 });
  await ann.delete(share);
  for (const call of [
    bob.get(path),
    bob.get(`/datasets/${snapshot.id}`),
    bob.get(`/datasets/${snapshot.id}/data`),
    bob.put(path, { name: 'x' }),
    bob.post(`${path}/promote`, { name: 'x' }),
  ])
    expect(await call).toMatchObject({ status: 404 });

  // Promoted by somebody else it is theirs: what its maker may not see does not come back to them.
  expect((await ann.post(`${path}/promote`, { name: 'Ann’s now' })).body).toMatchObject({
    id: snapshot.id,
    ownerId: ann.id,
    parentId: null,
  });
  expect(await bob.get(`/datasets/${snapshot.id}`)).toMatchObject({ status: 404 });
});

test('a snapshot keeps its rows and its query', async ({ ann, admin, orders, source }) => {
  const query = await ann.creates('/queries', {
    name: 'Q',
    datasourceId: source.id,
    query: 'select id from orders where id <= {{most}}',
    params: [{ name: 'most', dataType: 'number', defaultValue: 5 }],
  });
  const { id } = await orders({
    datasourceId: undefined,
    query: undefined,
    queryId: query.id,
    flow: [{ type: 'limit', n: 4 }],
  });
  const snapshot = await ann.creates(`/datasets/${id}/snapshots`, { name: 'Frozen' });
  expect(snapshot).toMatchObject({
    records: 4,
    query: query.query,
    datasourceId: source.id,
    params: [{ name: 'most', defaultValue: 5 }],
    flow: [{ type: 'limit', n: 4 }],
  });
  await ann.put(`/queries/${query.id}`, { query: 'select 1 as id', params: [] });
  const path = `/datasets/${id}/snapshots/${snapshot.id}`;
  expect((await ann.get(path)).body).toMatchObject({ query: query.query });

  const keeps = { status: 409, body: { message: 'A snapshot keeps its rows' } };
  for (const verb of ['_refresh', '_run', '_benchmark', '_syncFields'])
    expect(await ann.post(`/datasets/${snapshot.id}/${verb}`, {}), verb).toMatchObject(keeps);
  for (const verb of ['_refresh-internal', '_benchmark-internal'])
    expect(await admin.post(`/datasets/${snapshot.id}/${verb}`, {}), verb).toMatchObject(keeps);
  expect(
    (await ann.gql(`mutation { refreshDataset(id: "${snapshot.id}") { result { records } } }`)).errors,
  ).toMatchObject([{ message: 'A snapshot keeps its rows', extensions: { code: 'CONFLICT' } }]);
  expect(await ann.put(`/datasets/${snapshot.id}`, { query: 'select 2 as id', params: [] })).toMatchObject(keeps);
  expect(await ann.put(`/datasets/${snapshot.id}`, { flow: [] })).toMatchObject(keeps);
  const whole = await ann.get(`/datasets/${snapshot.id}`);
  expect(
    await ann.put(`/datasets/${snapshot.id}`, { ...whole.body, name: 'Sent back' }),
    'an answer can be sent back',
  ).toMatchObject({ status: 200, body: { name: 'Sent back' } });

  expect(
    await ann.put(path, { ...(await ann.get(path)).body, description: 'sent back' }),
    'an answer can be sent back',
  ).toMatchObject({ status: 200, body: { description: 'sent back', query: query.query } });
  expect(await ann.put(path, { query: 'select 2 as id' })).toMatchObject({
    status: 400,
    body: { message: '"query" cannot be changed' },
  });
  expect(await ann.put(path, { name: null })).toMatchObject({ status: 400 });
  expect(await rowsOf(ann, snapshot.id)).toEqual([1, 2, 3, 4]);
});

test('a snapshot is neither shared nor given away but with its dataset', async ({ ann, bob, orders }) => {
  const { id } = await orders();
  const { id: snapshot } = await ann.creates(`/datasets/${id}/snapshots`, { name: 'Stays' });
  expect(await ann.put(`/datasets/${snapshot}/shares/bob`, { accessLevel: 1 })).toMatchObject({
    status: 409,
    body: { message: 'A draft or snapshot is shared with its dataset' },
  });
  expect(await ann.put(`/datasets/${snapshot}/owner`, { ownerId: bob.id })).toMatchObject({
    status: 409,
    body: { message: 'The owner of a draft or snapshot cannot change' },
  });
  expect(
    (await ann.gql(`mutation { setDatasetOwner(id: "${snapshot}", ownerId: "${bob.id}") { id } }`)).errors,
  ).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);
  expect(await ann.put(`/datasets/${snapshot}/owner`, { ownerId: ann.id })).toMatchObject({ status: 200 });
});

test('what cannot be kept, or is no snapshot of the dataset, is refused', async ({ ann, orders, service }) => {
  const { id } = await orders();
  const [empty, other] = [await orders({ refresh: false }), await orders()];
  const snapshot = await ann.creates(`/datasets/${id}/snapshots`, { name: 'One' });
  expect(await ann.post(`/datasets/${empty.id}/snapshots`, { name: 'x' })).toMatchObject({
    status: 409,
    body: { message: 'The dataset has no rows yet: refresh it first' },
  });
  expect(
    (await ann.gql(`mutation { createSnapshot(datasetId: "${empty.id}", input: { name: "x" }) { operation { id } } }`))
      .errors,
  ).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);
  const draft = await draftOf(service, id);
  for (const part of [snapshot.id, draft])
    expect(await ann.post(`/datasets/${part}/snapshots`, { name: 'x' })).toMatchObject({
      status: 409,
      body: { message: 'A draft or snapshot has no snapshots of its own' },
    });
  expect(await ann.post(`/datasets/${id}/snapshots`, { name: ' ' })).toMatchObject({
    status: 400,
    body: { message: 'name is required' },
  });
  expect(await ann.post(`/datasets/${id}/snapshots`, {})).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('name') },
  });
  expect(await ann.post(`/datasets/${id}/snapshots/${snapshot.id}/promote`, {})).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('name') },
  });

  for (const [parent, child] of [
    [other.id, snapshot.id],
    [id, other.id],
    [id, draft],
    [id, UNKNOWN],
    [id, 'one'],
  ] as const) {
    const none = { status: 404, body: { message: `There is no snapshot ${child}` } };
    const path = `/datasets/${parent}/snapshots/${child}`;
    for (const call of [
      ann.get(path),
      ann.put(path, { name: 'x' }),
      ann.delete(path),
      ann.post(`${path}/promote`, { name: 'x' }),
    ])
      expect(await call, path).toMatchObject(none);
    expect((await ann.gql(`{ dataset(id: "${parent}") { snapshot(id: "${child}") { id } } }`)).errors).toMatchObject([
      { message: none.body.message, extensions: { code: 'NOT_FOUND' } },
    ]);
    expect(
      (
        await ann.gql(
          `mutation { promoteSnapshot(datasetId: "${parent}", id: "${child}", input: { name: "x" }) { operation { id } } }`,
        )
      ).errors,
    ).toMatchObject([{ message: none.body.message }]);
  }
  expect(names((await ann.get(`/datasets/${id}/snapshot-list`)).body)).toEqual(['One']);
  expect((await ann.post(`/datasets/${id}/snapshots/${snapshot.id}/promote`, { name: 'Free' })).status).toBe(200);
  expect(await ann.post(`/datasets/${id}/snapshots/${snapshot.id}/promote`, { name: 'Free' })).toMatchObject({
    status: 404,
  });
});

test('a client that does not wait follows the operation by its own name for it', async ({ ann, orders }) => {
  const { id } = await orders();
  const follow = async (path: string, body: object, operation: string) => {
    const {
      status,
      headers,
      body: begun,
    } = await ann.post(path, { ...body, progress: 4711 }, { prefer: 'respond-async' });
    expect(status).toBe(202);
    expect(begun).toMatchObject({ operation, progress: '4711', resource: { kind: 'dataset' }, unit: 'rows' });
    expect(headers.get('location')).toBe(`/api/progress/${begun.id}`);
    await expect
      .poll(async () => (await ann.get(`/progress/${begun.id}`)).body.status, { timeout: 20_000 })
      .toBe('succeeded');
    return (await ann.get('/progress/4711')).body.result;
  };
  const snapshot = await follow(`/datasets/${id}/snapshots`, { name: 'Later' }, 'dataset.snapshot');
  expect(snapshot).toEqual({ id: expect.any(String), name: 'Later', records: 20 });
  const path = `/datasets/${id}/snapshots/${snapshot.id}`;
  expect(await follow(`${path}/promote`, { name: 'Beside', preserveSnapshot: true }, 'dataset.promote')).toEqual({
    id: expect.any(String),
    name: 'Beside',
    records: 20,
  });
  expect(await follow(`${path}/promote`, { name: 'Itself' }, 'dataset.promote')).toEqual({
    id: snapshot.id,
    name: 'Itself',
    records: 20,
  });
  expect(
    (
      await ann.data(
        `mutation { createSnapshot(datasetId: "${id}", input: { name: "y" }, wait: false) { result { id } operation { operation } } }`,
      )
    ).createSnapshot,
  ).toEqual({ result: null, operation: { operation: 'dataset.snapshot' } });
});

test('a snapshot counts as its rows do', async ({ ann, orders, service }) => {
  const { config } = service.platform;
  const { id } = await orders();
  const snapshot = await ann.creates(`/datasets/${id}/snapshots`, { name: 'Small' });
  try {
    config.TENANT_QUOTA_BYTES = 1;
    expect(await ann.post(`/datasets/${id}/snapshots`, { name: 'x' })).toMatchObject({
      status: 413,
      body: { message: expect.stringContaining('quota') },
    });
    expect(
      await ann.post(`/datasets/${id}/snapshots/${snapshot.id}/promote`, { name: 'x', preserveSnapshot: true }),
    ).toMatchObject({ status: 413 });
    config.TENANT_QUOTA_BYTES = 0;
    config.MAX_DATASET_ROWS = 19;
    expect(await ann.post(`/datasets/${id}/snapshots`, { name: 'x' })).toMatchObject({
      status: 413,
      body: { message: 'The dataset has more than the 19 rows that are allowed' },
    });
    expect(
      await ann.post(`/datasets/${id}/snapshots/${snapshot.id}/promote`, { name: 'It is there already' }),
    ).toMatchObject({ status: 200 });
  } finally {
    Object.assign(config, { TENANT_QUOTA_BYTES: 0, MAX_DATASET_ROWS: 0 });
  }
});
