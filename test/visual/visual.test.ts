import { expect } from 'vitest';
import { copyVisuals } from '../../src/services/visual/visual.ts';
import type { Client } from '../support/client.ts';
import { ORDERS_QUERY, test as base } from '../support/shop-fixture.ts';

const COMPONENTS = ['bar-chart', 'line-chart', 'pie-chart', 'table', 'scatter-plot', 'heatmap', 'gauge', 'card'];
const UNKNOWN = '01900000-0000-7000-8000-000000000000';

interface Orders {
  id: string;
  visuals: string;
}

/** The world with a dataset of the shop's orders: amounts 10 to 200, in the regions US, APAC, none and EU in turn. */
const test = base.extend<{
  orders: Orders;
  make: (config: object, component?: string) => Promise<string>;
  fresh: (name: string) => Promise<Orders>;
}>({
  orders: [
    async ({ ann, source }, use) => {
      const { id } = await ann.creates('/datasets', {
        name: 'Orders',
        datasourceId: source.id,
        query: ORDERS_QUERY,
        refresh: true,
      });
      await ann.put(`/datasets/${id}`, { fields: [{ name: 'amount', label: 'Amount' }] });
      await use({ id, visuals: `/datasets/${id}/visuals` });
    },
    { scope: 'file' },
  ],
  // A dataset of its own for what counts visuals. It has no rows.
  fresh: async ({ ann, source }, use) =>
    use(async (name) => {
      const { id } = await ann.creates('/datasets', { name, datasourceId: source.id, query: ORDERS_QUERY });
      return { id, visuals: `/datasets/${id}/visuals` };
    }),
  make: async ({ ann, orders }, use) =>
    use(async (config, component = 'bar-chart') => (await ann.creates(orders.visuals, { component, config })).id),
});

const listed = async (who: Client, path: string) =>
  (await who.get(path)).body._embedded['svc:visual'].map(({ name, position, pinned }: Record<string, unknown>) => [
    name,
    position,
    pinned,
  ]);

test('a visual is made with defaults, read, changed and deleted', async ({ ann, orders }) => {
  const made = await ann.post(orders.visuals, { component: 'bar-chart' });
  expect(made.status).toBe(200);
  const { id, position } = made.body;
  expect(made.body).toMatchObject({
    name: 'Bar chart',
    description: null,
    component: 'bar-chart',
    datasetId: orders.id,
    ownerId: ann.id,
    config: {},
    embedded: false,
    pinned: false,
    position: expect.any(Number),
    permissions: { edit: true, delete: true },
    imageUrl: `/api${orders.visuals}/${id}/image.svg`,
    createdAt: expect.stringMatching(/Z$/),
    _links: {
      self: { href: `/api${orders.visuals}/${id}` },
      'svc:dataset': { href: `/api/datasets/${orders.id}` },
      'svc:data': { href: `/api${orders.visuals}/${id}/data` },
      'svc:image': { href: `/api${orders.visuals}/${id}/image.svg` },
    },
  });
  const config = { xAxis: 'region', yAxis: null, stacked: false, width: 640 };
  expect(
    await ann.put(`${orders.visuals}/${id}`, {
      name: ' By region ',
      description: 'd',
      config,
      embedded: true,
      pinned: true,
    }),
  ).toMatchObject({
    status: 200,
    body: { name: 'By region', description: 'd', config, embedded: true, pinned: true, position },
  });
  const read = await ann.get(`${orders.visuals}/${id}`);
  expect(read).toMatchObject({ status: 200, body: { name: 'By region', config } });
  expect(await ann.put(`${orders.visuals}/${id}`, read.body), 'an answer can be sent back').toMatchObject({
    status: 200,
    body: { name: 'By region', config, pinned: true },
  });
  expect(await ann.put(`${orders.visuals}/${id}`, { description: null })).toMatchObject({
    status: 200,
    body: { description: null, name: 'By region' },
  });
  expect((await ann.get(`${orders.visuals}?pinned=true`)).body).toMatchObject({
    total: 1,
    _embedded: { 'svc:visual': [{ id, permissions: { edit: true, delete: true } }] },
  });
  expect(await ann.delete(`${orders.visuals}/${id}`)).toMatchObject({ status: 204 });
  expect(await ann.get(`${orders.visuals}/${id}`)).toMatchObject({
    status: 404,
    body: { message: `There is no visual ${id}` },
  });
});

