import { expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { UNKNOWN_ID } from '../support/unknown-id.ts';
import { insertDraft, rowsOf, test } from './dataset-copy-fixture.ts';

const namesOf = (body: { _embedded: Record<string, { name: string }[]> }) =>
  body._embedded['svc:snapshot']!.map(({ name }) => name);

test('the rows and the query of a snapshot cannot be changed', async ({ ann, admin, createOrders, source }) => {
  const query = await ann.creates('/queries', {
    name: 'Q',
    datasourceId: source.id,
    query: 'select id from orders where id <= {{most}}',
    params: [{ name: 'most', dataType: 'number', defaultValue: 5 }],
  });
  const { id } = await createOrders({
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

  const conflict = { status: 409, body: { message: 'A snapshot keeps its rows' } };
  for (const verb of ['_refresh', '_run', '_benchmark', '_syncFields'])
    expect(await ann.post(`/datasets/${snapshot.id}/${verb}`, {}), verb).toMatchObject(conflict);
  for (const verb of ['_refresh-internal', '_benchmark-internal'])
    expect(await admin.post(`/datasets/${snapshot.id}/${verb}`, {}), verb).toMatchObject(conflict);
  expect(
    (await ann.gql(`mutation { refreshDataset(id: "${snapshot.id}") { result { records } } }`)).errors,
  ).toMatchObject([{ message: 'A snapshot keeps its rows', extensions: { code: 'CONFLICT' } }]);
  expect(await ann.put(`/datasets/${snapshot.id}`, { query: 'select 2 as id', params: [] })).toMatchObject(conflict);
  expect(await ann.put(`/datasets/${snapshot.id}`, { flow: [] })).toMatchObject(conflict);
  const whole = await ann.get(`/datasets/${snapshot.id}`);
  expect(
    await ann.put(`/datasets/${snapshot.id}`, { ...whole.body, name: 'Sent back' }),
    'a response can be sent back',
  ).toMatchObject({ status: 200, body: { name: 'Sent back' } });

  expect(
    await ann.put(path, { ...(await ann.get(path)).body, description: 'sent back' }),
    'a response can be sent back',
  ).toMatchObject({ status: 200, body: { description: 'sent back', query: query.query } });
  await expectError(ann.put(path, { query: 'select 2 as id' }), 400, '"query" cannot be changed');
  await expectError(ann.put(path, { name: null }), 400);
  expect(await rowsOf(ann, snapshot.id)).toEqual([1, 2, 3, 4]);
});

test('invalid snapshots and ids are refused', async ({ ann, createOrders, service }) => {
  const { id } = await createOrders();
  const [empty, other] = [await createOrders({ refresh: false }), await createOrders()];
  const snapshot = await ann.creates(`/datasets/${id}/snapshots`, { name: 'One' });
  await expectError(
    ann.post(`/datasets/${empty.id}/snapshots`, { name: 'x' }),
    409,
    'The dataset has no rows yet: refresh it first',
  );
  expect(
    (await ann.gql(`mutation { createSnapshot(datasetId: "${empty.id}", input: { name: "x" }) { operation { id } } }`))
      .errors,
  ).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);
  const draft = await insertDraft(service, id);
  for (const part of [snapshot.id, draft])
    await expectError(
      ann.post(`/datasets/${part}/snapshots`, { name: 'x' }),
      409,
      'A draft or snapshot cannot have snapshots',
    );
  await expectError(ann.post(`/datasets/${id}/snapshots`, { name: ' ' }), 400, 'name must not be empty');
  await expectBody(ann.post(`/datasets/${id}/snapshots`, {}), 400, { message: expect.stringContaining('name') });
  await expectBody(ann.post(`/datasets/${id}/snapshots/${snapshot.id}/promote`, {}), 400, {
    message: expect.stringContaining('name'),
  });

  for (const [parent, child] of [
    [other.id, snapshot.id],
    [id, other.id],
    [id, draft],
    [id, UNKNOWN_ID],
    [id, 'one'],
  ] as const) {
    const message = `There is no snapshot ${child}`;
    const path = `/datasets/${parent}/snapshots/${child}`;
    await expectError(ann.get(path), 404, message);
    await expectError(ann.put(path, { name: 'x' }), 404, message);
    await expectError(ann.delete(path), 404, message);
    await expectError(ann.post(`${path}/promote`, { name: 'x' }), 404, message);
    expect((await ann.gql(`{ dataset(id: "${parent}") { snapshot(id: "${child}") { id } } }`)).errors).toMatchObject([
      { message, extensions: { code: 'NOT_FOUND' } },
    ]);
    expect(
      (
        await ann.gql(
          `
            mutation {
              promoteSnapshot(datasetId: "${parent}", id: "${child}", input: { name: "x" }) { operation { id } }
            }
          `,
        )
      ).errors,
    ).toMatchObject([{ message }]);
  }
  expect(namesOf((await ann.get(`/datasets/${id}/snapshot-list`)).body)).toEqual(['One']);
  expect((await ann.post(`/datasets/${id}/snapshots/${snapshot.id}/promote`, { name: 'Free' })).status).toBe(200);
  await expectError(ann.post(`/datasets/${id}/snapshots/${snapshot.id}/promote`, { name: 'Free' }), 404);
});

test('a client that does not wait can follow the operation by its progress name', async ({ ann, createOrders }) => {
  const { id } = await createOrders();
  const follow = async (path: string, body: object, operation: string) => {
    const {
      status,
      headers,
      body: started,
    } = await ann.post(path, { ...body, progress: 4711 }, { prefer: 'respond-async' });
    expect(status).toBe(202);
    expect(started).toMatchObject({ operation, progress: '4711', resource: { kind: 'dataset' }, unit: 'rows' });
    expect(headers.get('location')).toBe(`/api/progress/${started.id}`);
    await expect.poll(async () => (await ann.get(`/progress/${started.id}`)).body.status).toBe('succeeded');
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
        `
          mutation {
            createSnapshot(datasetId: "${id}", input: { name: "y" }, wait: false) {
              result { id } operation { operation }
            }
          }
        `,
      )
    ).createSnapshot,
  ).toEqual({ result: null, operation: { operation: 'DATASET_SNAPSHOT' } });
});

test('a snapshot counts towards the quota', async ({ ann, createOrders, service }) => {
  const { config } = service.platform;
  const { id } = await createOrders();
  const snapshot = await ann.creates(`/datasets/${id}/snapshots`, { name: 'Small' });
  try {
    config.TENANT_QUOTA_BYTES = 1;
    await expectBody(ann.post(`/datasets/${id}/snapshots`, { name: 'x' }), 413, {
      message: expect.stringContaining('quota'),
    });
    await expectError(
      ann.post(`/datasets/${id}/snapshots/${snapshot.id}/promote`, { name: 'x', preserveSnapshot: true }),
      413,
    );
    config.TENANT_QUOTA_BYTES = 0;
    config.MAX_DATASET_ROWS = 19;
    await expectError(
      ann.post(`/datasets/${id}/snapshots`, { name: 'x' }),
      413,
      'The dataset has more than the 19 rows that are allowed',
    );
    expect(
      (await ann.post(`/datasets/${id}/snapshots/${snapshot.id}/promote`, { name: 'It is there already' })).status,
    ).toBe(200);
  } finally {
    Object.assign(config, { TENANT_QUOTA_BYTES: 0, MAX_DATASET_ROWS: 0 });
  }
});
