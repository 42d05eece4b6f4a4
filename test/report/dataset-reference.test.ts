import { expect } from 'vitest';
import { newId } from '../../src/core/id.ts';
import type { Client } from '../support/client.ts';
import { EU, test } from '../support/report-fixture.ts';
import { makeSource, ORDERS_QUERY } from '../support/shop-fixture.ts';

const FIELDS = [
  { name: 'id', label: 'id', type: 'integer' },
  { name: 'region', label: 'region', type: 'string' },
  { name: 'amount', label: 'amount', type: 'number' },
  { name: 'ordered_on', label: 'ordered_on', type: 'date' },
];
const CHIPS = [{ field: 'region', label: 'Region' }];
const definitionOf = async (who: Client, id: string) => (await who.get(`/reports/${id}`)).body.definition;

test('a dataset is attached to a report under an alias, and told with its counts and fields', async ({
  ann,
  orders,
  report,
}) => {
  const id = await report();
  const made = await ann.post(`/reports/${id}/dataset-refs`, {
    reportId: id,
    datasetId: orders.id,
    alias: 'sales',
    label: 'Sales',
    filter: EU,
    chips: CHIPS,
  });
  expect(made).toMatchObject({ status: 201 });
  expect(made.body, 'exactly what the specification says').toEqual({
    id: 'sales',
    reportId: id,
    datasetId: orders.id,
    alias: 'sales',
    label: 'Sales',
  });
  expect(made.headers.get('location')).toBe(`/api/reports/${id}/dataset-refs/sales`);

  const record = {
    id: 'sales',
    alias: 'sales',
    reportId: id,
    datasetId: orders.id,
    label: 'Sales',
    filter: EU,
    chips: CHIPS,
    snapshots: null,
    count: 5,
    countWithoutSnapshots: 5,
    overallCount: 20,
    problem: null,
    dataset: { id: orders.id, name: 'Orders', fields: FIELDS },
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    _links: {
      self: { href: `/api/reports/${id}/dataset-refs/sales` },
      'svc:report': { href: `/api/reports/${id}` },
      'svc:dataset': { href: `/api/datasets/${orders.id}` },
    },
  };
  expect((await ann.get(`/reports/${id}/dataset-refs/sales`)).body).toEqual(record);
  await ann.creates(`/reports/${id}/dataset-refs`, {
    reportId: id,
    datasetId: 'orders',
    alias: '_all-2',
    label: ' All ',
  });
  expect((await ann.get(`/reports/${id}/dataset-refs`)).body).toMatchObject({
    start: 0,
    count: 2,
    total: 2,
    _embedded: {
      'svc:dataset-reference': [
        record,
        { id: '_all-2', label: 'All', filter: {}, chips: [], count: 20, overallCount: 20 },
      ],
    },
  });
  expect(await ann.get(`/reports/${id}/dataset-refs/nobody`)).toMatchObject({
    status: 404,
    body: { message: 'There is no dataset reference nobody' },
  });

  const told = await ann.data(
    `{ report(id: "${id}") { datasetReferences { id alias label filter chips { field label } snapshots { n } count dataset { name fields { name } } } datasetReference(alias: "sales") { id countWithoutSnapshots overallCount problem } } }`,
  );
  expect(told.report).toEqual({
    datasetReferences: [
      {
        id: 'sales',
        alias: 'sales',
        label: 'Sales',
        filter: EU,
        chips: CHIPS,
        snapshots: null,
        count: 5,
        dataset: { name: 'Orders', fields: FIELDS.map(({ name }) => ({ name })) },
      },
      {
        id: '_all-2',
        alias: '_all-2',
        label: 'All',
        filter: {},
        chips: [],
        snapshots: null,
        count: 20,
        dataset: { name: 'Orders', fields: FIELDS.map(({ name }) => ({ name })) },
      },
    ],
    datasetReference: { id: 'sales', countWithoutSnapshots: 5, overallCount: 20, problem: null },
  });
  expect(await ann.gql(`{ report(id: "${id}") { datasetReference(alias: "nobody") { id } } }`)).toMatchObject({
    errors: [{ message: 'There is no dataset reference nobody', extensions: { code: 'NOT_FOUND', status: 404 } }],
  });
});