test('the same by GraphQL', async ({ ann, orders }) => {
  const { createVisual: made } = await ann.data(
    `mutation { createVisual(datasetId: "${orders.id}", input: { component: PIE_CHART, config: { categoryField: "region" } }) { id name component config permissions { edit delete } } }`,
  );
  expect(made).toMatchObject({
    name: 'Pie chart',
    component: 'PIE_CHART',
    config: { categoryField: 'region' },
    permissions: { edit: true, delete: true },
  });
  expect(
    await ann.data(
      `mutation { updateVisual(datasetId: "${orders.id}", id: "${made.id}", input: { name: "Shares", pinned: true }) { name pinned } }`,
    ),
  ).toEqual({ updateVisual: { name: 'Shares', pinned: true } });
  expect(
    await ann.data(
      `{ dataset(id: "${orders.id}") { visuals(pinned: true) { name } visual(id: "${made.id}") { name datasetId ownerId imageUrl data { rows total } } visualTemplates { component } } }`,
    ),
  ).toMatchObject({
    dataset: {
      visuals: [{ name: 'Shares' }],
      visualTemplates: expect.arrayContaining([{ component: 'PIE_CHART' }]),
      visual: {
        name: 'Shares',
        datasetId: orders.id,
        ownerId: ann.id,
        imageUrl: `/api${orders.visuals}/${made.id}/image.svg`,
        data: {
          rows: [
            ['APAC', 5],
            ['EU', 5],
            ['US', 5],
            [null, 5],
          ],
          total: 4,
        },
      },
    },
  });
  expect(await ann.data(`mutation { deleteVisual(datasetId: "${orders.id}", id: "${made.id}") }`)).toEqual({
    deleteVisual: made.id,
  });
  expect(await ann.gql(`{ dataset(id: "${orders.id}") { visual(id: "${made.id}") { name } } }`)).toMatchObject({
    errors: [{ message: `There is no visual ${made.id}`, extensions: { code: 'NOT_FOUND' } }],
  });
});

test('places count from 0 without gaps, and pinned ones come first', async ({ ann, fresh }) => {
  const { visuals } = await fresh('Places');
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c', 'd']) ids.push((await ann.creates(visuals, { component: 'card', name })).id);
  expect(await listed(ann, visuals)).toEqual([
    ['a', 0, false],
    ['b', 1, false],
    ['c', 2, false],
    ['d', 3, false],
  ]);
  expect(await ann.put(`${visuals}/${ids[3]}`, { position: 1 })).toMatchObject({ body: { position: 1 } });
  expect(await listed(ann, visuals)).toEqual([
    ['a', 0, false],
    ['d', 1, false],
    ['b', 2, false],
    ['c', 3, false],
  ]);
  expect(await ann.put(`${visuals}/${ids[0]}`, { position: 99 }), 'past the end is the end').toMatchObject({
    body: { position: 3 },
  });
  expect(await listed(ann, visuals)).toEqual([
    ['d', 0, false],
    ['b', 1, false],
    ['c', 2, false],
    ['a', 3, false],
  ]);
  await ann.put(`${visuals}/${ids[2]}`, { pinned: true });
  expect(await listed(ann, visuals)).toEqual([
    ['c', 2, true],
    ['d', 0, false],
    ['b', 1, false],
    ['a', 3, false],
  ]);
  await ann.delete(`${visuals}/${ids[1]}`);
  expect(await listed(ann, visuals)).toEqual([
    ['c', 1, true],
    ['d', 0, false],
    ['a', 2, false],
  ]);
  await ann.creates(visuals, { component: 'card', name: 'e', position: 0, pinned: true });
  expect(await listed(ann, visuals)).toEqual([
    ['e', 0, true],
    ['c', 2, true],
    ['d', 1, false],
    ['a', 3, false],
  ]);
  for (const position of [-1, null, 1.5])
    expect(await ann.put(`${visuals}/${ids[0]}`, { position })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('position') },
    });
});

