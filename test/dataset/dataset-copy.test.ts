import { describe, expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { ORDERS_QUERY } from '../support/shop-fixture.ts';
import { idsTo, insertDraft, fileOf, rowsOf, sweepUnused, test, WORLDS } from './dataset-copy-fixture.ts';

const byLevel = (one: { accessLevel: number }, other: { accessLevel: number }) => other.accessLevel - one.accessLevel;
const QUERY = `copyDataset(id: "$id", input: { name: "$name" }`;
const copyOf = (id: string, name: string, more = '') =>
  `mutation { ${QUERY.replace('$id', id).replace('$name', name)}${more}) { operation { operation status } result { id name ownerId records parent { id } query flow esIndex visuals { name } filters { name } shares { principalId } } } }`;

describe.each(WORLDS)('on $index', { timeout: 120_000 }, ({ test }) => {
  test('a copy is independent of later refreshes and of its origin’s end', async ({
    ann,
    createOrders,
    shop,
    service,
  }) => {
    const origin = await createOrders({
      settings: { colour: 'red' },
      fieldSecurityEnabled: true,
      flow: [{ type: 'filter', criteria: { id: { $gt: 0 } } }],
    });
    await ann.put(`/datasets/${origin.id}`, { fields: [{ name: 'amount', label: 'Amount in EUR' }] });
    const { status, body: made } = await ann.post(`/datasets/${origin.id}/copy`, { name: 'Copy of it' });
    expect(status).toBe(200);
    expect(made).toMatchObject({
      name: 'Copy of it',
      slug: 'copy-of-it',
      description: 'of the shop',
      ownerId: ann.id,
      parentId: null,
      isDraft: false,
      isSnapshot: false,
      snapshotDate: null,
      datasourceId: origin.datasourceId,
      query: ORDERS_QUERY,
      queryId: null,
      params: [],
      flow: origin.flow,
      settings: { colour: 'red' },
      fieldSecurityEnabled: true,
      records: 20,
      sizeFormatted: expect.any(String),
      dataUpdatedAt: origin.dataUpdatedAt,
      lastRefresh: null,
      _links: { self: { href: `/api/datasets/${made.id}` } },
    });
    expect(made.fields).toEqual(
      origin.fields.map((field: { name: string }) =>
        field.name === 'amount' ? { ...field, label: 'Amount in EUR' } : field,
      ),
    );
    expect(made.esIndex).not.toBe(origin.esIndex);
    expect(Object.keys(made).filter((key) => ['visuals', 'filters', 'sharing'].includes(key))).toEqual([]);
    const {
      copyDataset: { operation, result },
    } = await ann.data(copyOf(origin.id, 'Another'));
    expect(operation).toEqual({ operation: 'dataset.copy', status: 'SUCCEEDED' });
    expect(result).toMatchObject({
      name: 'Another',
      ownerId: ann.id,
      records: 20,
      parent: null,
      query: ORDERS_QUERY,
      flow: origin.flow,
      visuals: [],
      filters: [],
      shares: [],
    });

    await shop.sql('insert into orders values (21, $$EU$$, 5)');
    try {
      expect((await ann.post(`/datasets/${origin.id}/_refresh`, {})).body.records).toBe(21);
      expect((await ann.post(`/datasets/${result.id}/_refresh`, {})).body).toMatchObject({
        records: 21,
        previousRecordCount: 20,
      });
    } finally {
      await shop.sql('delete from orders where id = 21');
    }
    expect((await ann.delete(`/datasets/${origin.id}`)).status).toBe(204);
    const left = await sweepUnused(service);
    expect([made.esIndex, result.esIndex, origin.esIndex].map((one) => left.includes(one))).toEqual([
      true,
      false,
      false,
    ]);
    expect([await rowsOf(ann, made.id), await rowsOf(ann, result.id)]).toEqual([idsTo(20), idsTo(21)]);
    await expectBody(ann.get(`/datasets/${made.id}/data?q=rush`), 200, { total: 4 });
  });

  test('a copy without data has no rows and no fields until its first refresh', async ({
    ann,
    createOrders,
    service,
  }) => {
    const { id } = await createOrders();
    const copy = (await ann.post(`/datasets/${id}/copy?data=false`, { name: 'Empty' })).body;
    expect(copy).toMatchObject({
      records: 0,
      size: 0,
      fields: [],
      esIndex: null,
      dataUpdatedAt: null,
      query: ORDERS_QUERY,
    });
    expect((await ann.data(copyOf(id, 'Empty', ', data: false'))).copyDataset.result).toMatchObject({
      records: 0,
      esIndex: null,
    });
    await expectBody(ann.post(`/datasets/${copy.id}/_refresh`, {}), 200, { records: 20, fieldsAdded: 5 });
    const never = await createOrders({ refresh: false });
    await expectBody(ann.post(`/datasets/${never.id}/copy`, { name: 'As empty' }), 200, {
      records: 0,
      fields: [],
      esIndex: null,
    });
    expect(await sweepUnused(service)).not.toHaveLength(0);
  });
});

test('a copy costs no copy of the rows: the files are the same', async ({ ann, createOrders, service }) => {
  const { id, esIndex } = await createOrders();
  const copy = await ann.creates(`/datasets/${id}/copy`, { name: 'Linked' });
  expect((await fileOf(service, copy.esIndex)).ino).toBe((await fileOf(service, esIndex)).ino);
});

test('visuals, filters and shares come where they are asked for', async ({ ann, bob, service, createOrders }) => {
  const carl = await service.user('carl');
  const { id } = await createOrders({ fieldSecurityEnabled: true });
  await ann.creates(`/datasets/${id}/visuals`, {
    component: 'bar-chart',
    name: 'Bars',
    pinned: true,
    config: { xAxis: 'region' },
  });
  const filter = await ann.creates(`/datasets/${id}/filters`, {
    name: 'Big',
    description: 'd',
    criteria: { amount: { $gte: 110 } },
  });
  await ann.creates(`/datasets/${id}/filters`, { name: 'Unused', criteria: {} });
  await ann.put(`/datasets/${id}/shares/bob`, {
    accessLevel: 2,
    datasetFilterId: filter.id,
    restrictFields: true,
    visibleFields: ['id', 'amount'],
  });
  await ann.put(`/datasets/${id}/shares/carl`, { accessLevel: 1 });

  const whole = await ann.post(`/datasets/${id}/copy?visuals=true&filters=true&sharing=true`, { name: 'Whole' });
  const { body } = whole;
  // Made in one moment, they come in any order.
  body.sharing.sort(byLevel);
  expect(whole).toMatchObject({
    status: 200,
    body: {
      visuals: [{ name: 'Bars', component: 'bar-chart', pinned: true, position: 0, config: { xAxis: 'region' } }],
      filters: [
        {
          name: 'Big',
          description: 'd',
          datasetId: body.id,
          ownerId: `user:${ann.id}`,
          criteria: { amount: { $gte: 110 } },
        },
        { name: 'Unused', criteria: {} },
      ],
      sharing: [
        {
          datasetId: body.id,
          principalId: bob.id,
          accessLevel: 2,
          restrictFields: true,
          visibleFields: ['id', 'amount'],
        },
        { principalId: carl.id, accessLevel: 1, datasetFilterId: null, restrictFields: false },
      ],
    },
  });
  expect(body.sharing[0].datasetFilterId).toBe(body.filters[0].id);
  expect(body.filters[0].id).not.toBe(filter.id);
  expect(await rowsOf(bob, body.id)).toEqual(idsTo(20).slice(10));
  expect((await bob.get(`/datasets/${body.id}`)).body.fields.map(({ name }: { name: string }) => name)).toEqual([
    'id',
    'amount',
  ]);
  expect(await rowsOf(carl, body.id)).toEqual(idsTo(20));

  const shared = (await ann.post(`/datasets/${id}/copy?sharing=true`, { name: 'Shared' })).body;
  expect(shared.filters).toBeUndefined();
  expect(
    (await ann.get(`/datasets/${shared.id}/filters`)).body._embedded['svc:filter'].map(
      ({ name }: { name: string }) => name,
    ),
  ).toEqual(['Big']);
  expect(await rowsOf(bob, shared.id)).toEqual(idsTo(20).slice(10));
  const {
    copyDataset: { result },
  } = await ann.data(copyOf(id, 'By GraphQL', ', visuals: true, filters: true, sharing: true'));
  expect(result).toMatchObject({ visuals: [{ name: 'Bars' }], filters: [{ name: 'Big' }, { name: 'Unused' }] });
  expect(result.shares.map(({ principalId }: { principalId: string }) => principalId).toSorted()).toEqual(
    [bob.id, carl.id].toSorted(),
  );
  expect((await ann.get(`/datasets/${id}/visuals`)).body.total).toBe(1);
});

test('filters that the copier cannot read stay behind, and so do the shares that need them', async ({
  ann,
  bob,
  service,
  createOrders,
}) => {
  const [dora, emil] = [await service.user('dora'), await service.user('emil')];
  const { id } = await createOrders();
  const secret = await ann.creates(`/datasets/${id}/filters`, { name: 'Ann’s', criteria: { region: 'EU' } });
  await ann.put(`/datasets/${id}/shares/dora`, { accessLevel: 1, datasetFilterId: secret.id });
  await ann.put(`/datasets/${id}/shares/emil`, { accessLevel: 1 });
  await ann.put(`/datasets/${id}/shares/bob`, { accessLevel: 2 });
  const own = await bob.creates(`/datasets/${id}/filters`, { name: 'Bob’s', criteria: { region: 'US' } });

  const copy = (await bob.post(`/datasets/${id}/copy?filters=true&sharing=true`, { name: 'Bob’s copy' })).body;
  expect(copy.filters).toMatchObject([{ name: 'Bob’s', ownerId: `user:${bob.id}`, criteria: own.criteria }]);
  expect(copy.sharing).toMatchObject([{ principalId: emil.id, accessLevel: 1, datasetFilterId: null }]);
  await expectError(dora.get(`/datasets/${copy.id}`), 404);
  expect(
    await service.platform.system.query({
      text: `select name from dws.saved_filter where dataset_id = $1`,
      values: [copy.id],
    }),
  ).toEqual([{ name: 'Bob’s' }]);

  // Who may share the dataset reads what its shares use, and carries that; it stays Ann's.
  await ann.put(`/datasets/${id}/shares/bob`, { accessLevel: 3 });
  const admins = (await bob.post(`/datasets/${id}/copy?sharing=true&filters=true`, { name: 'Bob’s second' })).body;
  expect(
    admins.filters.map(({ name, ownerId }: { name: string; ownerId: string }) => [name, ownerId]).toSorted(),
  ).toEqual([
    ['Ann’s', `user:${ann.id}`],
    ['Bob’s', `user:${bob.id}`],
  ]);
  expect(admins.sharing.map(({ principalId }: { principalId: string }) => principalId).toSorted()).toEqual(
    [dora.id, emil.id].toSorted(),
  );
  expect(await rowsOf(dora, admins.id)).toEqual([4, 8, 12, 16, 20]);
});

test('who cannot read the datasource gets the rows alone', async ({ ann, bob, createOrders, source, admin }) => {
  const steps = [{ type: 'limit', n: 20 }];
  const { id } = await createOrders({ flow: steps });
  await ann.put(`/datasets/${id}/shares/bob`, { accessLevel: 1 });
  expect((await bob.get(`/datasets/${id}`)).body).toMatchObject({
    query: null,
    permissions: { copy: true, write: false },
  });
  const rows = await bob.post(`/datasets/${id}/copy`, { name: 'Rows' });
  expect(rows).toMatchObject({
    status: 200,
    body: {
      ownerId: bob.id,
      records: 20,
      datasourceId: null,
      queryId: null,
      query: null,
      params: [],
      flow: [],
      permissions: { refresh: true },
    },
  });
  expect(rows.body.fields).toHaveLength(5);
  await expectError(bob.post(`/datasets/${rows.body.id}/_refresh`, {}), 409, 'The dataset has no query to run');
  expect((await bob.data(copyOf(id, 'Rows too'))).copyDataset.result).toMatchObject({
    records: 20,
    query: null,
    flow: [],
  });

  await admin.put(`/datasources/${source.id}/shares/bob`, { accessLevel: 1 });
  const read = (await bob.post(`/datasets/${id}/copy`, { name: 'With its query' })).body;
  expect(read).toMatchObject({ datasourceId: source.id, query: ORDERS_QUERY, flow: steps });
  await expectError(bob.post(`/datasets/${read.id}/_refresh`, {}), 403);
  await admin.delete(`/datasources/${source.id}/shares/bob`);
});

test('a link to a saved query is carried as far as the copier may see and run it', async ({
  ann,
  bob,
  admin,
  createOrders,
  source,
}) => {
  const query = await ann.creates('/queries', {
    name: 'Linked',
    datasourceId: source.id,
    query: 'select id from orders where id <= {{most}}',
    params: [{ name: 'most', dataType: 'number', defaultValue: 5 }],
  });
  const params = [{ name: 'most', dataType: 'number', defaultValue: 3 }];
  const { id } = await createOrders({ datasourceId: undefined, query: undefined, queryId: query.id, params });
  expect((await ann.post(`/datasets/${id}/copy`, { name: 'Linked' })).body).toMatchObject({
    queryId: query.id,
    query: query.query,
    params: [{ name: 'most', defaultValue: 3 }],
    records: 3,
  });

  await ann.put(`/datasets/${id}/shares/bob`, { accessLevel: 1 });
  const copied = async () => (await bob.post(`/datasets/${id}/copy`, { name: 'Copied' })).body;
  expect(await copied()).toMatchObject({ queryId: null, datasourceId: null, query: null, params: [], records: 3 });
  await ann.put(`/queries/${query.id}/shares/bob`, { accessLevel: 1 });
  expect(await copied()).toMatchObject({ queryId: null, datasourceId: null, query: null });
  await admin.put(`/datasources/${source.id}/shares/bob`, { accessLevel: 1 });
  const linked = await copied();
  expect(linked).toMatchObject({ queryId: query.id, datasourceId: source.id, params: [{ defaultValue: 3 }] });
  await expectBody(bob.post(`/datasets/${linked.id}/_refresh`, {}), 200, { records: 3 });

  await ann.delete(`/queries/${query.id}/shares/bob`);
  expect(await copied()).toMatchObject({ queryId: null, query: null, datasourceId: null });
  await admin.put(`/datasources/${source.id}/shares/bob`, { accessLevel: 2 });
  const own = await copied();
  expect(own).toMatchObject({
    queryId: null,
    datasourceId: source.id,
    query: query.query,
    params: [{ name: 'most', defaultValue: 3 }],
  });
  await expectBody(bob.post(`/datasets/${own.id}/_refresh`, {}), 200, { records: 3 });
  await admin.delete(`/datasources/${source.id}/shares/bob`);
});

test('who sees a part of a dataset cannot copy it, and who sees nothing of it does not find it', async ({
  ann,
  bob,
  createOrders,
  stranger,
}) => {
  const { id } = await createOrders();
  await expectError(bob.post(`/datasets/${id}/copy`, { name: 'x' }), 404);
  await expectError(stranger.post(`/datasets/${id}/copy`, { name: 'x' }), 404);
  const filter = await ann.creates(`/datasets/${id}/filters`, { name: 'All', criteria: {} });
  await ann.put(`/datasets/${id}/shares/bob`, { accessLevel: 3, datasetFilterId: filter.id });
  await expectError(
    bob.post(`/datasets/${id}/copy?data=false`, { name: 'x' }),
    403,
    'You lack the permission dataset:copy',
  );
  expect((await bob.gql(copyOf(id, 'x'))).errors).toMatchObject([
    { message: 'You lack the permission dataset:copy', extensions: { code: 'FORBIDDEN' } },
  ]);
});

test('a snapshot can be copied with what its dataset has, a draft cannot', async ({
  ann,
  bob,
  createOrders,
  service,
}) => {
  const { id } = await createOrders();
  await ann.creates(`/datasets/${id}/filters`, { name: 'Of the dataset', criteria: {} });
  await ann.put(`/datasets/${id}/shares/bob`, { accessLevel: 1 });
  const snapshot = await ann.creates(`/datasets/${id}/snapshots`, { name: 'S' });
  const copy = await ann.post(`/datasets/${snapshot.id}/copy?filters=true&sharing=true`, { name: 'Of a snapshot' });
  expect(copy).toMatchObject({
    status: 200,
    body: {
      parentId: null,
      isSnapshot: false,
      snapshotDate: null,
      records: 20,
      query: ORDERS_QUERY,
      filters: [{ name: 'Of the dataset' }],
      sharing: [{ principalId: bob.id }],
    },
  });

  // What restricts its dataset's shares now holds for the copy, however it was when the snapshot was made.
  await ann.put(`/datasets/${id}`, { fieldSecurityEnabled: true });
  await ann.put(`/datasets/${id}/shares/bob`, { accessLevel: 1, restrictFields: true, visibleFields: ['id'] });
  const later = (await ann.post(`/datasets/${snapshot.id}/copy?sharing=true`, { name: 'Of a snapshot, later' })).body;
  expect((await bob.get(`/datasets/${later.id}`)).body.fields).toMatchObject([{ name: 'id' }]);
  await expectError(bob.get(`/datasets/${later.id}/data?sort=amount`), 400);

  const draft = await insertDraft(service, id);
  await expectError(
    ann.post(`/datasets/${draft}/copy`, { name: 'x' }),
    409,
    'A draft cannot be copied: commit it first',
  );
  expect((await ann.gql(copyOf(draft, 'x'))).errors).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);
});

