import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { expectBody } from '../support/expect.ts';
import { CHIPS, test } from '../support/report-fixture.ts';
import { createSource, ORDERS_QUERY } from '../support/shop-fixture.ts';

type InvalidCase = [change: object, status: number, message: string];

const withMessage = (message: string) => ({ message: expect.stringContaining(message) });
const withCondition = (change: object) => ({ filter: { criteria: [{ field: 'id', op: 'eq', value: 1, ...change }] } });

test('an invalid new reference is refused with the name of the invalid value', async ({
  ann,
  bob,
  admin,
  shop,
  orders,
  report,
  attach,
}) => {
  const id = await report();
  await attach(id, { alias: 'taken' });
  const otherReport = await report();
  const { id: reportOfBob } = await bob.creates('/reports', { name: 'Bob’s' });
  const { id: datasourceId } = await createSource(admin, shop);
  const { id: hidden } = await admin.creates('/datasets', { name: 'Hidden', datasourceId, query: ORDERS_QUERY });

  const cases: InvalidCase[] = [
    [{ reportId: otherReport }, 400, 'reportId must be the report of the path'],
    [{ reportId: reportOfBob }, 400, 'reportId must be the report of the path'],
    [{ reportId: undefined }, 400, 'reportId'],
    [{ datasetId: undefined }, 400, 'datasetId'],
    [{ alias: undefined }, 400, 'alias'],
    [{ label: undefined }, 400, 'label'],
    [{ alias: '' }, 400, 'alias must not be empty'],
    [{ alias: 'a'.repeat(151) }, 400, 'alias must have at most 150 characters'],
    [{ alias: '-a' }, 400, 'alias must match'],
    [{ alias: 'a b' }, 400, 'alias must match'],
    [{ alias: 'a\n' }, 400, 'alias must match'],
    [{ alias: 'ä' }, 400, 'alias must match'],
    [{ alias: 'taken' }, 409, 'The report already has a dataset reference with the alias "taken"'],
    [{ label: ' ' }, 400, 'label must not be empty'],
    [{ label: 'a'.repeat(151) }, 400, 'label must have at most 150'],
    [{ datasetId: hidden }, 404, `There is no dataset ${hidden}`],
    [{ datasetId: 'no-such-dataset' }, 404, 'There is no dataset no-such-dataset'],
    [{ datasetId: orders.q1 }, 400, 'datasetId must not be a draft or snapshot'],
    [{ filter: { where: [] } }, 400, 'filter has the unknown key "where"'],
    [{ filter: { criteria: {} } }, 400, 'filter.criteria must be an array'],
    [{ filter: { criteria: ['id'] } }, 400, 'filter.criteria.0 must be an object'],
    [{ filter: [] }, 400, 'filter'],
    [withCondition({ op: 'like' }), 400, 'filter.criteria.0.op must be one of eq, ne'],
    [withCondition({ op: '$$eq' }), 400, 'filter.criteria.0.op'],
    [withCondition({ op: undefined }), 400, 'filter.criteria.0.op'],
    [withCondition({ field: 'salary' }), 400, 'Unknown field "salary"'],
    [withCondition({ field: '$or' }), 400, 'Unknown field "$or"'],
    [withCondition({ field: 1 }), 400, 'filter.criteria.0.field'],
    [withCondition({ value: undefined }), 400, 'filter.criteria.0.value is required'],
    [withCondition({ value: 'one' }), 400, 'of type integer'],
    [withCondition({ op: 'in' }), 400, '$in must be a list'],
    [withCondition({ op: 'regex', value: 'a' }), 400, '$regex does not apply'],
    [withCondition({ and: 1 }), 400, 'filter.criteria.0 has the unknown key "and"'],
    [{ chips: [{ field: 'salary', label: 'S' }] }, 400, 'Unknown field "salary"'],
    [{ chips: [{ field: 'id' }] }, 400, 'label'],
    [{ chips: [{ field: 'id', label: '' }] }, 400, 'chips.0.label must not be empty'],
    [{ chips: Array.from({ length: 101 }, () => CHIPS[0]) }, 400, 'chips must have at most 100'],
    [{ snapshots: { n: 0 } }, 400, 'snapshots.n must be a whole number from 1 to 50'],
    [{ snapshots: { type: 'm' } }, 400, 'type'],
    [{ snapshots: { last: 1 } }, 400, 'last'],
    [{ snapshots: { snapshotDatasets: [orders.q1, hidden] } }, 404, `There is no snapshot ${hidden}`],
    [{ snapshots: { snapshotDatasets: [orders.id] } }, 404, `There is no snapshot ${orders.id}`],
    [{ snapshots: { snapshotDatasets: ['x'] } }, 404, 'There is no snapshot x'],
    [{ snapshots: { snapshotDatasets: Array.from({ length: 51 }, newId) } }, 400, 'at most 50 items'],
    [{ colour: 'red' }, 400, 'colour'],
  ];
  const valid = { reportId: id, datasetId: orders.id, alias: 'free', label: 'Free' };
  for (const [change, status, message] of cases) {
    await expectBody(ann.post(`/reports/${id}/dataset-refs`, { ...valid, ...change }), status, withMessage(message));
  }
  expect((await ann.get(`/reports/${id}/dataset-refs`)).body.total, 'nothing was created').toBe(1);
});

test('an invalid update of a reference is refused with the name of the invalid value', async ({
  ann,
  orders,
  report,
  attach,
}) => {
  const id = await report();
  const path = await attach(id);
  await attach(id, { alias: 'second' });
  const cases: InvalidCase[] = [
    [{ alias: 'second' }, 409, 'with the alias "second"'],
    [{ alias: null }, 400, 'alias must not be null'],
    [{ alias: 'a b' }, 400, 'alias must match'],
    [{ label: null }, 400, 'label must not be null'],
    [withCondition({ field: 'salary' }), 400, 'Unknown field "salary"'],
    [{ chips: [{ field: 'salary', label: 'S' }] }, 400, 'Unknown field "salary"'],
    [{ snapshots: { n: 51 } }, 400, 'snapshots.n'],
    [{ reportId: await report() }, 400, '"reportId" cannot be changed'],
    [{ datasetId: orders.q1 }, 400, '"datasetId" cannot be changed'],
    [{ colour: 'red' }, 400, 'colour'],
  ];
  for (const [change, status, message] of cases) {
    await expectBody(ann.put(path, change), status, withMessage(message));
  }
  expect((await ann.get(`/reports/${id}/dataset-refs`)).body.total).toBe(2);
});

test('aliases are unique within a report, also for concurrent requests, and up to 150 characters long', async ({
  ann,
  orders,
  report,
  attach,
}) => {
  const [id, otherReport] = [await report(), await report()];
  await attach(id, { alias: 'taken' });
  await attach(otherReport, { alias: 'taken' });
  await attach(otherReport, { alias: 'a'.repeat(150), label: 'b'.repeat(150) });

  const input = { reportId: id, datasetId: orders.id, alias: 'raced', label: 'Raced' };
  const responses = await Promise.all([1, 2].map(() => ann.post(`/reports/${id}/dataset-refs`, input)));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 409]);
});