test('those who place visuals at once leave no gap and no double', async ({ ann, fresh }) => {
  const { visuals } = await fresh('At once');
  const made = await Promise.all(
    Array.from({ length: 8 }, (_, i) => ann.creates(visuals, { component: 'card', name: `v${i}` })),
  );
  await Promise.all(
    made.map(({ id }, i) =>
      i % 3 === 0 ? ann.delete(`${visuals}/${id}`) : ann.put(`${visuals}/${id}`, { position: i % 4 }),
    ),
  );
  const places = (await listed(ann, visuals)).map(([, position]: [string, number]) => position);
  expect(places).toEqual([0, 1, 2, 3, 4]);
});

test('an entity tag speaks of the visual, whose neighbours move it', async ({ ann, fresh }) => {
  const { visuals } = await fresh('Tagged');
  const [first, second] = [
    await ann.creates(visuals, { component: 'card' }),
    await ann.creates(visuals, { component: 'card' }),
  ];
  const tag = (await ann.get(`${visuals}/${first.id}`)).headers.get('etag')!;
  expect(await ann.put(`${visuals}/${first.id}`, { name: 'mine' }, { 'if-match': tag })).toMatchObject({ status: 200 });
  expect(await ann.put(`${visuals}/${first.id}`, { name: 'late' }, { 'if-match': tag })).toMatchObject({
    status: 412,
    body: { message: 'The visual has changed since you read it' },
  });
  const before = (await ann.get(`${visuals}/${first.id}`)).headers.get('etag')!;
  await ann.put(`${visuals}/${second.id}`, { position: 0 });
  expect(await ann.delete(`${visuals}/${first.id}`, { 'if-match': before })).toMatchObject({ status: 412 });
});

test('what a visual is, and what its config may hold, is checked when it is saved', async ({ ann, orders, make }) => {
  const id = await make({ xAxis: 'region' });
  for (const [body, message] of [
    [{}, '"component" is required'],
    [{ component: 'radar' }, '"component" cannot be "radar"'],
    [{ component: 'card', name: ' ' }, 'name is required'],
    [{ component: 'card', config: [] }, 'config'],
    [{ component: 'card', config: { xAxis: 'region' } }, 'config.xAxis is unknown'],
    [{ component: 'bar-chart', config: { stacked: 'yes' } }, 'config.stacked must be boolean,null'],
    [
      { component: 'bar-chart', config: { aggregation: 'median' } },
      'config.aggregation must be one of sum, avg, count, min, max, countDistinct',
    ],
    [{ component: 'bar-chart', config: { width: 50 } }, 'config.width must be >= 100'],
    [
      { component: 'line-chart', config: { dateInterval: 'decade' } },
      'config.dateInterval must be one of minute, hour',
    ],
    [{ component: 'table', config: { columns: 'region' } }, 'config.columns must be array,null'],
    [{ component: 'table', config: { sortOrder: 'up' } }, 'config.sortOrder must be one of asc, desc'],
    [{ component: 'gauge', config: { min: 5, max: 5 } }, 'config.max must be greater than config.min'],
    [
      { component: 'gauge', config: { thresholds: [{ value: 1, color: 'red" onload="x' }] } },
      'config.thresholds.0.color must match pattern',
    ],
    [{ component: 'pie-chart', config: { innerRadius: 100 } }, 'config.innerRadius must be <= 95'],
  ] as const)
    expect(await ann.post(orders.visuals, body), message).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(message) },
    });
  expect(await ann.put(`${orders.visuals}/${id}`, { component: 'table' })).toMatchObject({
    status: 400,
    body: { message: '"component" cannot be changed' },
  });
  expect(await ann.put(`${orders.visuals}/${id}`, { component: 'bar-chart', ownerId: UNKNOWN })).toMatchObject({
    status: 400,
    body: { message: '"ownerId" cannot be changed' },
  });
  expect(await ann.put(`${orders.visuals}/${id}`, { config: { categoryField: 'region' } })).toMatchObject({
    status: 400,
    body: { message: 'config.categoryField is unknown', validation: [{ path: ['config', 'categoryField'] }] },
  });
  expect(await ann.put(`${orders.visuals}/${id}`, { pinned: null })).toMatchObject({ status: 400 });
  expect(
    await ann.gql(
      `mutation { createVisual(datasetId: "${orders.id}", input: { component: CARD, config: { xAxis: "region" } }) { id } }`,
    ),
  ).toMatchObject({ errors: [{ message: 'config.xAxis is unknown', extensions: { code: 'BAD_USER_INPUT' } }] });
  expect((await ann.get(`${orders.visuals}/${id}`)).body.config).toEqual({ xAxis: 'region' });
});

