import { expect } from 'vitest';
import { copyVisuals } from '../../src/services/visual/visual.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { ORDERS_QUERY } from '../support/shop-fixture.ts';
import { test } from './visual-fixture.ts';

test('readers can read visuals, editors can change them, and others do not find them', async ({
  ann,
  bob,
  stranger,
  createDataset,
  source,
}) => {
  const { id: dataset, visuals } = await createDataset('Shared');
  const { id } = await ann.creates(visuals, { component: 'card' });
  await expectError(bob.get(visuals), 404, `There is no dataset ${dataset}`);
  await ann.put(`/datasets/${dataset}/shares/bob`, { accessLevel: 1 });
  expect((await bob.get(visuals)).body).toMatchObject({
    total: 1,
    _embedded: { 'svc:visual': [{ id, permissions: { edit: false, delete: false } }] },
  });
  await expectError(bob.post(visuals, { component: 'card' }), 403, 'You lack the permission dataset:addVisual');
  await expectError(bob.put(`${visuals}/${id}`, { name: 'x' }), 403, 'You lack the permission dataset:addVisual');
  await expectError(bob.delete(`${visuals}/${id}`), 403, 'You lack the permission dataset:deleteVisual');
  await ann.put(`/datasets/${dataset}/shares/bob`, { accessLevel: 2 });
  await expectBody(bob.put(`${visuals}/${id}`, { name: 'by bob' }), 200, {
    name: 'by bob',
    ownerId: ann.id,
    permissions: { edit: true, delete: true },
  });
  expect((await bob.post(visuals, { component: 'table' })).body).toMatchObject({
    name: 'Table',
    ownerId: bob.id,
    position: 1,
  });
  await expectError(stranger.get(`${visuals}/${id}`), 404);
  const other = await ann.creates('/datasets', { name: 'Other', datasourceId: source.id, query: ORDERS_QUERY });
  for (const method of ['GET', 'PUT', 'DELETE'])
    expect(
      await ann.request(method, `/api/datasets/${other.id}/visuals/${id}`, method === 'PUT' ? {} : undefined),
      'a wrong parent',
    ).toMatchObject({ status: 404, body: { message: `There is no visual ${id}` } });
});

test('restricted readers get the data of their rows, and no names of hidden fields', async ({
  ann,
  service,
  source,
}) => {
  const cleo = await service.user('cleo');
  const { id } = await ann.creates('/datasets', {
    name: 'Partial',
    datasourceId: source.id,
    query: ORDERS_QUERY,
    fieldSecurityEnabled: true,
    refresh: true,
  });
  const visuals = `/datasets/${id}/visuals`;
  const filter = await ann.creates(`/datasets/${id}/filters`, { name: 'EU', criteria: { region: 'EU' } });
  expect(
    (
      await ann.put(`/datasets/${id}/shares/cleo`, {
        accessLevel: 2,
        datasetFilterId: filter.id,
        restrictFields: true,
        visibleFields: ['id', 'region'],
      })
    ).status,
  ).toBe(200);
  const visible = await ann.creates(visuals, { component: 'bar-chart', config: { xAxis: 'region' } });
  const hidden = await ann.creates(visuals, {
    component: 'bar-chart',
    config: { xAxis: 'amount', groupBy: 'region', colorScheme: 'cool' },
  });
  const table = await ann.creates(visuals, { component: 'table', config: { columns: ['id', 'amount'] } });
  expect((await cleo.get(`${visuals}/${visible.id}/data`)).body).toMatchObject({ rows: [['EU', 5]], total: 1 });
  expect(
    (await cleo.get(visuals)).body._embedded['svc:visual'].map((visual: { config: object }) => visual.config),
  ).toEqual([{ xAxis: 'region' }, { xAxis: null, groupBy: 'region', colorScheme: 'cool' }, { columns: ['id'] }]);
  for (const path of ['data', 'image.svg'])
    await expectError(cleo.get(`${visuals}/${hidden.id}/${path}`), 400, 'config.xAxis names an unknown field');
  expect((await cleo.get(`${visuals}/${table.id}/data`)).body).toMatchObject({ columns: [{ name: 'id' }], total: 5 });
  const own = await cleo.post(visuals, { component: 'card', config: { valueField: 'amount' } });
  expect(own).toMatchObject({ status: 200, body: { permissions: { edit: true, delete: false } } });
  await expectError(cleo.get(`${visuals}/${own.body.id}/data`), 400, 'config.valueField names an unknown field');
  await expectBody(
    cleo.put(`${visuals}/${hidden.id}`, { config: { xAxis: null, groupBy: 'region', colorScheme: 'warm' } }),
    200,
    { config: { xAxis: null, colorScheme: 'warm' } },
  );
  expect((await ann.get(`${visuals}/${hidden.id}`)).body.config, 'hidden fields are kept').toEqual({
    xAxis: 'amount',
    groupBy: 'region',
    colorScheme: 'warm',
  });
  await expectError(cleo.delete(`${visuals}/${hidden.id}`), 403);
});

test('copied visuals are equal except for the owner', async ({ ann, bob, service, createDataset }) => {
  const [from, to] = [await createDataset('Origin'), await createDataset('Copy')];
  for (const name of ['first', 'second'])
    await ann.creates(from.visuals, {
      component: 'pie-chart',
      name,
      config: { categoryField: 'region' },
      pinned: name === 'second',
      embedded: true,
    });
  const [tenant] = await service.platform.system.query<{ id: string }>({
    text: `select id from dws.tenant where slug = 'default'`,
  });
  const ids = await service.platform.database.transaction(tenant!.id, (tx) => copyVisuals(tx, from.id, to.id, bob.id));
  const { body } = await ann.get(to.visuals);
  expect(body._embedded['svc:visual']).toMatchObject([
    { id: ids[1], name: 'second', position: 1, pinned: true },
    {
      id: ids[0],
      name: 'first',
      position: 0,
      pinned: false,
      ownerId: bob.id,
      config: { categoryField: 'region' },
      embedded: true,
      datasetId: to.id,
    },
  ]);
  await ann.delete(`${from.visuals}/${(await ann.get(from.visuals)).body._embedded['svc:visual'][0].id}`);
  expect((await ann.get(to.visuals)).body.total).toBe(2);
});

test('visuals are limited to 200, survive their owner, and are deleted with the dataset', async ({
  ann,
  admin,
  service,
  createDataset,
}) => {
  const { id: dataset, visuals } = await createDataset('Full');
  const dora = await service.user('dora');
  await ann.put(`/datasets/${dataset}/shares/dora`, { accessLevel: 2 });
  const { id } = await dora.creates(visuals, { component: 'card' });
  expect((await admin.delete('/users/dora')).status).toBe(204);
  expect((await ann.get(`${visuals}/${id}`)).body).toMatchObject({ ownerId: null, name: 'Card' });
  await service.platform.system.query({
    text: `
      insert into dws.visual (id, tenant_id, dataset_id, name, component, position)
      select gen_random_uuid(), tenant_id, dataset_id, 'filler', 'card', n
      from dws.visual, generate_series(1, 199) n
      where id = $1`,
    values: [id],
  });
  await expectError(ann.post(visuals, { component: 'card' }), 409, 'A dataset has at most 200 visuals');
  expect((await ann.delete(`/datasets/${dataset}`)).status).toBe(204);
  expect(
    await service.platform.system.query({ text: 'select id from dws.visual where dataset_id = $1', values: [dataset] }),
  ).toEqual([]);
});