test('GraphQL attaches, changes and takes away as REST does', async ({ ann, orders, report }) => {
  const id = await report([{ id: 'a', type: 'table', dataset: 'eu' }]);
  const input = {
    reportId: id,
    datasetId: orders.id,
    alias: 'eu',
    label: 'Europe',
    filter: EU,
    snapshots: { type: 'N', n: 2 },
  };
  expect(
    await ann.data(
      `mutation ($id: ID!, $input: CreateDatasetReferenceInput!) { createDatasetReference(reportId: $id, input: $input) { id reportId count snapshots { includeLatest type n snapshotDatasets { datasetId } } } }`,
      { id, input },
    ),
  ).toEqual({
    createDatasetReference: {
      id: 'eu',
      reportId: id,
      count: 12,
      snapshots: { includeLatest: true, type: 'N', n: 2, snapshotDatasets: [] },
    },
  });
  expect(
    await ann.data(
      `mutation { updateDatasetReference(reportId: "${id}", alias: "eu", input: { alias: "europe", snapshots: null }) { id label count snapshots { n } } }`,
    ),
  ).toEqual({ updateDatasetReference: { id: 'europe', label: 'Europe', count: 5, snapshots: null } });
  expect((await definitionOf(ann, id)).blocks).toEqual([{ id: 'a', type: 'table', dataset: 'europe' }]);
  expect(
    await ann.gql(
      `mutation { updateDatasetReference(reportId: "${id}", alias: "europe", input: { alias: "no spaces" }) { id } }`,
    ),
  ).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT', status: 400 } }] });
  expect(await ann.data(`mutation { deleteDatasetReference(reportId: "${id}", alias: "europe") }`)).toEqual({
    deleteDatasetReference: 'europe',
  });
  expect((await definitionOf(ann, id)).blocks).toEqual([]);
});

test('counts are of current rows and of the snapshots, with and without the filter', async ({
  ann,
  orders,
  report,
  attach,
}) => {
  const { q1, q2 } = orders;
  const path = await attach(await report(), { filter: EU });
  const counted = async (snapshots: object | null) => {
    const { body } = await ann.put(path, { snapshots });
    return [body.count, body.countWithoutSnapshots, body.overallCount];
  };
  expect(await counted(null)).toEqual([5, 5, 20]);
  expect(await counted({}), 'none chosen').toEqual([5, 5, 20]);
  expect(await counted({ snapshotDatasets: [q1] })).toEqual([8, 5, 32]);
  expect(await counted({ snapshotDatasets: [q1, q2] })).toEqual([12, 5, 48]);
  expect(
    await counted({ includeLatest: false, snapshotDatasets: [q2] }),
    'current rows count in all, not in what is shown',
  ).toEqual([4, 5, 36]);
  expect(await counted({ type: 'n' }), 'the latest').toEqual([9, 5, 36]);
  expect(await counted({ type: 'n', n: 5, snapshotDatasets: [q1] }), 'as many as there are').toEqual([12, 5, 48]);
  expect(await counted({ includeLatest: false, type: 'n', n: 1 })).toEqual([4, 5, 36]);
  expect((await ann.put(path, { filter: null, snapshots: { snapshotDatasets: [q1] } })).body).toMatchObject({
    filter: {},
    count: 32,
    countWithoutSnapshots: 20,
    overallCount: 32,
    snapshots: { includeLatest: true, type: null, n: 1, snapshotDatasets: [{ datasetId: q1 }] },
  });
});

