import { expect } from 'vitest';
import { expectError } from '../support/expect.ts';
import { COUNT, dataBlocksOf, SUM_BY_REGION } from '../support/report-blocks.ts';
import { Q1, Q2, test } from '../support/report-fixture.ts';

type InvalidBlock = [block: object, statusCode: number, message: string];

const NO_FORM = 'block with a dataset must be a table, or have measures, a visual or a config';
const INVALID_BLOCKS: InvalidBlock[] = [
  [{ type: 'table', dataset: 'unknown' }, 404, 'There is no dataset reference unknown'],
  [{ type: 'chart' }, 400, NO_FORM],
  [{ type: 'bar-chart' }, 400, NO_FORM],
  [{ type: 'visual' }, 400, 'visual must be the id of a visual'],
  [{ type: 'visual', visual: 'x' }, 404, 'There is no visual x'],
  [{ type: 'bar-chart', config: { colour: 'red' } }, 400, 'config.colour is unknown'],
  [{ type: 'bar-chart', config: {} }, 400, 'xAxis'],
  [{ type: 'table', fields: ['salary'] }, 400, 'Unknown field "salary"'],
  [{ type: 'table', fields: 'id' }, 400, 'fields must be array'],
  [{ type: 'table', limit: 1001 }, 400, 'limit must be <= 1000'],
  [{ type: 'table', limit: 0 }, 400, 'limit must be >= 1'],
  [{ type: 'table', sort: 'salary' }, 400, 'Unknown field "salary"'],
  [{ type: 'table', filter: { id: { $like: 1 } } }, 400, '$like'],
  [{ type: 'table', filter: 7 }, 400, 'filter must be criteria'],
  [{ type: 'table', filter: 'late' }, 404, 'There is no filter late'],
  [{ type: 'chart', measures: {} }, 400, 'measures must be array'],
  [{ type: 'chart', measures: [{ fn: 'median', as: 'm' }] }, 400, 'measures.0.fn must be one of count, sum'],
  [{ type: 'chart', measures: [{ fn: 'count' }] }, 400, 'measures.0'],
  [
    { type: 'chart', measures: [], groupBy: [{ field: 'id', interval: 'eon' }] },
    400,
    'groupBy.0.interval must be one of',
  ],
  [{ type: 'chart', measures: [] }, 400, 'measures must not be empty'],
  [{ type: 'chart', measures: [{ fn: 'sum', field: 'region', as: 's' }] }, 400, 'which is not a number'],
  [{ type: 'chart', ...COUNT, limit: 5000 }, 400, 'limit must be <= 1000'],
];

test('an invalid block has an error of its own and does not affect other blocks', async ({
  ann,
  orders,
  report,
  attach,
}) => {
  const filter = await ann.creates(`${orders.path}/filters`, { name: 'Late', criteria: { id: { $gt: 15 } } });
  const id = await report([
    ...INVALID_BLOCKS.map(([block], n) => ({ dataset: 'sales', ...block, id: `invalid${n}` })),
    { id: 'valid', type: 'metric', dataset: 'sales', ...COUNT, filter: filter.id },
  ]);
  await attach(id);
  const blocks = await dataBlocksOf(ann, id);
  for (const [n, [block, statusCode, message]] of INVALID_BLOCKS.entries()) {
    const code = statusCode === 404 ? 'NOT_FOUND' : 'BAD_USER_INPUT';
    expect(blocks[n], JSON.stringify(block)).toMatchObject({
      id: `invalid${n}`,
      data: null,
      error: { statusCode, code, message: expect.stringContaining(message) },
    });
  }
  expect(blocks.at(-1)).toMatchObject({ id: 'valid', data: { rows: [[5]] }, error: null });
});

