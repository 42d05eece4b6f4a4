import { expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { ORDERS_QUERY } from '../support/shop-fixture.ts';
import { rowsOf, test } from './dataset-copy-fixture.ts';

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

test('filters that the caller cannot read, and their shares, are not copied', async ({
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

  // A user who may share the dataset can read and copy the filters of its shares. Their owner does not change.
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

test('without access to the datasource only the rows are copied', async ({ ann, bob, createOrders, source, admin }) => {
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
  expect((await bob.data(copyMutation(id, 'Rows too'))).copyDataset.result).toMatchObject({
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

test('a saved query is copied as far as the caller may read and run it', async ({
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
  const copyAsBob = async () => (await bob.post(`/datasets/${id}/copy`, { name: 'Copied' })).body;
  expect(await copyAsBob()).toMatchObject({ queryId: null, datasourceId: null, query: null, params: [], records: 3 });
  await ann.put(`/queries/${query.id}/shares/bob`, { accessLevel: 1 });
  expect(await copyAsBob()).toMatchObject({ queryId: null, datasourceId: null, query: null });
  await admin.put(`/datasources/${source.id}/shares/bob`, { accessLevel: 1 });
  const linked = await copyAsBob();
  expect(linked).toMatchObject({ queryId: query.id, datasourceId: source.id, params: [{ defaultValue: 3 }] });
  await expectBody(bob.post(`/datasets/${linked.id}/_refresh`, {}), 200, { records: 3 });

  await ann.delete(`/queries/${query.id}/shares/bob`);
  expect(await copyAsBob()).toMatchObject({ queryId: null, query: null, datasourceId: null });
  await admin.put(`/datasources/${source.id}/shares/bob`, { accessLevel: 2 });
  const own = await copyAsBob();
  expect(own).toMatchObject({
    queryId: null,
    datasourceId: source.id,
    query: query.query,
    params: [{ name: 'most', defaultValue: 3 }],
  });
  await expectBody(bob.post(`/datasets/${own.id}/_refresh`, {}), 200, { records: 3 });
  await admin.delete(`/datasources/${source.id}/shares/bob`);
});

test('restricted readers cannot copy a dataset, and others do not find it', async ({
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
  expect((await bob.gql(copyMutation(id, 'x'))).errors).toMatchObject([
    { message: 'You lack the permission dataset:copy', extensions: { code: 'FORBIDDEN' } },
  ]);
});