test('every operator chooses rows, with and without its sign', async ({ ann, report, attach }) => {
  const path = await attach(await report());
  const cases: [string, string, unknown, number][] = [
    ['region', 'eq', 'EU', 5],
    ['region', '$ne', 'EU', 15],
    ['id', 'gt', 18, 2],
    ['id', '$gte', 18, 3],
    ['id', 'lt', 3, 2],
    ['id', 'lte', 3, 3],
    ['region', '$in', ['EU', 'US'], 10],
    ['region', 'nin', ['EU', 'US'], 10],
    ['region', 'regex', '^A', 5],
    ['region', 'exists', false, 5],
    ['region', 'eq', null, 5],
    ['ordered_on', 'lte', '2026-01-03', 2],
  ];
  for (const [field, op, value, count] of cases) {
    const criteria = [{ field, op, value }];
    expect(await ann.put(path, { filter: { criteria } }), `${field} ${op}`).toMatchObject({
      status: 200,
      body: { filter: { criteria }, count },
    });
  }
  expect(
    (
      await ann.put(path, {
        filter: {
          criteria: [...EU.criteria, { field: 'id', op: 'gt', value: 10 }, { field: 'id', op: 'lt', value: 20 }],
        },
      })
    ).body.count,
    'all must hold',
  ).toBe(2);
});

