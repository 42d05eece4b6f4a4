import { expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { listPositions, test } from './visual-fixture.ts';

test('a visual is created with defaults, read, updated and deleted', async ({ ann, orders }) => {
  const created = await ann.post(orders.visuals, { component: 'bar-chart' });
  expect(created.status).toBe(200);
  const { id, position } = created.body;
  expect(created.body).toMatchObject({
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
  await expectBody(
    ann.put(`${orders.visuals}/${id}`, {
      name: ' By region ',
      description: 'd',
      config,
      embedded: true,
      pinned: true,
    }),
    200,
    { name: 'By region', description: 'd', config, embedded: true, pinned: true, position },
  );
  const read = await ann.get(`${orders.visuals}/${id}`);
  expect(read).toMatchObject({ status: 200, body: { name: 'By region', config } });
  expect(await ann.put(`${orders.visuals}/${id}`, read.body), 'a response can be sent back').toMatchObject({
    status: 200,
    body: { name: 'By region', config, pinned: true },
  });
  await expectBody(ann.put(`${orders.visuals}/${id}`, { description: null }), 200, {
    description: null,
    name: 'By region',
  });
  expect((await ann.get(`${orders.visuals}?pinned=true`)).body).toMatchObject({
    total: 1,
    _embedded: { 'svc:visual': [{ id, permissions: { edit: true, delete: true } }] },
  });
  expect((await ann.delete(`${orders.visuals}/${id}`)).status).toBe(204);
  await expectError(ann.get(`${orders.visuals}/${id}`), 404, `There is no visual ${id}`);
});

test('visuals work the same in GraphQL', async ({ ann, orders }) => {
  const { createVisual: created } = await ann.data(
    `
      mutation {
        createVisual(datasetId: "${orders.id}", input: { component: PIE_CHART, config: { categoryField: "region" } }) {
          id name component config permissions { edit delete }
        }
      }
    `,
  );
  expect(created).toMatchObject({
    name: 'Pie chart',
    component: 'PIE_CHART',
    config: { categoryField: 'region' },
    permissions: { edit: true, delete: true },
  });
  expect(
    await ann.data(
      `
        mutation {
          updateVisual(datasetId: "${orders.id}", id: "${created.id}", input: { name: "Shares", pinned: true }) {
            name pinned
          }
        }
      `,
    ),
  ).toEqual({ updateVisual: { name: 'Shares', pinned: true } });
  expect(
    await ann.data(
      `
        {
          dataset(id: "${orders.id}") {
            visuals(pinned: true) { name }
            visual(id: "${created.id}") { name datasetId ownerId imageUrl data { rows total } }
            visualTemplates { component }
          }
        }
      `,
    ),
  ).toMatchObject({
    dataset: {
      visuals: [{ name: 'Shares' }],
      visualTemplates: expect.arrayContaining([{ component: 'PIE_CHART' }]),
      visual: {
        name: 'Shares',
        datasetId: orders.id,
        ownerId: ann.id,
        imageUrl: `/api${orders.visuals}/${created.id}/image.svg`,
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
  expect(await ann.data(`mutation { deleteVisual(datasetId: "${orders.id}", id: "${created.id}") }`)).toEqual({
    deleteVisual: created.id,
  });
  expect(await ann.gql(`{ dataset(id: "${orders.id}") { visual(id: "${created.id}") { name } } }`)).toMatchObject({
    errors: [{ message: `There is no visual ${created.id}`, extensions: { code: 'NOT_FOUND' } }],
  });
});

test('positions have no gaps, and pinned visuals come first', async ({ ann, createDataset }) => {
  const { visuals } = await createDataset('Places');
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c', 'd']) ids.push((await ann.creates(visuals, { component: 'card', name })).id);
  expect(await listPositions(ann, visuals)).toEqual([
    ['a', 0, false],
    ['b', 1, false],
    ['c', 2, false],
    ['d', 3, false],
  ]);
  expect(await ann.put(`${visuals}/${ids[3]}`, { position: 1 })).toMatchObject({ body: { position: 1 } });
  expect(await listPositions(ann, visuals)).toEqual([
    ['a', 0, false],
    ['d', 1, false],
    ['b', 2, false],
    ['c', 3, false],
  ]);
  expect(await ann.put(`${visuals}/${ids[0]}`, { position: 99 }), 'the last position is the maximum').toMatchObject({
    body: { position: 3 },
  });
  expect(await listPositions(ann, visuals)).toEqual([
    ['d', 0, false],
    ['b', 1, false],
    ['c', 2, false],
    ['a', 3, false],
  ]);
  await ann.put(`${visuals}/${ids[2]}`, { pinned: true });
  expect(await listPositions(ann, visuals)).toEqual([
    ['c', 2, true],
    ['d', 0, false],
    ['b', 1, false],
    ['a', 3, false],
  ]);
  await ann.delete(`${visuals}/${ids[1]}`);
  expect(await listPositions(ann, visuals)).toEqual([
    ['c', 1, true],
    ['d', 0, false],
    ['a', 2, false],
  ]);
  await ann.creates(visuals, { component: 'card', name: 'e', position: 0, pinned: true });
  expect(await listPositions(ann, visuals)).toEqual([
    ['e', 0, true],
    ['c', 2, true],
    ['d', 1, false],
    ['a', 3, false],
  ]);
  for (const position of [-1, null, 1.5])
    await expectBody(ann.put(`${visuals}/${ids[0]}`, { position }), 400, {
      message: expect.stringContaining('position'),
    });
});

test('concurrent moves leave neither gaps nor duplicates', async ({ ann, createDataset }) => {
  const { visuals } = await createDataset('At once');
  const created = await Promise.all(
    Array.from({ length: 8 }, (_, i) => ann.creates(visuals, { component: 'card', name: `v${i}` })),
  );
  await Promise.all(
    created.map(({ id }, i) =>
      i % 3 === 0 ? ann.delete(`${visuals}/${id}`) : ann.put(`${visuals}/${id}`, { position: i % 4 }),
    ),
  );
  const positions = (await listPositions(ann, visuals)).map(([, position]: [string, number]) => position);
  expect(positions).toEqual([0, 1, 2, 3, 4]);
});

test('If-Match applies to the visual, which changes when its neighbors move', async ({ ann, createDataset }) => {
  const { visuals } = await createDataset('Tagged');
  const [first, second] = [
    await ann.creates(visuals, { component: 'card' }),
    await ann.creates(visuals, { component: 'card' }),
  ];
  const tag = (await ann.get(`${visuals}/${first.id}`)).headers.get('etag')!;
  expect((await ann.put(`${visuals}/${first.id}`, { name: 'mine' }, { 'if-match': tag })).status).toBe(200);
  await expectError(
    ann.put(`${visuals}/${first.id}`, { name: 'late' }, { 'if-match': tag }),
    412,
    'The visual has changed since you read it',
  );
  const before = (await ann.get(`${visuals}/${first.id}`)).headers.get('etag')!;
  await ann.put(`${visuals}/${second.id}`, { position: 0 });
  await expectError(ann.delete(`${visuals}/${first.id}`, { 'if-match': before }), 412);
});
