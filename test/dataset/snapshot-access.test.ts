import { expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { rowsOf, test } from './dataset-copy-fixture.ts';

test('a full reader can create snapshots, without the query if they cannot read its datasource', async ({
  ann,
  bob,
  createOrders,
}) => {
  const { id } = await createOrders({ flow: [{ type: 'limit', n: 20 }] });
  await ann.put(`/datasets/${id}/shares/bob`, { accessLevel: 1 });
  const created = await bob.post(`/datasets/${id}/snapshots`, { name: 'Bob’s' });
  expect(created).toMatchObject({
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
  const path = `/datasets/${id}/snapshots/${created.body.id}`;
  const anns = await ann.creates(`/datasets/${id}/snapshots`, { name: 'Ann’s' });
  expect((await bob.get(`/datasets/${id}/snapshots/${anns.id}`)).body).toMatchObject({
    query: null,
    flow: null,
    esIndex: null,
    records: 20,
    permissions: { write: false, copy: true },
  });
  await expectError(
    bob.put(`/datasets/${id}/snapshots/${anns.id}`, { name: 'x' }),
    403,
    'You lack the permission dataset:write',
  );
  await expectError(
    bob.post(`/datasets/${id}/snapshots/${anns.id}/promote`, { name: 'x' }),
    403,
    'You lack the permission dataset:write',
  );
  expect((await bob.gql(`mutation { deleteSnapshot(datasetId: "${id}", id: "${anns.id}") }`)).errors).toMatchObject([
    { message: 'You lack the permission dataset:write', extensions: { code: 'FORBIDDEN' } },
  ]);
  await expectBody(bob.put(path, { name: 'Mine' }), 200, { name: 'Mine' });
  const own = await bob.post(`/datasets/${id}/snapshots/${anns.id}/promote`, {
    name: 'Bob’s own',
    preserveSnapshot: true,
  });
  expect(own).toMatchObject({
    status: 200,
    body: { ownerId: bob.id, parentId: null, records: 20, query: null, datasourceId: null, flow: [] },
  });
});

test('the owner of a snapshot loses access to it together with the access to the dataset', async ({
  ann,
  bob,
  createOrders,
}) => {
  const { id } = await createOrders();
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
  await expectError(bob.put(path, { name: 'x' }), 403);
  await expectError(bob.delete(path), 403);
  await expectError(bob.delete(`/datasets/${snapshot.id}`), 403);
  await expectError(bob.post(`${path}/promote`, { name: 'x' }), 403);

  await ann.delete(share);
  await expectError(bob.get(path), 404);
  await expectError(bob.get(`/datasets/${snapshot.id}`), 404);
  await expectError(bob.get(`/datasets/${snapshot.id}/data`), 404);
  await expectError(bob.put(path, { name: 'x' }), 404);
  await expectError(bob.post(`${path}/promote`, { name: 'x' }), 404);

  // A promotion by another user changes the owner, so that bob does not regain access.
  expect((await ann.post(`${path}/promote`, { name: 'Ann’s now' })).body).toMatchObject({
    id: snapshot.id,
    ownerId: ann.id,
    parentId: null,
  });
  await expectError(bob.get(`/datasets/${snapshot.id}`), 404);
});

test('a snapshot cannot be shared and its owner cannot be changed', async ({ ann, bob, createOrders }) => {
  const { id } = await createOrders();
  const { id: snapshot } = await ann.creates(`/datasets/${id}/snapshots`, { name: 'Stays' });
  await expectError(
    ann.put(`/datasets/${snapshot}/shares/bob`, { accessLevel: 1 }),
    409,
    'A draft or snapshot is shared with its dataset',
  );
  await expectError(
    ann.put(`/datasets/${snapshot}/owner`, { ownerId: bob.id }),
    409,
    'The owner of a draft or snapshot cannot change',
  );
  expect(
    (await ann.gql(`mutation { setDatasetOwner(id: "${snapshot}", ownerId: "${bob.id}") { id } }`)).errors,
  ).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);
  expect((await ann.put(`/datasets/${snapshot}/owner`, { ownerId: ann.id })).status).toBe(200);
});