test('what does not fit is refused, naming it', async ({ ann, bob, admin, shop, orders, report, attach }) => {
  const id = await report();
  const path = await attach(id, { alias: 'taken' });
  const other = await report();
  const hidden = (
    await admin.creates('/datasets', {
      name: 'Hidden',
      datasourceId: (await makeSource(admin, shop)).id,
      query: ORDERS_QUERY,
    })
  ).id;
  const foreign = (await bob.creates('/reports', { name: 'Bob’s' })).id;
  const good = { reportId: id, datasetId: orders.id, alias: 'free', label: 'Free' };
  const condition = (one: object) => ({ filter: { criteria: [{ field: 'id', op: 'eq', value: 1, ...one }] } });
  const cases: [object, number, string][] = [
    [{ reportId: other }, 400, 'reportId is not the report of the path'],
    [{ reportId: foreign }, 400, 'reportId is not'],
    [{ reportId: undefined }, 400, 'reportId'],
    [{ datasetId: undefined }, 400, 'datasetId'],
    [{ alias: undefined }, 400, 'alias'],
    [{ label: undefined }, 400, 'label'],
    [{ alias: '' }, 400, 'alias is required'],
    [{ alias: 'a'.repeat(151) }, 400, 'alias must have at most 150 characters'],
    [{ alias: '-a' }, 400, 'alias must match'],
    [{ alias: 'a b' }, 400, 'alias must match'],
    [{ alias: 'a\n' }, 400, 'alias must match'],
    [{ alias: 'ä' }, 400, 'alias must match'],
    [{ alias: 'taken' }, 409, 'The report has another dataset reference called "taken"'],
    [{ label: ' ' }, 400, 'label is required'],
    [{ label: 'a'.repeat(151) }, 400, 'label must have at most 150'],
    [{ datasetId: hidden }, 404, `There is no dataset ${hidden}`],
    [{ datasetId: 'nothing-so-called' }, 404, 'There is no dataset nothing-so-called'],
    [{ datasetId: orders.q1 }, 400, 'datasetId is that of a draft or snapshot'],
    [{ filter: { where: [] } }, 400, 'filter has the unknown key "where"'],
    [{ filter: { criteria: {} } }, 400, 'filter.criteria must be an array'],
    [{ filter: { criteria: ['id'] } }, 400, 'filter.criteria.0 must be an object'],
    [{ filter: [] }, 400, 'filter'],
    [condition({ op: 'like' }), 400, 'filter.criteria.0.op must be one of eq, ne'],
    [condition({ op: '$$eq' }), 400, 'filter.criteria.0.op'],
    [condition({ op: undefined }), 400, 'filter.criteria.0.op'],
    [condition({ field: 'salary' }), 400, 'Unknown field "salary"'],
    [condition({ field: '$or' }), 400, 'Unknown field "$or"'],
    [condition({ field: 1 }), 400, 'filter.criteria.0.field'],
    [condition({ value: undefined }), 400, 'filter.criteria.0.value is required'],
    [condition({ value: 'one' }), 400, 'of type integer'],
    [condition({ op: 'in' }), 400, '$in takes a list'],
    [condition({ op: 'regex', value: 'a' }), 400, '$regex does not apply'],
    [condition({ and: 1 }), 400, 'filter.criteria.0 has the unknown key "and"'],
    [{ chips: [{ field: 'salary', label: 'S' }] }, 400, 'Unknown field "salary"'],
    [{ chips: [{ field: 'id' }] }, 400, 'label'],
    [{ chips: [{ field: 'id', label: '' }] }, 400, 'chips.0.label is required'],
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
  for (const [more, status, message] of cases)
    expect(await ann.post(`/reports/${id}/dataset-refs`, { ...good, ...more }), message).toMatchObject({
      status,
      body: { message: expect.stringContaining(message) },
    });

  await attach(id, { alias: 'second' });
  const changes: [object, number, string][] = [
    [{ alias: 'second' }, 409, 'called "second"'],
    [{ alias: null }, 400, 'alias is required'],
    [{ alias: 'a b' }, 400, 'alias must match'],
    [{ label: null }, 400, 'label is required'],
    [{ filter: { criteria: [{ field: 'salary', op: 'eq', value: 1 }] } }, 400, 'Unknown field "salary"'],
    [{ chips: [{ field: 'salary', label: 'S' }] }, 400, 'Unknown field "salary"'],
    [{ snapshots: { n: 51 } }, 400, 'snapshots.n'],
    [{ reportId: other }, 400, '"reportId" cannot be changed'],
    [{ datasetId: hidden }, 400, '"datasetId" cannot be changed'],
    [{ colour: 'red' }, 400, 'colour'],
  ];
  for (const [change, status, message] of changes)
    expect(await ann.put(path, change), message).toMatchObject({
      status,
      body: { message: expect.stringContaining(message) },
    });
  expect((await ann.get(`/reports/${id}/dataset-refs`)).body.total, 'nothing of it was kept').toBe(2);
  expect(
    await ann.post(`/reports/${other}/dataset-refs`, { ...good, reportId: other, alias: 'taken' }),
    'aliases are a report’s own',
  ).toMatchObject({ status: 201 });
  const twice = await Promise.all(
    [1, 2].map(() => ann.post(`/reports/${id}/dataset-refs`, { ...good, alias: 'raced' })),
  );
  expect(twice.map(({ status }) => status).toSorted(), 'of two at once one gets it').toEqual([201, 409]);
  expect(
    await ann.post(`/reports/${other}/dataset-refs`, {
      ...good,
      reportId: other,
      alias: 'a'.repeat(150),
      label: 'b'.repeat(150),
    }),
  ).toMatchObject({ status: 201 });
});

const NESTED = [
  { id: 'text', type: 'text', text: 'sales' },
  { id: 'one', type: 'table', dataset: 'sales', filter: { dataset: 'sales' } },
  { id: 'two', type: 'table', dataset: 'other' },
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
];

test('a new alias is put into every block of the definition that uses it, and nowhere else', async ({
  ann,
  report,
  attach,
}) => {
  const id = await report(NESTED);
  const path = await attach(id);
  const before = (await ann.get(`/reports/${id}`)).headers.get('etag')!;
  const { headers } = await ann.get(path);
  const renamed = await ann.put(path, { alias: 'turnover', label: 'Turnover' }, { 'if-match': headers.get('etag')! });
  expect(renamed).toMatchObject({
    status: 200,
    body: {
      id: 'turnover',
      alias: 'turnover',
      label: 'Turnover',
      count: 20,
      _links: { self: { href: `/api/reports/${id}/dataset-refs/turnover` } },
    },
  });
  const expected = JSON.parse(
    JSON.stringify(NESTED)
      .replaceAll('"dataset":"sales"', '"dataset":"turnover"')
      .replace('"filter":{"dataset":"turnover"}', '"filter":{"dataset":"sales"}'),
  );
  expect((await definitionOf(ann, id)).blocks).toEqual(expected);
  expect(await ann.get(path)).toMatchObject({ status: 404 });
  expect(
    await ann.put(`/reports/${id}`, { name: 'x' }, { 'if-match': before }),
    'the report is another version',
  ).toMatchObject({ status: 412 });
  expect(
    await ann.put(`/reports/${id}/dataset-refs/turnover`, { label: 'x' }, { 'if-match': headers.get('etag')! }),
    'so is the reference',
  ).toMatchObject({ status: 412 });
  expect((await ann.get(`/reports/${id}/activity`)).body._embedded['svc:activity']).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ type: 'report.updated', message: 'ann changed the dataset turnover of Sales' }),
      expect.objectContaining({ message: 'ann attached the dataset sales to Sales' }),
      expect.objectContaining({ message: 'ann changed definition of Sales' }),
    ]),
  );
});