test('every component has a JSON Schema and a template, whose null keys may be saved', async ({ ann, orders }) => {
  const { body } = await ann.get('/visual-components');
  expect(body).toMatchObject({
    total: 8,
    _embedded: {
      'svc:visual-component': COMPONENTS.map((id) => ({
        id,
        name: expect.any(String),
        schema: { type: 'object', additionalProperties: false, properties: expect.any(Object) },
      })),
    },
  });
  expect(body._embedded['svc:visual-component'][0]).toMatchObject({
    needs: ['xAxis'],
    schema: {
      properties: {
        xAxis: { type: ['string', 'null'], format: 'field' },
        aggregation: { enum: ['sum', 'avg', 'count', 'min', 'max', 'countDistinct', null] },
      },
    },
  });
  expect((await ann.data('{ visualComponents { id needs } }')).visualComponents).toContainEqual({
    id: 'SCATTER_PLOT',
    needs: ['xAxis', 'yAxis'],
  });

  const {
    status,
    body: { templates },
  } = await ann.get(`/datasets/${orders.id}/visual-templates`);
  expect([status, [...new Set(templates.map(({ component }: { component: string }) => component))].sort()]).toEqual([
    200,
    COMPONENTS.toSorted(),
  ]);
  for (const { component, config, ...rest } of templates) {
    expect(rest).toEqual({
      id: expect.any(String),
      name: expect.any(String),
      description: expect.any(String),
      icon: expect.any(String),
      category: expect.any(String),
    });
    expect(Object.values(config)).toContain(null);
    const made = await ann.creates(orders.visuals, { component, config });
    expect(made.config).toEqual(config);
    await ann.delete(`${orders.visuals}/${made.id}`);
  }
});

