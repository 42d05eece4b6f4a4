import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { CHIPS, EU, test } from '../support/report-fixture.ts';
import type { Service } from '../support/service.ts';

const SINGLE_LEVEL = [
  { id: 'text', type: 'text', text: 'sales' },
  { id: 'one', type: 'table', dataset: 'sales', filter: { dataset: 'sales' } },
  { id: 'two', type: 'table', dataset: 'other' },
];
const NESTED = [
  ...SINGLE_LEVEL,
  {
    id: 'row',
    type: 'columns',
    blocks: [
      { id: 'in', type: 'chart', dataset: 'sales', measures: [] },
      {
        id: 'tabs',
        type: 'tabs',
        tabs: [
          {
            title: 'sales',
            blocks: [
              { id: 'deep', type: 'visual', dataset: 'sales' },
              { id: 'kept', type: 'text' },
            ],
          },
        ],
      },
    ],
  },
  {
    id: 'mixed',
    type: 'mixed',
    series: [
      { dataset: 'sales', as: 'a' },
      { dataset: 'other', as: 'b' },
    ],
  },
  { id: 'inner', type: 'custom', config: { source: { dataset: 'sales' } } },
  { id: 'list', type: 'custom', datasets: ['sales', 'other', { dataset: 'sales' }], expression: 'sales.total + 1' },
  { id: 'only', type: 'custom', config: { datasets: ['sales'] } },
  { id: 'words', type: 'custom', datasets: 'sales', filter: { datasets: ['sales'] } },
];

const blocksOf = async (client: Client, id: string) => (await client.get(`/reports/${id}`)).body.definition.blocks;
const etagOf = async (client: Client, path: string) => ({ 'if-match': (await client.get(path)).headers.get('etag')! });
const activityOf = async (client: Client, id: string) =>
  (await client.get(`/reports/${id}/activity`)).body._embedded['svc:activity'];
const setSnapshotFlag = ({ platform }: Service, id: string, isSnapshot: boolean) =>
  platform.system.query({
    text: `update dws.dataset set is_snapshot = $2 where id = $1`,
    values: [id, isSnapshot],
  });

test('a new alias is replaced in every block that uses it, and nowhere else', async ({ ann, report, attach }) => {
  const id = await report(NESTED);
  const path = await attach(id);
  const reportEtag = await etagOf(ann, `/reports/${id}`);
  const referenceEtag = await etagOf(ann, path);
  const newPath = `/reports/${id}/dataset-refs/turnover`;
  await expectBody(ann.put(path, { alias: 'turnover', label: 'Turnover' }, referenceEtag), 200, {
    id: 'turnover',
    alias: 'turnover',
    label: 'Turnover',
    count: 20,
    _links: { self: { href: `/api${newPath}` } },
  });
  const expectedBlocks = JSON.parse(
    JSON.stringify(NESTED)
      .replaceAll('"dataset":"sales"', '"dataset":"turnover"')
      .replace('["sales","other"', '["turnover","other"')
      .replace('"config":{"datasets":["sales"]}', '"config":{"datasets":["turnover"]}')
      .replace('"filter":{"dataset":"turnover"}', '"filter":{"dataset":"sales"}'),
  );
  expect(await blocksOf(ann, id)).toEqual(expectedBlocks);
  await expectError(ann.get(path), 404);
  await expectError(ann.put(`/reports/${id}`, { name: 'x' }, reportEtag), 412);
  await expectError(ann.put(newPath, { label: 'x' }, referenceEtag), 412);
  expect(await activityOf(ann, id)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: 'report.updated', message: 'ann changed the dataset turnover of Sales' }),
      expect.objectContaining({ message: 'ann attached the dataset sales to Sales' }),
      expect.objectContaining({ message: 'ann changed definition of Sales' }),
    ]),
  );
});

