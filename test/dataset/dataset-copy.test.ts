import { describe, expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { ORDERS_QUERY } from '../support/shop-fixture.ts';
import { fileOf, idsTo, insertDraft, rowsOf, sweepUnused, test, WORLDS } from './dataset-copy-fixture.ts';

const byLevel = (one: { accessLevel: number }, other: { accessLevel: number }) => other.accessLevel - one.accessLevel;
const copyMutation = (id: string, name: string, more = '') => `
  mutation {
    copyDataset(id: "${id}", input: { name: "${name}" }${more}) {
      operation { operation status }
      result {
        id name ownerId records parent { id } query flow esIndex
        visuals { name } filters { name } shares { principalId }
      }
    }
  }`;

describe.each(WORLDS)('on $index', ({ test }) => {
  test('a copy is independent of refreshes and of the deletion of the original', async ({
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
    const { status, body: copy } = await ann.post(`/datasets/${origin.id}/copy`, { name: 'Copy of it' });
    expect(status).toBe(200);
    expect(copy).toMatchObject({
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
      _links: { self: { href: `/api/datasets/${copy.id}` } },
    });
    expect(copy.fields).toEqual(
      origin.fields.map((field: { name: string }) =>
        field.name === 'amount' ? { ...field, label: 'Amount in EUR' } : field,
      ),
    );
    expect(copy.esIndex).not.toBe(origin.esIndex);
    expect(Object.keys(copy).filter((key) => ['visuals', 'filters', 'sharing'].includes(key))).toEqual([]);
    const {
      copyDataset: { operation, result },
    } = await ann.data(copyMutation(origin.id, 'Another'));
    expect(operation).toEqual({ operation: 'DATASET_COPY', status: 'SUCCEEDED' });
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
    const remaining = await sweepUnused(service);
    expect([copy.esIndex, result.esIndex, origin.esIndex].map((one) => remaining.includes(one))).toEqual([
      true,
      false,
      false,
    ]);
    expect([await rowsOf(ann, copy.id), await rowsOf(ann, result.id)]).toEqual([idsTo(20), idsTo(21)]);
    await expectBody(ann.get(`/datasets/${copy.id}/data?q=rush`), 200, { total: 4 });
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
    expect((await ann.data(copyMutation(id, 'Empty', ', data: false'))).copyDataset.result).toMatchObject({
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

test('a copy shares the file of the original', async ({ ann, createOrders, service }) => {
  const { id, esIndex } = await createOrders();
  const copy = await ann.creates(`/datasets/${id}/copy`, { name: 'Linked' });
  expect((await fileOf(service, copy.esIndex)).ino).toBe((await fileOf(service, esIndex)).ino);
});

test('visuals, filters and shares are copied on request', async ({ ann, bob, service, createOrders }) => {
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
  // Shares with equal creation times have no defined order.
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
  for (const share of body.sharing)
    expect(share).toMatchObject({ createdAt: expect.any(String), updatedAt: expect.any(String) });
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
  } = await ann.data(copyMutation(id, 'By GraphQL', ', visuals: true, filters: true, sharing: true'));
  expect(result).toMatchObject({ visuals: [{ name: 'Bars' }], filters: [{ name: 'Big' }, { name: 'Unused' }] });
  expect(result.shares.map(({ principalId }: { principalId: string }) => principalId).toSorted()).toEqual(
    [bob.id, carl.id].toSorted(),
  );
  expect((await ann.get(`/datasets/${id}/visuals`)).body.total).toBe(1);
});

test('a snapshot can be copied with the parts of its dataset, a draft cannot', async ({
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

  // The copy gets the current restrictions of the dataset's shares, not those at the time of the snapshot.
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
  expect((await ann.gql(copyMutation(draft, 'x'))).errors).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);
});

test('name, parts and quota are checked before the copy starts', async ({ ann, createOrders, service }) => {
  const { id } = await createOrders();
  const { config } = service.platform;
  const copy = (query = '', body: object = { name: 'x' }) => ann.post(`/datasets/${id}/copy${query}`, body);
  expect(await copy('', {})).toMatchObject({ status: 400, body: { message: expect.stringContaining('name') } });
  expect(await copy('', { name: ' ' })).toMatchObject({ status: 400, body: { message: 'name must not be empty' } });
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

test('a client that does not wait can follow the copy by its progress name', async ({ ann, createOrders }) => {
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
  await expect.poll(async () => (await ann.get('/progress/mine')).body.status).toBe('succeeded');
  const { result, current, total } = (await ann.get('/progress/mine')).body;
  expect({ result, current, total }).toEqual({
    result: { id: expect.any(String), name: 'Later', records: 20 },
    current: 20,
    total: 20,
  });
  expect(await rowsOf(ann, result.id)).toEqual(idsTo(20));
});