test('sharing a report does not share its datasets', async ({ ann, bob, stranger, orders, report, attach }) => {
  const id = await report([{ id: 'n', type: 'metric', dataset: 'sales', ...COUNT }]);
  await attach(id);
  for (const outsider of [bob, stranger]) {
    await expectError(outsider.get(`/reports/${id}/data`), 404, `There is no report ${id}`);
  }

  await ann.put(`/reports/${id}/shares/bob`, { accessLevel: 1 });
  const error = { statusCode: 404, code: 'NOT_FOUND', message: `There is no dataset ${orders.id}` };
  expect(await dataBlocksOf(bob, id)).toEqual([{ id: 'n', type: 'metric', dataset: 'sales', data: null, error }]);
  const query = `{ report(id: "${id}") {
    data(blocks: ["n"]) { blocks { data error { statusCode code message } } }
  } }`;
  expect((await bob.data(query)).report.data.blocks).toEqual([{ data: null, error }]);
});

test('a user with restricted access sees only their rows in each block, and no names of hidden fields', async ({
  ann,
  bob,
  admin,
  orders,
  report,
  attach,
  restrictBob,
}) => {
  const id = await report([
    { id: 'rows', type: 'table', dataset: 'sales', sort: 'id' },
    { id: 'n', type: 'metric', dataset: 'sales', ...COUNT },
    { id: 'past', type: 'metric', dataset: 'past', ...COUNT },
    { id: 'visible', type: 'table', dataset: 'sales', fields: ['id'], filter: { id: { $gt: 15 } } },
    { id: 'secret', type: 'table', dataset: 'secret', fields: ['id'] },
    { id: 'chart', type: 'chart', dataset: 'sales', ...SUM_BY_REGION },
  ]);
  await attach(id);
  await attach(id, { alias: 'past', snapshots: { type: 'n', n: 2 } });
  await attach(id, { alias: 'secret', filter: { criteria: [{ field: 'amount', op: 'gt', value: 100 }] } });
  await restrictBob({ region: 'EU', amount: { $lt: 200 } });
  await ann.put(`/reports/${id}/shares/bob`, { accessLevel: 1 });

  const blocks = await dataBlocksOf(bob, id);
  const [rows, n, past, visible, secret, chart] = blocks;
  expect(blocks).toHaveLength(6);
  expect(rows!.data).toMatchObject({
    fields: [{ name: 'id' }, { name: 'region' }],
    rows: [4, 8, 12, 16].map((order) => ({ id: order, region: 'EU' })),
    total: 4,
  });
  expect(n!.data).toMatchObject({ rows: [[4]] });
  expect(past!.data).toMatchObject({
    rows: [
      [null, 4],
      [Q2, 4],
      [Q1, 3],
    ],
  });
  expect(visible!.data).toMatchObject({ rows: [{ id: 16 }], total: 1 });
  const secretMessage =
    'The filter of the dataset reference "secret" does not fit its dataset: ' +
    'It names a field that does not exist or has another type';
  expect(secret).toMatchObject({ data: null, error: { statusCode: 400, message: secretMessage } });
  expect(chart).toMatchObject({ data: null, error: { statusCode: 400, message: 'measures names an unknown field' } });
  expect(JSON.stringify(blocks)).not.toContain('amount');
  expect((await dataBlocksOf(admin, id)).map(({ error }) => error)).toEqual([null, null, null, null, null, null]);
  await ann.delete(`${orders.path}/shares/bob`);
});

test('at most a hundred blocks with data are resolved at a time', async ({ ann, report, attach }) => {
  const id = await report(
    Array.from({ length: 102 }, (_, n) => ({ id: `b${n}`, type: 'metric', dataset: 'sales', ...COUNT })),
  );
  await attach(id);
  const blocks = await dataBlocksOf(ann, id);
  for (const block of blocks.slice(0, 100)) expect(block).toMatchObject({ data: { rows: [[20]] }, error: null });
  expect(blocks.slice(100)).toMatchObject([
    { data: null, error: { statusCode: 400, message: 'blocks must name at most 100 blocks with data' } },
    { data: null },
  ]);
  expect(blocks[99]).toMatchObject({ id: 'b99', data: { rows: [[20]] } });
  expect(await dataBlocksOf(ann, id, '?blocks=b101')).toMatchObject([
    { id: 'b101', data: { rows: [[20]] }, error: null },
  ]);
});
