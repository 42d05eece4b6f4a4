import { expect } from 'vitest';
import { test } from '../support/fixture.ts';

const BLOCKS = [
  { id: 'head', type: 'text', text: 'Sales' },
  { id: 'chart', type: 'bar-chart', dataset: 'sales', config: { xAxis: 'month' } },
];

test('a report keeps its definition and settings', async ({ ann, service }) => {
  const made = await ann.post('/reports', {
    name: 'Monthly sales',
    definition: { blocks: BLOCKS, layout: 'wide' },
    settings: { theme: 'dark' },
  });
  expect(made).toMatchObject({
    status: 201,
    body: {
      name: 'Monthly sales',
      slug: 'monthly-sales',
      naturalId: 'default:monthly-sales',
      tenant: 'default',
      ownerId: ann.id,
      owner: { id: ann.id, name: 'ann', type: 'user' },
      folderId: null,
      tags: [],
      definition: { blocks: BLOCKS, layout: 'wide' },
      settings: { theme: 'dark' },
      permissions: { read: true, write: true, run: true, share: true, delete: true, changeOwner: true },
    },
  });
  const { id } = made.body;
  expect(made.headers.get('location')).toBe(`/api/reports/${id}`);
  for (const key of [id, 'monthly-sales', 'default:monthly-sales'])
    expect((await ann.get(`/reports/${key}`)).body).toMatchObject({ id, definition: { blocks: BLOCKS } });
  expect(await ann.creates('/reports', { name: 'Empty' })).toMatchObject({ definition: { blocks: [] }, settings: {} });

  const { body, headers } = await ann.get(`/reports/${id}`);
  const sent = await ann.put(
    `/reports/${id}`,
    { ...body, definition: { blocks: [BLOCKS[1]] } },
    { 'if-match': headers.get('etag')! },
  );
  expect(sent).toMatchObject({
    status: 200,
    body: { definition: { blocks: [BLOCKS[1]] }, settings: { theme: 'dark' } },
  });
  expect(await ann.put(`/reports/${id}`, { name: 'x' }, { 'if-match': headers.get('etag')! })).toMatchObject({
    status: 412,
  });
  expect(await ann.put(`/reports/${id}`, { definition: null, settings: null })).toMatchObject({
    status: 200,
    body: { definition: { blocks: [] }, settings: {} },
  });

  const nobody = await service.user('no-reports', { permissions: [] });
  expect(await nobody.post('/reports', { name: 'x' })).toMatchObject({
    status: 403,
    body: { message: 'You lack the permission reports:create' },
  });
  expect(await nobody.get(`/reports/${id}`)).toMatchObject({
    status: 404,
    body: { message: `There is no report ${id}` },
  });
  expect(await ann.delete(`/reports/${id}`)).toMatchObject({ status: 204 });
  expect(await ann.get(`/reports/${id}`)).toMatchObject({ status: 404 });
});

test('a definition that is none is refused, naming the place', async ({ ann }) => {
  const { id } = await ann.creates('/reports', { name: 'Strict' });
  const cases: [unknown, string][] = [
    [{}, 'definition.blocks must be an array'],
    [{ blocks: {} }, 'definition.blocks must be an array'],
    [{ blocks: ['text'] }, 'definition.blocks.0 must be an object'],
    [{ blocks: [[]] }, 'definition.blocks.0 must be an object'],
    [{ blocks: [{ type: 'text' }] }, 'definition.blocks.0.id must be a string of 1 to 255 characters'],
    [{ blocks: [{ id: 1 }] }, 'definition.blocks.0.id must be a string of 1 to 255 characters'],
    [{ blocks: [{ id: '' }] }, 'definition.blocks.0.id must be a string of 1 to 255 characters'],
    [{ blocks: [{ id: 'a' }, { id: 'a' }] }, 'definition.blocks.1.id is used by another block: "a"'],
    [{ blocks: [{ id: 'a', text: 'x'.repeat(1_000_000) }] }, 'definition must have at most 1 MB'],
    [
      { blocks: [{ id: 'a', deep: JSON.parse('['.repeat(98) + ']'.repeat(98)) }] },
      'definition must nest at most 100 levels',
    ],
    [[], 'definition'],
    ['text', 'definition'],
    [{ blocks: [{ id: 'a', text: '\0' }] }, 'U+0000'],
    [{ blocks: [{ id: 'a', text: '\ud800' }] }, 'well-formed'],
  ];
  for (const [definition, message] of cases) {
    expect(await ann.put(`/reports/${id}`, { definition }), message).toMatchObject({
      status: 400,
      body: { code: 'BAD_USER_INPUT', message: expect.stringContaining(message) },
    });
    expect((await ann.post('/reports', { name: 'x', definition })).status, message).toBe(400);
  }
  expect(await ann.put(`/reports/${id}`, { settings: { text: 'é'.repeat(500_000) } })).toMatchObject({
    status: 400,
    body: { message: 'settings must have at most 1 MB as JSON' },
  });
  expect(
    await ann.put(`/reports/${id}`, { definition: { blocks: [{ id: 'a', text: 'x'.repeat(999_900) }] } }),
  ).toMatchObject({ status: 200 });
});

test('a list of reports leaves their content out', async ({ bob }) => {
  await bob.creates('/reports', { name: 'Listed', definition: { blocks: BLOCKS } });
  const [item] = (await bob.get('/reports?q=listed')).body._embedded['svc:report'];
  expect(item).toMatchObject({
    name: 'Listed',
    permissions: { write: true },
    _links: { self: { href: `/api/reports/${item.id}` } },
  });
  expect(item).not.toHaveProperty('definition');
});

test('the same in GraphQL', async ({ ann, bob }) => {
  const { id } = (
    await ann.data('mutation ($d: JSONObject) { createReport(input: { name: "Told", definition: $d }) { id } }', {
      d: { blocks: BLOCKS },
    })
  ).createReport;
  expect(
    await ann.data(
      '{ report(id: "told") { name definition settings folder { id } owner { name } permissions { run } } node(id: "' +
        id +
        '") { __typename } reports(q: "told") { total items { definition } } }',
    ),
  ).toEqual({
    report: {
      name: 'Told',
      definition: { blocks: BLOCKS },
      settings: {},
      folder: null,
      owner: { name: 'ann' },
      permissions: { run: true },
    },
    node: { __typename: 'Report' },
    reports: { total: 1, items: [{ definition: { blocks: BLOCKS } }] },
  });
  expect(
    await ann.data(
      `mutation { updateReport(id: "${id}", input: { settings: { wide: true } }) { settings definition } }`,
    ),
  ).toEqual({ updateReport: { settings: { wide: true }, definition: { blocks: BLOCKS } } });
  expect(
    await ann.gql(`mutation { updateReport(id: "${id}", input: { definition: { blocks: [{}] } }) { id } }`),
  ).toMatchObject({
    errors: [
      {
        message: expect.stringContaining('definition.blocks.0.id'),
        extensions: { code: 'BAD_USER_INPUT', status: 400 },
      },
    ],
  });
  expect(await bob.gql(`mutation { deleteReport(id: "${id}") }`)).toMatchObject({
    errors: [{ extensions: { code: 'NOT_FOUND' } }],
  });
  expect(await ann.data(`mutation { deleteReport(id: "${id}") }`)).toEqual({ deleteReport: id });
});