test('taking a dataset out of a report takes the blocks that use it, and leaves the dataset', async ({
  ann,
  orders,
  report,
  attach,
  service,
}) => {
  const id = await report(NESTED);
  const path = await attach(id, { snapshots: { snapshotDatasets: [orders.q1] } });
  await attach(id, { alias: 'other' });
  const before = (await ann.get(`/reports/${id}`)).headers.get('etag')!;
  expect(await ann.delete(path, { 'if-match': 'W/"77-x"' })).toMatchObject({ status: 412 });
  const answer = await ann.delete(path);
  expect([answer.status, answer.body]).toEqual([204, '']);
  expect((await definitionOf(ann, id)).blocks).toEqual([
    NESTED[0],
    NESTED[2],
    {
      id: 'row',
      type: 'columns',
      blocks: [{ id: 'tabs', type: 'tabs', tabs: [{ title: 'sales', blocks: [{ id: 'kept', type: 'text' }] }] }],
    },
    { id: 'mixed', type: 'mixed', series: [{ dataset: 'other', as: 'b' }] },
  ]);
  expect((await ann.get(`/reports/${id}/dataset-refs`)).body).toMatchObject({
    total: 1,
    _embedded: { 'svc:dataset-reference': [{ id: 'other' }] },
  });
  expect(await ann.delete(path)).toMatchObject({
    status: 404,
    body: { message: 'There is no dataset reference sales' },
  });
  expect(await ann.put(`/reports/${id}`, { name: 'x' }, { 'if-match': before })).toMatchObject({ status: 412 });
  expect(await ann.get(orders.path)).toMatchObject({ status: 200, body: { records: 20 } });
  expect((await ann.get(`/reports/${id}/activity`)).body._embedded['svc:activity']).toEqual(
    expect.arrayContaining([expect.objectContaining({ message: 'ann took the dataset sales out of Sales' })]),
  );
  expect(
    await service.platform.system.query({
      text: `select 1 from dws.dataset_reference_snapshot s where not exists (select from dws.dataset_reference r where r.id = s.reference_id)`,
    }),
  ).toEqual([]);
});

test('snapshots are replaced; in a change what is none is passed over, and an answer can be sent back', async ({
  ann,
  orders,
  report,
  attach,
  service,
}) => {
  const path = await attach(await report(), {
    filter: EU,
    chips: CHIPS,
    snapshots: { snapshotDatasets: [orders.q1, orders.q1.toUpperCase()], n: 3 },
  });
  const { body } = await ann.get(path);
  expect(body.snapshots).toEqual({
    includeLatest: true,
    type: null,
    n: 3,
    snapshotDatasets: [{ datasetId: orders.q1 }],
  });
  expect(await ann.put(path, body)).toMatchObject({
    status: 200,
    body: { filter: EU, chips: CHIPS, snapshots: body.snapshots, count: 8 },
  });
  expect(
    (await ann.put(path, { snapshots: { snapshotDatasets: [newId(), orders.q2, orders.id, 'x'] } })).body.snapshots,
  ).toEqual({ includeLatest: true, type: null, n: 1, snapshotDatasets: [{ datasetId: orders.q2 }] });
  expect((await ann.put(path, { label: 'Same' })).body.snapshots, 'what is not named stays').toMatchObject({
    snapshotDatasets: [{ datasetId: orders.q2 }],
  });
  expect((await ann.put(path, { snapshots: { includeLatest: false, type: 'n', n: 2 } })).body).toMatchObject({
    count: 7,
    snapshots: { includeLatest: false, type: 'n', n: 2, snapshotDatasets: [] },
  });

  await ann.put(path, { snapshots: { snapshotDatasets: [orders.q1, orders.q2] } });
  await service.platform.system.query({
    text: `update dws.dataset set is_snapshot = false where id = $1`,
    values: [orders.q1],
  });
  expect((await ann.get(path)).body, 'one that is a dataset of its own now').toMatchObject({
    count: 9,
    snapshots: { snapshotDatasets: [{ datasetId: orders.q2 }] },
  });
  await service.platform.system.query({
    text: `update dws.dataset set is_snapshot = true where id = $1`,
    values: [orders.q1],
  });
});

