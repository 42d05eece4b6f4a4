import { describe, expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { ORDERS_QUERY } from '../support/shop-fixture.ts';
import { fileOf, idsTo, rowsOf, sweepUnused, test, WORLDS } from './dataset-copy-fixture.ts';

const namesOf = (body: { _embedded: Record<string, { name: string }[]> }) =>
  body._embedded['svc:snapshot']!.map(({ name }) => name);

describe.each(WORLDS)('on $index', ({ test }) => {
  test('a snapshot keeps its rows when the dataset is refreshed', async ({ ann, createOrders, shop, service }) => {
    const dataset = await createOrders();
    const { status, body: snapshot } = await ann.post(`/datasets/${dataset.id}/snapshots`, {
      name: 'January',
      description: 'before the sale',
    });
    expect(status).toBe(200);
    expect(snapshot).toMatchObject({
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
        self: { href: `/api/datasets/${dataset.id}/snapshots/${snapshot.id}` },
        'svc:parent': { href: `/api/datasets/${dataset.id}` },
        'svc:data': { href: `/api/datasets/${snapshot.id}/data` },
      },
    });
    expect(snapshot.esIndex).not.toBe(dataset.esIndex);

    await shop.sql('insert into orders values (21, $$EU$$, 5)');
    try {
      await expectBody(ann.post(`/datasets/${dataset.id}/_refresh`, {}), 200, { records: 21 });
      expect(await sweepUnused(service)).toContain(snapshot.esIndex);
      expect([await rowsOf(ann, snapshot.id), await rowsOf(ann, dataset.id)]).toEqual([idsTo(20), idsTo(21)]);
      expect((await ann.get(`/datasets/${dataset.id}/snapshots/${snapshot.id}`)).body).toMatchObject({
        id: snapshot.id,
        esIndex: snapshot.esIndex,
        records: 20,
        fields: dataset.fields,
      });
    } finally {
      await shop.sql('delete from orders where id = 21');
    }
  });

  test('snapshots are listed, renamed, and deleted with their rows', async ({ ann, createOrders, service }) => {
    const { id } = await createOrders();
    const path = `/datasets/${id}/snapshots`;
    const first = await ann.creates(path, { name: 'First' });
    const { createSnapshot } = await ann.data(
      `
        mutation {
          createSnapshot(datasetId: "${id}", input: { name: "Second", description: "d" }) {
            operation { status percent result }
            result { id name description isSnapshot records parent { id } esIndex }
          }
        }
      `,
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
    expect(namesOf((await ann.get(`/datasets/${id}/snapshot-list?limit=1&start=1`)).body)).toEqual(['First']);
    expect(
      (
        await ann.data(
          `
            {
              dataset(id: "${id}") {
                snapshots(limit: 1) { items { name records } total }
                snapshot(id: "${first.id}") { name parentId snapshotDate } parent { id }
              }
            }
          `,
        )
      ).dataset,
    ).toEqual({
      snapshots: { items: [{ name: 'Second', records: 20 }], total: 2 },
      snapshot: { name: 'First', parentId: id, snapshotDate: first.snapshotDate },
      parent: null,
    });
    expect((await ann.get('/datasets?q=First')).body.total).toBe(0);
    expect((await ann.get('/search?q=First')).body.total).toBe(0);

    await expectBody(ann.put(`${path}/${first.id}`, { name: 'Eldest', description: 'the first' }), 200, {
      id: first.id,
      name: 'Eldest',
      description: 'the first',
      parentId: id,
      records: 20,
    });
    expect(
      await ann.data(
        `
          mutation {
            updateSnapshot(datasetId: "${id}", id: "${second.id}", input: { name: "Latest", description: null }) {
              name description
            }
          }
        `,
      ),
    ).toEqual({ updateSnapshot: { name: 'Latest', description: null } });
    expect(namesOf((await ann.get(`/datasets/${id}/snapshot-list`)).body)).toEqual(['Latest', 'Eldest']);

    expect(await ann.delete(`${path}/${first.id}`)).toMatchObject({ status: 204, body: '' });
    expect(await ann.data(`mutation { deleteSnapshot(datasetId: "${id}", id: "${second.id}") }`)).toEqual({
      deleteSnapshot: second.id,
    });
    expect((await ann.get(`/datasets/${id}/snapshot-list`)).body.total).toBe(0);
    await expectError(ann.get(`${path}/${first.id}`), 404, `There is no snapshot ${first.id}`);
    await expectError(ann.get(`/datasets/${second.id}/data`), 404);
    const remaining = await sweepUnused(service);
    expect([first.esIndex, second.esIndex].filter((one) => remaining.includes(one))).toEqual([]);
    expect(await rowsOf(ann, id)).toEqual(idsTo(20));
  });

  test('a promoted snapshot is an independent dataset that outlives the original one', async ({
    ann,
    createOrders,
    service,
  }) => {
    const { id } = await createOrders();
    const path = `/datasets/${id}/snapshots`;
    const [turned, preserved] = [
      await ann.creates(path, { name: 'Moved', description: 'd' }),
      await ann.creates(path, { name: 'Kept', description: 'k' }),
    ];

    const itself = await ann.post(`${path}/${turned.id}/promote`, { name: 'On its own' });
    expect(itself).toMatchObject({
      status: 200,
      body: {
        id: turned.id,
        name: 'On its own',
        slug: 'on-its-own',
        description: 'd',
        parentId: null,
        isSnapshot: false,
        snapshotDate: null,
        records: 20,
        esIndex: turned.esIndex,
        query: ORDERS_QUERY,
        ownerId: ann.id,
        _links: { self: { href: `/api/datasets/${turned.id}` } },
      },
    });
    expect(itself.body._links['svc:parent']).toBeUndefined();
    const promotion = `
      mutation {
        promoteSnapshot(datasetId: "${id}", id: "${preserved.id}", input: { name: "Beside", preserveSnapshot: true }) {
          operation { operation status }
          result { id name slug description parent { id } isSnapshot snapshotDate records esIndex }
        }
      }
    `;
    const {
      promoteSnapshot: { operation, result: beside },
    } = await ann.data(promotion);
    expect(operation).toEqual({ operation: 'DATASET_PROMOTE', status: 'SUCCEEDED' });
    expect(beside).toMatchObject({
      name: 'Beside',
      slug: 'beside',
      description: 'k',
      parent: null,
      isSnapshot: false,
      snapshotDate: null,
      records: 20,
    });
    expect([beside.id, beside.esIndex]).not.toEqual([preserved.id, preserved.esIndex]);
    expect((await ann.get(`/datasets/${id}/snapshot-list`)).body._embedded['svc:snapshot']).toMatchObject([
      { id: preserved.id, name: 'Kept', isSnapshot: true, esIndex: preserved.esIndex },
    ]);
    expect((await ann.get('/datasets?q=On%20its%20own')).body.total).toBe(1);
    expect((await ann.get('/search?q=On%20its%20own')).body.total).toBe(1);

    expect((await ann.delete(`/datasets/${id}`)).status).toBe(204);
    await expectError(ann.get(`/datasets/${preserved.id}`), 404);
    const remaining = await sweepUnused(service);
    expect([turned.esIndex, preserved.esIndex, beside.esIndex].map((one) => remaining.includes(one))).toEqual([
      true,
      false,
      true,
    ]);
    expect([await rowsOf(ann, turned.id), await rowsOf(ann, beside.id)]).toEqual([idsTo(20), idsTo(20)]);
    await expectBody(ann.post(`/datasets/${turned.id}/_refresh`, {}), 200, { records: 20 });
  });

  test('a restricted reader sees the same rows and fields of a snapshot as of the dataset', async ({
    ann,
    bob,
    createOrders,
  }) => {
    const { id } = await createOrders({ fieldSecurityEnabled: true });
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
          `
            {
              dataset(id: "${id}") {
                snapshots { items { records } }
                snapshot(id: "${snapshot.id}") {
                  records fields { name } data(sort: "id", limit: 1) { items total }
                }
              }
            }
          `,
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
    expect(await rowsOf(bob, snapshot.id)).toEqual(idsTo(20).slice(10));
    await expectError(bob.get(`/datasets/${snapshot.id}/data?sort=amount`), 400, 'Unknown field "amount"');
    expect((await bob.get(`/datasets/${snapshot.id}/export?format=ndjson`)).body.trim().split('\n')).toHaveLength(10);
    const path = `/datasets/${id}/snapshots`;
    const preserving = { name: 'x', preserveSnapshot: true };
    const mayNotCopy = 'You lack the permission dataset:copy';
    await expectError(bob.post(path, { name: 'x' }), 403, mayNotCopy);
    await expectError(bob.post(`${path}/${snapshot.id}/promote`, preserving), 403, mayNotCopy);
    await expectError(bob.post(`/datasets/${snapshot.id}/copy`, { name: 'x' }), 403, mayNotCopy);
    const mayNotWrite = 'You lack the permission dataset:write';
    await expectError(bob.put(`${path}/${snapshot.id}`, { name: 'x' }), 403, mayNotWrite);
    await expectError(bob.delete(`${path}/${snapshot.id}`), 403, mayNotWrite);
  });
});

test('a snapshot shares the file of its dataset', async ({ ann, createOrders, service }) => {
  const { id, esIndex } = await createOrders();
  const snapshot = await ann.creates(`/datasets/${id}/snapshots`, { name: 'Linked' });
  const promoted = (
    await ann.post(`/datasets/${id}/snapshots/${snapshot.id}/promote`, { name: 'Linked too', preserveSnapshot: true })
  ).body;
  const [original, copy, promotedCopy] = [
    await fileOf(service, esIndex),
    await fileOf(service, snapshot.esIndex),
    await fileOf(service, promoted.esIndex),
  ];
  expect([copy.ino, promotedCopy.ino]).toEqual([original.ino, original.ino]);
  expect(original.nlink).toBeGreaterThanOrEqual(3);
});