test('the numbers are the index’s groups of the rows', async ({ ann, orders, make }) => {
  const data = async (component: string, config: object, query = '') =>
    (await ann.get(`${orders.visuals}/${await make(config, component)}/data${query}`)).body;
  expect(await data('bar-chart', { xAxis: 'region' })).toEqual({
    columns: [
      { name: 'region', label: 'region', type: 'string' },
      { name: 'count', label: 'Count', type: 'integer' },
    ],
    rows: [
      ['APAC', 5],
      ['EU', 5],
      ['US', 5],
      [null, 5],
    ],
    total: 4,
    truncated: false,
  });
  expect(await data('bar-chart', { xAxis: 'region', yAxis: 'amount' })).toMatchObject({
    columns: [{}, { name: 'sum', label: 'Sum of Amount' }],
    rows: [
      ['EU', 600],
      [null, 550],
      ['APAC', 500],
      ['US', 450],
    ],
  });
  expect(await data('bar-chart', { xAxis: 'region', yAxis: 'amount' }, '?limit=1')).toMatchObject({
    rows: [['EU', 600]],
    total: 4,
    truncated: true,
  });
  expect(
    await data(
      'bar-chart',
      { xAxis: 'region', yAxis: 'amount', groupBy: 'note', aggregation: 'max' },
      `?filter=${encodeURIComponent('{"region":"EU"}')}`,
    ),
  ).toMatchObject({
    columns: [{}, { name: 'note' }, { name: 'max', label: 'Greatest of Amount' }],
    rows: [
      ['EU', 'Rush delivery to Zoë', 200],
      ['EU', null, 160],
    ],
  });
  expect(
    await data('line-chart', { xAxis: 'ordered_on', yAxis: 'amount', dateInterval: 'month', aggregation: 'avg' }),
  ).toMatchObject({ rows: [['2026-01-01', 105]], total: 1 });
  expect(await data('line-chart', { xAxis: 'ordered_on' }, '?limit=2')).toMatchObject({
    rows: [
      ['2026-01-02', 1],
      ['2026-01-03', 1],
    ],
    total: 20,
    truncated: true,
  });
  expect(
    await data('pie-chart', { categoryField: 'region', valueField: 'amount', sortBy: 'category' }, '?q=rush'),
  ).toMatchObject({
    rows: [
      ['APAC', 100],
      ['EU', 200],
      ['US', 50],
      [null, 150],
    ],
  });
  expect(
    await data(
      'heatmap',
      { xAxis: 'region', yAxis: 'note', valueField: 'id', aggregation: 'countDistinct' },
      '?limit=1',
    ),
  ).toMatchObject({ columns: [{}, {}, { label: 'Different values of id' }], total: 8, truncated: true });
  expect(await data('gauge', { valueField: 'amount' })).toMatchObject({
    columns: [{ name: 'sum', label: 'Sum of Amount' }],
    rows: [[2100]],
    total: 1,
  });
  expect(await data('card', {})).toMatchObject({ columns: [{ name: 'count', label: 'Count' }], rows: [[20]] });
  expect(await data('card', { valueField: 'amount', aggregation: 'min' })).toMatchObject({ rows: [[10]] });
});

test('tables and scatter plots show rows, in the same shape', async ({ ann, orders, make }) => {
  const table = await make({ columns: ['region', 'id'], sortBy: 'id', sortOrder: 'desc', pageSize: 3 }, 'table');
  expect((await ann.get(`${orders.visuals}/${table}/data`)).body).toEqual({
    columns: [
      { name: 'region', label: 'region', type: 'string' },
      { name: 'id', label: 'id', type: 'integer' },
    ],
    rows: [
      ['EU', 20],
      [null, 19],
      ['APAC', 18],
    ],
    total: 20,
    truncated: true,
  });
  expect((await ann.get(`${orders.visuals}/${await make({}, 'table')}/data?q=rush`)).body).toMatchObject({
    columns: [{ name: 'id' }, { name: 'region' }, { name: 'amount', label: 'Amount' }, {}, {}],
    total: 4,
    truncated: false,
  });
  const scatter = await make({ xAxis: 'id', yAxis: 'amount', groupBy: 'region', sizeField: 'id' }, 'scatter-plot');
  expect((await ann.get(`${orders.visuals}/${scatter}/data?limit=2`)).body).toMatchObject({
    columns: [{ name: 'id' }, { name: 'amount' }, { name: 'region' }],
    rows: [
      [1, 10, 'US'],
      [2, 20, 'APAC'],
    ],
    total: 20,
    truncated: true,
  });
  expect(
    await ann.data(
      `query ($filter: JSON) { dataset(id: "${orders.id}") { visual(id: "${scatter}") { data(filter: $filter) { rows } } } }`,
      { filter: { id: { $gte: 20 } } },
    ),
  ).toEqual({ dataset: { visual: { data: { rows: [[20, 200, 'EU']] } } } });
});