test('a dataset that a report shows is known to its references and cannot be deleted', async ({
  ann,
  bob,
  source,
  report,
}) => {
  const datasetId = (await ann.creates('/datasets', { name: 'Shown', datasourceId: source.id, query: ORDERS_QUERY }))
    .id;
  const id = await report();
  for (const alias of ['one', 'two'])
    await ann.creates(`/reports/${id}/dataset-refs`, { reportId: id, datasetId, alias, label: alias });
  expect((await ann.get(`/datasets/${datasetId}/references`)).body).toMatchObject({
    total: 1,
    _embedded: { 'svc:reference': [{ kind: 'report', id, name: 'Sales' }] },
  });
  expect(await ann.delete(`/datasets/${datasetId}`)).toMatchObject({
    status: 409,
    body: { code: 'CONFLICT', message: 'The dataset is in use by report "Sales"' },
  });
  expect(await ann.gql(`mutation { deleteDataset(id: "${datasetId}") }`)).toMatchObject({
    errors: [{ extensions: { code: 'CONFLICT' } }],
  });
  await ann.put(`/datasets/${datasetId}/shares/bob`, { accessLevel: 3 });
  expect(
    await bob.delete(`/datasets/${datasetId}`),
    'of a report that one may not read only the number is told',
  ).toMatchObject({ status: 409, body: { message: 'The dataset is in use by 1 more' } });
  expect(await ann.delete(`/reports/${id}`)).toMatchObject({ status: 204 });
  expect(await ann.delete(`/datasets/${datasetId}`)).toMatchObject({ status: 204 });
});

test('a filter that no longer fits is told, and counts nothing', async ({ ann, source, report }) => {
  const { id: datasetId } = await ann.creates('/datasets', {
    name: 'Changing',
    datasourceId: source.id,
    query: 'select id, region from orders',
    refresh: true,
  });
  const id = await report();
  await ann.creates(`/reports/${id}/dataset-refs`, { reportId: id, datasetId, alias: 'c', label: 'C', filter: EU });
  const read = async () => (await ann.get(`/reports/${id}/dataset-refs/c`)).body;
  expect(await read()).toMatchObject({ count: 5, problem: null });
  await ann.put(`/datasets/${datasetId}`, { query: 'select id from orders' });
  expect(await ann.post(`/datasets/${datasetId}/_refresh`, {})).toMatchObject({ status: 200 });
  expect(await read()).toMatchObject({
    filter: EU,
    count: null,
    countWithoutSnapshots: null,
    overallCount: 20,
    problem: 'Unknown field "region"',
    dataset: { fields: [{ name: 'id' }] },
  });
});

test('who may not read the dataset sees the reference without it; who edits the report keeps what they do not see', async ({
  ann,
  bob,
  orders,
  report,
  attach,
}) => {
  const id = await report();
  const path = await attach(id, { filter: EU, chips: CHIPS, snapshots: { snapshotDatasets: [orders.q1] } });
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
    problem: `There is no dataset ${orders.id}`,
  });
  expect(await bob.put(path, { ...body, label: 'Mine' }), 'an answer can be sent back').toMatchObject({
    status: 200,
    body: { label: 'Mine', dataset: null, count: null },
  });
  expect(await bob.put(path, { filter: EU })).toMatchObject({
    status: 404,
    body: { message: `There is no dataset ${orders.id}` },
  });
  expect((await ann.get(path)).body).toMatchObject({
    label: 'Mine',
    filter: EU,
    chips: CHIPS,
    snapshots: { snapshotDatasets: [{ datasetId: orders.q1 }] },
    count: 8,
  });
  await ann.put(`/reports/${id}/shares/bob`, { accessLevel: 1 });
  for (const answer of [
    await bob.put(path, { label: 'x' }),
    await bob.delete(path),
    await bob.post(`/reports/${id}/dataset-refs`, { reportId: id, datasetId: orders.id, alias: 'b', label: 'b' }),
  ])
    expect(answer).toMatchObject({ status: 403, body: { message: 'You lack the permission report:write' } });
});

