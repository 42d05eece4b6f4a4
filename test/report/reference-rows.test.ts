import { expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError, expectInvalid, expectStatus } from '../support/expect.ts';
import { EU, test } from '../support/report-fixture.ts';

const QUERY = `query ($id: ID!, $report: ID, $alias: ID, $filter: RowFilter) {
  dataset(id: $id) { data(report: $report, alias: $alias, filter: $filter, limit: 100) { items total } }
}`;

test('rows of a dataset are filtered by a reference of a report, in both APIs', async ({
  ann,
  orders,
  report,
  attach,
}) => {
  const id = await report();
  await attach(id, { filter: EU });
  const idsOf = (body: any): number[] => body._embedded['svc:record'].map((row: { id: number }) => row.id);
  const all = await expectBody(ann.get(`${orders.path}/data`), 200, { total: 20 });
  const european = all._embedded['svc:record'].filter(({ region }: any) => region === 'EU').map((row: any) => row.id);
  expect(european.length).toBeGreaterThan(2);
  const query = `report=${id}&alias=sales`;
  const { body } = await ann.get(`${orders.path}/data?${query}`);
  expect([idsOf(body), body.total]).toEqual([european, european.length]);
  // It applies besides the filter of the request, criteria or a saved one.
  const criteria = { id: { $gt: 10 } };
  const { id: saved } = await ann.creates(`${orders.path}/filters`, { name: 'Late', criteria });
  const late = european.filter((one: number) => one > 10);
  for (const filter of [JSON.stringify(criteria), saved])
    expect(idsOf((await ann.get(`${orders.path}/data?${query}&filter=${encodeURIComponent(filter)}`)).body)).toEqual(
      late,
    );
  const searched = await ann.post(`${orders.path}/_search`, { report: id, alias: 'sales', filter: criteria });
  expect(idsOf(searched.body)).toEqual(late);
  const { dataset } = await ann.data(QUERY, { id: orders.id, report: id, alias: 'sales', filter: criteria });
  expect(dataset.data.items.map((row: { id: number }) => row.id)).toEqual(late);
});

test('a reference that does not exist, or is not readable, is 404', async ({
  ann,
  bob,
  orders,
  report,
  attach,
  source,
}) => {
  const id = await report();
  await attach(id, { filter: EU });
  const other = await ann.creates('/datasets', { name: 'Other', datasourceId: source.id, query: 'select 1 as id' });
  const rows = (client: typeof ann, path: string, query: string) => client.get(`${path}/data?${query}`);
  const message = 'There is no dataset reference sales';
  await expectError(rows(ann, `/datasets/${other.id}`, `report=${id}&alias=sales`), 404, message);
  await expectError(rows(ann, orders.path, `report=${id}&alias=none`), 404, 'There is no dataset reference none');
  await expectInvalid(rows(ann, orders.path, `report=${id}`), 'alias', 'alias is required with report');
  await expectInvalid(rows(ann, orders.path, 'alias=sales'), 'report', 'report is required with alias');
  await expectStatus(ann.put(`${orders.path}/shares/bob`, { accessLevel: 1 }), 200);
  await expectError(rows(bob, orders.path, `report=${id}&alias=sales`), 404, `There is no report ${id}`);
  const variables = { id: orders.id, report: id, alias: 'sales' };
  await expectGraphqlError(bob.gql(QUERY, variables), 'NOT_FOUND', `There is no report ${id}`);
});