test('what is missing or unknown is named when the numbers are asked for', async ({ ann, orders, make, fresh }) => {
  for (const [component, config, message] of [
    ['bar-chart', {}, 'config.xAxis is required to show a bar-chart'],
    ['line-chart', { xAxis: null }, 'config.xAxis is required'],
    ['pie-chart', {}, 'config.categoryField is required'],
    ['scatter-plot', { xAxis: 'id' }, 'config.yAxis is required'],
    ['heatmap', { xAxis: 'id' }, 'config.yAxis is required'],
    ['gauge', {}, 'config.valueField is required'],
    ['bar-chart', { xAxis: 'region', aggregation: 'avg' }, 'config.yAxis is required for avg'],
    ['card', { aggregation: 'sum' }, 'config.valueField is required for sum'],
    ['bar-chart', { xAxis: 'colour' }, 'Unknown field "colour"'],
    ['table', { columns: ['id', 'colour'] }, 'Unknown field "colour"'],
    ['table', { sortBy: 'colour' }, 'Unknown field "colour"'],
    ['card', { valueField: 'region' }, 'cannot apply sum to "region", which is not a number'],
  ] as const) {
    const id = await make(config, component);
    for (const path of ['data', 'image.svg'])
      expect(await ann.get(`${orders.visuals}/${id}/${path}`), `${component} ${path}`).toMatchObject({
        status: 400,
        body: { code: 'BAD_USER_INPUT', message: expect.stringContaining(message) },
      });
    expect(await ann.gql(`{ dataset(id: "${orders.id}") { visual(id: "${id}") { data { total } } } }`)).toMatchObject({
      errors: [{ message: expect.stringContaining(message) }],
    });
  }
  const id = await make({ xAxis: 'region' });
  for (const query of ['filter={"colour":1}', 'limit=0', 'limit=10001', 'limit=x', 'surprise=1'])
    expect(await ann.get(`${orders.visuals}/${id}/data?${query}`), query).toMatchObject({ status: 400 });
  const { visuals } = await fresh('Without rows');
  const made = await ann.creates(visuals, { component: 'bar-chart', config: { xAxis: 'region' } });
  expect((await ann.get(`${visuals}/${made.id}/data`)).body, 'before the first refresh').toEqual({
    columns: [],
    rows: [],
    total: 0,
    truncated: false,
  });
});

test('readers see visuals, editors change them, and others do not know of them', async ({
  ann,
  bob,
  stranger,
  fresh,
  source,
}) => {
  const { id: dataset, visuals } = await fresh('Shared');
  const { id } = await ann.creates(visuals, { component: 'card' });
  expect(await bob.get(visuals)).toMatchObject({ status: 404, body: { message: `There is no dataset ${dataset}` } });
  await ann.put(`/datasets/${dataset}/shares/bob`, { accessLevel: 1 });
  expect((await bob.get(visuals)).body).toMatchObject({
    total: 1,
    _embedded: { 'svc:visual': [{ id, permissions: { edit: false, delete: false } }] },
  });
  expect(await bob.post(visuals, { component: 'card' })).toMatchObject({
    status: 403,
    body: { message: 'You lack the permission dataset:addVisual' },
  });
  expect(await bob.put(`${visuals}/${id}`, { name: 'x' })).toMatchObject({
    status: 403,
    body: { message: 'You lack the permission dataset:addVisual' },
  });
  expect(await bob.delete(`${visuals}/${id}`)).toMatchObject({
    status: 403,
    body: { message: 'You lack the permission dataset:deleteVisual' },
  });
  await ann.put(`/datasets/${dataset}/shares/bob`, { accessLevel: 2 });
  expect(await bob.put(`${visuals}/${id}`, { name: 'by bob' })).toMatchObject({
    status: 200,
    body: { name: 'by bob', ownerId: ann.id, permissions: { edit: true, delete: true } },
  });
  expect((await bob.post(visuals, { component: 'table' })).body).toMatchObject({
    name: 'Table',
    ownerId: bob.id,
    position: 1,
  });
  expect(await stranger.get(`${visuals}/${id}`)).toMatchObject({ status: 404 });
  const other = await ann.creates('/datasets', { name: 'Other', datasourceId: source.id, query: ORDERS_QUERY });
  for (const method of ['GET', 'PUT', 'DELETE'])
    expect(
      await ann.request(method, `/api/datasets/${other.id}/visuals/${id}`, method === 'PUT' ? {} : undefined),
      'a wrong parent',
    ).toMatchObject({ status: 404, body: { message: `There is no visual ${id}` } });
});