test('detaching a dataset removes the blocks that use it, but not the dataset', async ({
  ann,
  orders,
  report,
  attach,
  service,
}) => {
  const id = await report(NESTED);
  const path = await attach(id, { snapshots: { snapshotDatasets: [orders.q1] } });
  await attach(id, { alias: 'other' });
  const reportEtag = await etagOf(ann, `/reports/${id}`);
  await expectError(ann.delete(path, { 'if-match': 'W/"77-x"' }), 412);
  const { status, body } = await ann.delete(path);
  expect([status, body]).toEqual([204, '']);

  expect(await blocksOf(ann, id)).toEqual([
    SINGLE_LEVEL[0],
    SINGLE_LEVEL[2],
    {
      id: 'row',
      type: 'columns',
      blocks: [{ id: 'tabs', type: 'tabs', tabs: [{ title: 'sales', blocks: [{ id: 'kept', type: 'text' }] }] }],
    },
    { id: 'mixed', type: 'mixed', series: [{ dataset: 'other', as: 'b' }] },
    { id: 'list', type: 'custom', datasets: ['other'], expression: 'sales.total + 1' },
    NESTED.at(-1),
  ]);
  expect((await ann.get(`/reports/${id}/dataset-refs`)).body).toMatchObject({
    total: 1,
    _embedded: { 'svc:dataset-reference': [{ id: 'other' }] },
  });
  await expectError(ann.delete(path), 404, 'There is no dataset reference sales');
  await expectError(ann.put(`/reports/${id}`, { name: 'x' }, reportEtag), 412);
  await expectBody(ann.get(orders.path), 200, { records: 20 });
  expect(await activityOf(ann, id)).toContainEqual(
    expect.objectContaining({ message: 'ann took the dataset sales out of Sales' }),
  );

  const orphans = await service.platform.system.query({
    text: `
      select 1
      from dws.dataset_reference_snapshot s
      where not exists (select from dws.dataset_reference r where r.id = s.reference_id)`,
  });
  expect(orphans).toEqual([]);
});

test('an update replaces the snapshots and ignores ids of other datasets', async ({ ann, orders, report, attach }) => {
  const { q1, q2 } = orders;
  const path = await attach(await report(), {
    filter: EU,
    chips: CHIPS,
    snapshots: { snapshotDatasets: [q1, q1.toUpperCase()], n: 3 },
  });
  const { body } = await ann.get(path);
  expect(body.snapshots).toEqual({ includeLatest: true, type: null, n: 3, snapshotDatasets: [{ datasetId: q1 }] });
  // A response can be sent back.
  await expectBody(ann.put(path, body), 200, { filter: EU, chips: CHIPS, snapshots: body.snapshots, count: 8 });

  const withUnknown = await ann.put(path, { snapshots: { snapshotDatasets: [newId(), q2, orders.id, 'x'] } });
  expect(withUnknown.body.snapshots).toEqual({
    includeLatest: true,
    type: null,
    n: 1,
    snapshotDatasets: [{ datasetId: q2 }],
  });
  const renamed = await ann.put(path, { label: 'Same' });
  expect(renamed.body.snapshots).toMatchObject({ snapshotDatasets: [{ datasetId: q2 }] });
  const latest = await ann.put(path, { snapshots: { includeLatest: false, type: 'n', n: 2 } });
  expect(latest.body).toMatchObject({
    count: 7,
    snapshots: { includeLatest: false, type: 'n', n: 2, snapshotDatasets: [] },
  });
});

test('a snapshot that became a dataset of its own is no longer shown', async ({
  ann,
  orders,
  report,
  attach,
  service,
}) => {
  const { q1, q2 } = orders;
  const path = await attach(await report(), { filter: EU, snapshots: { snapshotDatasets: [q1, q2] } });
  await setSnapshotFlag(service, q1, false);
  expect((await ann.get(path)).body).toMatchObject({
    count: 9,
    snapshots: { snapshotDatasets: [{ datasetId: q2 }] },
  });
  await setSnapshotFlag(service, q1, true);
});