test('names, flags and room are checked before anything begins', async ({ ann, createOrders, service }) => {
  const { id } = await createOrders();
  const { config } = service.platform;
  const copy = (query = '', body: object = { name: 'x' }) => ann.post(`/datasets/${id}/copy${query}`, body);
  expect(await copy('', {})).toMatchObject({ status: 400, body: { message: expect.stringContaining('name') } });
  expect(await copy('', { name: ' ' })).toMatchObject({ status: 400, body: { message: 'name is required' } });
  expect(await copy('?data=perhaps')).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('data') },
  });
  expect(await copy('', { name: 'x', data: false })).toMatchObject({
    status: 400,
    body: { message: 'Unknown key "data"' },
  });
  expect(await copy('', { name: 'x', progress: '' })).toMatchObject({ status: 400 });
  try {
    config.TENANT_QUOTA_BYTES = 1;
    expect(await copy()).toMatchObject({ status: 413, body: { message: expect.stringContaining('the quota is 1') } });
    expect(await copy('?data=false')).toMatchObject({ status: 200 });
    Object.assign(config, { TENANT_QUOTA_BYTES: 0, MAX_DATASET_ROWS: 19 });
    expect(await copy()).toMatchObject({
      status: 413,
      body: { message: 'The dataset has more than the 19 rows that are allowed' },
    });
  } finally {
    Object.assign(config, { TENANT_QUOTA_BYTES: 0, MAX_DATASET_ROWS: 0 });
  }
});

test('a client that does not wait follows the copy by its own name for it', async ({ ann, createOrders }) => {
  const { id } = await createOrders();
  const { status, headers, body } = await ann.post(
    `/datasets/${id}/copy`,
    { name: 'Later', progress: 'mine' },
    { prefer: 'respond-async' },
  );
  expect(status).toBe(202);
  expect(body).toMatchObject({
    operation: 'dataset.copy',
    progress: 'mine',
    resource: { kind: 'dataset', id },
    unit: 'rows',
  });
  expect(headers.get('location')).toBe(`/api/progress/${body.id}`);
  await expect.poll(async () => (await ann.get('/progress/mine')).body.status, { timeout: 20_000 }).toBe('succeeded');
  const { result, current, total } = (await ann.get('/progress/mine')).body;
  expect({ result, current, total }).toEqual({
    result: { id: expect.any(String), name: 'Later', records: 20 },
    current: 20,
    total: 20,
  });
  expect(await rowsOf(ann, result.id)).toEqual(idsTo(20));
});