test('who sees a part of the dataset counts that part, and is told of no field that is hidden', async ({
  ann,
  bob,
  orders,
  report,
  attach,
}) => {
  const id = await report();
  const [all, hidden, fine] = [
    await attach(id),
    await attach(id, {
      alias: 'hidden',
      filter: { criteria: [{ field: 'amount', op: 'gt', value: 100 }] },
      chips: [{ field: 'amount', label: 'Amount' }],
    }),
    await attach(id, {
      alias: 'fine',
      filter: { criteria: [{ field: 'id', op: 'gt', value: 10 }] },
      snapshots: { type: 'n', n: 2 },
    }),
  ];
  const { id: datasetFilterId } = await ann.creates(`${orders.path}/filters`, {
    name: 'EU',
    criteria: { region: 'EU' },
  });
  expect(
    await ann.put(`${orders.path}/shares/bob`, {
      accessLevel: 1,
      datasetFilterId,
      restrictFields: true,
      visibleFields: ['id', 'region'],
    }),
  ).toMatchObject({ status: 200 });
  await ann.put(`/reports/${id}/shares/bob`, { accessLevel: 2 });
  const shown = { dataset: { name: 'Orders', fields: [{ name: 'id' }, { name: 'region' }] } };

  expect((await bob.get(all)).body).toMatchObject({
    count: 5,
    countWithoutSnapshots: 5,
    overallCount: 5,
    problem: null,
    ...shown,
  });
  expect((await bob.get(fine)).body, 'and of snapshots').toMatchObject({
    count: 3 + 2 + 1,
    countWithoutSnapshots: 3,
    overallCount: 12,
  });
  const answer = await bob.get(hidden);
  expect(answer.body).toMatchObject({
    filter: {},
    chips: [],
    count: null,
    countWithoutSnapshots: null,
    overallCount: 5,
    problem: 'It names a field that does not exist or has another type',
    ...shown,
  });
  expect(answer.body.dataset.fields).toHaveLength(2);
  expect(JSON.stringify(answer.body)).not.toContain('amount');
  const told = await bob.gql(
    `{ report(id: "${id}") { datasetReferences { alias filter chips { field } count problem } } }`,
  );
  expect(JSON.stringify(told)).not.toContain('amount');
  expect(told.data.report.datasetReferences.map(({ count }: { count: number }) => count)).toEqual([5, null, 6]);

  for (const field of ['amount', 'nothing']) {
    expect(await bob.put(all, { filter: { criteria: [{ field, op: 'eq', value: 1 }] } })).toMatchObject({
      status: 400,
      body: { message: `Unknown field "${field}"` },
    });
    expect(await bob.put(all, { chips: [{ field, label: 'x' }] })).toMatchObject({
      status: 400,
      body: { message: `Unknown field "${field}"` },
    });
  }
  expect(await bob.put(hidden, { ...answer.body, label: 'Bob was here' })).toMatchObject({
    status: 200,
    body: { label: 'Bob was here', filter: {} },
  });
  expect((await ann.get(hidden)).body).toMatchObject({
    label: 'Bob was here',
    chips: [{ field: 'amount' }],
    count: 10,
  });
  expect((await bob.put(hidden, { filter: EU })).body, 'what they see they may set').toMatchObject({
    filter: EU,
    chips: [],
    count: 5,
  });
  await ann.delete(`${orders.path}/shares/bob`);
});
