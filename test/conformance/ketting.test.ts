import { bearerAuth, Client as Ketting, type Resource, type State } from 'ketting';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Client } from '../support/client.ts';
import { startService, type Service } from '../support/service.ts';
import { createForm, DATASETS, ORDERS } from '../support/upload-form.ts';

/*
 * A HAL client that knows the address of the API and the names of relations, but no path (docs/contract/apis.md#links).
 */

let service: Service;
let admin: Client;
let api: Resource;

beforeAll(async () => {
  service = await startService();
  admin = await service.user('admin', { superuser: true });
  const { id } = await admin.creates(DATASETS, createForm(ORDERS, 'orders.csv', { before: { name: 'Orders' } }));
  for (let index = 0; index < 31; index += 1) await admin.creates('/reports', { name: `Report ${index}` });
  const report = await admin.creates('/reports', { name: 'Ahead' });
  await admin.creates(`/reports/${report.id}/dataset-refs`, {
    reportId: report.id,
    datasetId: id,
    alias: 'orders',
    label: 'Orders',
  });
  const client = new Ketting(`${service.url}/api`);
  client.use(bearerAuth(admin.headers['authorization']!.replace('Bearer ', '')));
  api = client.go();
});
afterAll(() => service.close());

/** Follows a relation from a resource to a single one. */
const follow = (from: Resource | State, rel: string, variables?: Record<string, string>): Promise<Resource> =>
  Promise.resolve(from.follow(rel, variables));

test('a HAL client reaches the rows of a dataset from the root, page by page', async () => {
  const datasets = await follow(api, 'svc:datasets');
  const [dataset] = await datasets.followAll('svc:dataset');
  expect((await dataset!.get()).data).toMatchObject({ name: 'Orders', records: 3 });
  const data = await follow(dataset!, 'svc:data');
  // Rows have no address of their own. Their page is read as it was sent.
  const page = (await (await data.fetch()).json()) as { _embedded: Record<string, unknown[]>; total: number };
  expect(page._embedded['svc:record']).toHaveLength(page.total);

  // All rows, as plain JSON.
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const rows = await (await follow(data, 'svc:export')).get();
  expect(rows.data).toEqual(page._embedded['svc:record']);
  // An item of a list has fewer links than the record, and ketting takes it for the record until it is read again.
  const csv = await follow(await dataset!.refresh(), 'svc:export', { format: 'csv' });
  expect(await (await csv.fetch()).text()).toMatch(/\n/);
});

test('a HAL client follows next from page to page, and up', async () => {
  const reports = await follow(api, 'svc:reports');
  const names: unknown[] = [];
  let page: State | undefined = await reports.get();
  while (page) {
    for (const report of page.followAll('svc:report') as unknown as Resource[])
      names.push((await report.get()).data.name);
    page = page.links.has('next') ? await (await follow(page, 'next')).get() : undefined;
  }
  expect(names).toHaveLength(32);
  expect((await follow(reports, 'up')).uri).toBe(api.uri);
});

test('a HAL client goes from a report to its dataset and to the owner', async () => {
  const reports = await follow(api, 'svc:reports');
  const [report] = await reports.followAll('svc:report');
  const references = await follow(await report!.refresh(), 'svc:dataset-refs');
  const [reference] = await references.followAll('svc:dataset-reference');
  expect((await (await follow(reference!, 'svc:dataset')).get()).data.name).toBe('Orders');
  const owner = await follow(await follow(report!, 'svc:owner'), 'svc:owner');
  expect((await owner.get()).data.username).toBe('admin');
});

test('a HAL client creates a resource, changes it, and runs an action', async () => {
  const folders = await follow(api, 'svc:folders');
  const folder = await folders.postFollow({ data: { name: 'Created' } });
  // Node's fetch refuses the header `keep-alive` that ketting repeats from a response if it gets a whole state.
  const { data } = await folder.get();
  await folder.put({ data: { ...data, name: 'Changed' } });
  expect((await folder.refresh()).data.name).toBe('Changed');
  const datasets = await follow(api, 'svc:datasets');
  const [dataset] = await datasets.followAll('svc:dataset');
  const refreshed = await (await follow(await dataset!.refresh(), 'svc:refresh')).post({ data: {} });
  expect(refreshed.data).toMatchObject({ success: true, records: 3 });
});
