import { expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { CHIPS, EU, test } from '../support/report-fixture.ts';

const LACKS_WRITE = 'You lack the permission report:write';

test('a user who cannot read the dataset sees the reference without it, and an update keeps what is hidden', async ({
  ann,
  bob,
  orders,
  report,
  attach,
}) => {
  const id = await report();
  const path = await attach(id, { filter: EU, chips: CHIPS, snapshots: { snapshotDatasets: [orders.q1] } });
  const noDataset = `There is no dataset ${orders.id}`;
  await ann.put(`/reports/${id}/shares/bob`, { accessLevel: 2 });
  const { body } = await bob.get(path);
  expect(body).toMatchObject({
    id: 'sales',
    datasetId: orders.id,
    label: 'Sales',
    filter: {},
    chips: [],
    dataset: null,
    count: null,
    countWithoutSnapshots: null,
    overallCount: null,
    problem: noDataset,
  });

  await expectBody(bob.put(path, { ...body, label: 'Mine' }), 200, { label: 'Mine', dataset: null, count: null });
  await expectError(bob.put(path, { filter: EU }), 404, noDataset);
  expect((await ann.get(path)).body).toMatchObject({
    label: 'Mine',
    filter: EU,
    chips: CHIPS,
    snapshots: { snapshotDatasets: [{ datasetId: orders.q1 }] },
    count: 8,
  });

  await ann.put(`/reports/${id}/shares/bob`, { accessLevel: 1 });
  const input = { reportId: id, datasetId: orders.id, alias: 'b', label: 'b' };
  await expectError(bob.put(path, { label: 'x' }), 403, LACKS_WRITE);
  await expectError(bob.delete(path), 403, LACKS_WRITE);
  await expectError(bob.post(`/reports/${id}/dataset-refs`, input), 403, LACKS_WRITE);
});

test('a user with restricted access counts only their rows and sees no names of hidden fields', async ({
  ann,
  bob,
  orders,
  report,
  attach,
  restrictBob,
}) => {
  const id = await report();
  const unfiltered = await attach(id);
  const byHiddenField = await attach(id, {
    alias: 'hidden',
    filter: { criteria: [{ field: 'amount', op: 'gt', value: 100 }] },
    chips: [{ field: 'amount', label: 'Amount' }],
  });
  const byVisibleField = await attach(id, {
    alias: 'visible',
    filter: { criteria: [{ field: 'id', op: 'gt', value: 10 }] },
    snapshots: { type: 'n', n: 2 },
  });
  await restrictBob({ region: 'EU' });
  await ann.put(`/reports/${id}/shares/bob`, { accessLevel: 2 });
  const dataset = { name: 'Orders', fields: [{ name: 'id' }, { name: 'region' }] };

  expect((await bob.get(unfiltered)).body).toMatchObject({
    count: 5,
    countWithoutSnapshots: 5,
    overallCount: 5,
    problem: null,
    dataset,
  });
  expect((await bob.get(byVisibleField)).body, 'snapshots are restricted too').toMatchObject({
    count: 3 + 2 + 1,
    countWithoutSnapshots: 3,
    overallCount: 12,
  });
  const { body } = await bob.get(byHiddenField);
  expect(body).toMatchObject({
    filter: {},
    chips: [],
    count: null,
    countWithoutSnapshots: null,
    overallCount: 5,
    problem: 'It names a field that does not exist or has another type',
    dataset,
  });
  expect(body.dataset.fields).toHaveLength(2);
  expect(JSON.stringify(body)).not.toContain('amount');

  const query = `{ report(id: "${id}") { datasetReferences { alias filter chips { field } count problem } } }`;
  const result = await bob.gql(query);
  expect(JSON.stringify(result)).not.toContain('amount');
  expect(result.data.report.datasetReferences.map(({ count }: { count: number }) => count)).toEqual([5, null, 6]);
  await ann.delete(`${orders.path}/shares/bob`);
});

test('a user with restricted access can only set filters and chips on visible fields', async ({
  ann,
  bob,
  orders,
  report,
  attach,
  restrictBob,
}) => {
  const id = await report();
  const path = await attach(id, {
    filter: { criteria: [{ field: 'amount', op: 'gt', value: 100 }] },
    chips: [{ field: 'amount', label: 'Amount' }],
  });
  await restrictBob({ region: 'EU' });
  await ann.put(`/reports/${id}/shares/bob`, { accessLevel: 2 });
  for (const field of ['amount', 'nothing']) {
    const filter = { criteria: [{ field, op: 'eq', value: 1 }] };
    await expectError(bob.put(path, { filter }), 400, `Unknown field "${field}"`);
    await expectError(bob.put(path, { chips: [{ field, label: 'x' }] }), 400, `Unknown field "${field}"`);
  }

  const { body } = await bob.get(path);
  await expectBody(bob.put(path, { ...body, label: 'Relabelled' }), 200, { label: 'Relabelled', filter: {} });
  expect((await ann.get(path)).body, 'the hidden parts stay').toMatchObject({
    label: 'Relabelled',
    chips: [{ field: 'amount' }],
    count: 10,
  });
  await expectBody(bob.put(path, { filter: EU }), 200, { filter: EU, chips: [], count: 5 });
  await ann.delete(`${orders.path}/shares/bob`);
});