test('whoever sees a part of a dataset sees the numbers of that part, and no name of a hidden field', async ({
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
    await ann.put(`/datasets/${id}/shares/cleo`, {
      accessLevel: 2,
      datasetFilterId: filter.id,
      restrictFields: true,
      visibleFields: ['id', 'region'],
    }),
  ).toMatchObject({ status: 200 });
  const open = await ann.creates(visuals, { component: 'bar-chart', config: { xAxis: 'region' } });
  const hidden = await ann.creates(visuals, {
    component: 'bar-chart',
    config: { xAxis: 'amount', groupBy: 'region', colorScheme: 'cool' },
  });
  const table = await ann.creates(visuals, { component: 'table', config: { columns: ['id', 'amount'] } });
  expect((await cleo.get(`${visuals}/${open.id}/data`)).body).toMatchObject({ rows: [['EU', 5]], total: 1 });
  expect(
    (await cleo.get(visuals)).body._embedded['svc:visual'].map((visual: { config: object }) => visual.config),
  ).toEqual([{ xAxis: 'region' }, { xAxis: null, groupBy: 'region', colorScheme: 'cool' }, { columns: ['id'] }]);
  for (const path of ['data', 'image.svg'])
    expect(await cleo.get(`${visuals}/${hidden.id}/${path}`)).toMatchObject({
      status: 400,
      body: { message: 'config.xAxis names an unknown field' },
    });
  expect((await cleo.get(`${visuals}/${table.id}/data`)).body).toMatchObject({ columns: [{ name: 'id' }], total: 5 });
  const mine = await cleo.post(visuals, { component: 'card', config: { valueField: 'amount' } });
  expect(mine).toMatchObject({ status: 200, body: { permissions: { edit: true, delete: false } } });
  expect(await cleo.get(`${visuals}/${mine.body.id}/data`)).toMatchObject({
    status: 400,
    body: { message: 'config.valueField names an unknown field' },
  });
  expect(
    await cleo.put(`${visuals}/${hidden.id}`, { config: { xAxis: null, groupBy: 'region', colorScheme: 'warm' } }),
  ).toMatchObject({ status: 200, body: { config: { xAxis: null, colorScheme: 'warm' } } });
  expect((await ann.get(`${visuals}/${hidden.id}`)).body.config, 'what she was not shown stays').toEqual({
    xAxis: 'amount',
    groupBy: 'region',
    colorScheme: 'warm',
  });
  expect(await cleo.delete(`${visuals}/${hidden.id}`)).toMatchObject({ status: 403 });
});

test('a copy of a dataset’s visuals is as they are, with a new owner', async ({ ann, bob, service, fresh }) => {
  const [from, to] = [await fresh('Origin'), await fresh('Copy')];
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

test('a dataset takes its visuals with it, holds 200 of them, and survives who made one', async ({
  ann,
  admin,
  service,
  fresh,
}) => {
  const { id: dataset, visuals } = await fresh('Full');
  const dora = await service.user('dora');
  await ann.put(`/datasets/${dataset}/shares/dora`, { accessLevel: 2 });
  const { id } = await dora.creates(visuals, { component: 'card' });
  expect(await admin.delete('/users/dora')).toMatchObject({ status: 204 });
  expect((await ann.get(`${visuals}/${id}`)).body).toMatchObject({ ownerId: null, name: 'Card' });
  await service.platform.system.query({
    text: `insert into dws.visual (id, tenant_id, dataset_id, name, component, position) select gen_random_uuid(), tenant_id, dataset_id, 'filler', 'card', n from dws.visual, generate_series(1, 199) n where id = $1`,
    values: [id],
  });
  expect(await ann.post(visuals, { component: 'card' })).toMatchObject({
    status: 409,
    body: { message: 'A dataset has at most 200 visuals' },
  });
  expect(await ann.delete(`/datasets/${dataset}`)).toMatchObject({ status: 204 });
  expect(
    await service.platform.system.query({ text: 'select id from dws.visual where dataset_id = $1', values: [dataset] }),
  ).toEqual([]);
});
