import { expect } from 'vitest';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { test } from '../support/fixture.ts';

const BLOCKS = [
  { id: 'head', type: 'text', text: 'Sales' },
  { id: 'chart', type: 'bar-chart', dataset: 'sales', config: { xAxis: 'month' } },
];

test('a report is created with definition and settings, and read by id, slug and natural id', async ({ ann }) => {
  const { status, headers, body } = await ann.post('/reports', {
    name: 'Monthly sales',
    definition: { blocks: BLOCKS, layout: 'wide' },
    settings: { theme: 'dark' },
  });
  expect(status).toBe(201);
  expect(headers.get('location')).toBe(`/api/reports/${body.id}`);
  expect(body).toMatchObject({
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
  });
  for (const key of [body.id, 'monthly-sales', 'default:monthly-sales']) {
    expect((await ann.get(`/reports/${key}`)).body).toMatchObject({ id: body.id, definition: { blocks: BLOCKS } });
  }
  expect(await ann.creates('/reports', { name: 'Empty' })).toMatchObject({ definition: { blocks: [] }, settings: {} });
});

test('a report is changed with If-Match, cleared and deleted', async ({ ann, service }) => {
  const { id } = await ann.creates('/reports', {
    name: 'Changing',
    definition: { blocks: BLOCKS },
    settings: { theme: 'dark' },
  });
  const path = `/reports/${id}`;
  const { body, headers } = await ann.get(path);
  const ifMatch = { 'if-match': headers.get('etag')! };
  const definition = { blocks: [BLOCKS[1]] };
  await expectBody(ann.put(path, { ...body, definition }, ifMatch), 200, { definition, settings: { theme: 'dark' } });
  await expectError(ann.put(path, { name: 'x' }, ifMatch), 412);
  await expectBody(ann.put(path, { definition: null, settings: null }), 200, {
    definition: { blocks: [] },
    settings: {},
  });

  const outsider = await service.user('no-reports', { permissions: [] });
  await expectError(outsider.post('/reports', { name: 'x' }), 403, 'You lack the permission reports:create');
  await expectError(outsider.get(path), 404, `There is no report ${id}`);
  expect((await ann.delete(path)).status).toBe(204);
  await expectError(ann.get(path), 404);
});

test('an invalid definition is refused with the path', async ({ ann }) => {
  const { id } = await ann.creates('/reports', { name: 'Strict' });
  const blockOf = (value: unknown) => ({ blocks: [value] });
  const blockId = 'definition.blocks.0.id must be a string of 1 to 255 characters';
  const cases: [definition: unknown, message: string][] = [
    [{}, 'definition.blocks must be an array'],
    [{ blocks: {} }, 'definition.blocks must be an array'],
    [blockOf('text'), 'definition.blocks.0 must be an object'],
    [blockOf([]), 'definition.blocks.0 must be an object'],
    [blockOf({ type: 'text' }), blockId],
    [blockOf({ id: 1 }), blockId],
    [blockOf({ id: '' }), blockId],
    [{ blocks: [{ id: 'a' }, { id: 'a' }] }, 'definition.blocks.1.id is used by another block: "a"'],
    [blockOf({ id: 'a', text: 'x'.repeat(1_000_000) }), 'definition must have at most 1 MB'],
    [
      blockOf({ id: 'a', deep: JSON.parse('['.repeat(98) + ']'.repeat(98)) }),
      'definition must nest at most 100 levels',
    ],
    [[], 'definition'],
    ['text', 'definition'],
    [blockOf({ id: 'a', text: '\0' }), 'definition.blocks.0.text must not contain the character U+0000'],
    [blockOf({ id: 'a', text: '\ud800' }), 'definition.blocks.0.text must be well-formed Unicode'],
  ];
  for (const [definition, message] of cases) {
    const body = { code: 'BAD_USER_INPUT', message: expect.stringContaining(message) };
    await expectBody(ann.put(`/reports/${id}`, { definition }), 400, body);
    expect((await ann.post('/reports', { name: 'x', definition })).status, message).toBe(400);
  }

  const largeSettings = { text: 'é'.repeat(500_000) };
  const settingsTooLarge = ann.put(`/reports/${id}`, { settings: largeSettings });
  await expectError(settingsTooLarge, 400, 'settings must have at most 1 MB as JSON');
  const largeDefinition = blockOf({ id: 'a', text: 'x'.repeat(999_900) });
  expect((await ann.put(`/reports/${id}`, { definition: largeDefinition })).status).toBe(200);
});

test('a list of reports leaves out their content', async ({ bob }) => {
  await bob.creates('/reports', { name: 'Listed', definition: { blocks: BLOCKS } });
  const [item] = (await bob.get('/reports?q=listed')).body._embedded['svc:report'];
  expect(item).toMatchObject({
    name: 'Listed',
    permissions: { write: true },
    _links: { self: { href: `/api/reports/${item.id}` } },
  });
  expect(item).not.toHaveProperty('definition');
});

test('reports in GraphQL', async ({ ann, bob }) => {
  const { createReport } = await ann.data(
    `mutation ($definition: JSONObject) { createReport(input: { name: "GraphQL", definition: $definition }) { id } }`,
    { definition: { blocks: BLOCKS } },
  );
  const { id } = createReport;
  const query = `{
    report(id: "graphql") { name definition settings folder { id } owner { name } permissions { run } }
    node(id: "${id}") { __typename }
    reports(q: "graphql") { total items { definition } }
  }`;
  expect(await ann.data(query)).toEqual({
    report: {
      name: 'GraphQL',
      definition: { blocks: BLOCKS },
      settings: {},
      folder: null,
      owner: { name: 'ann' },
      permissions: { run: true },
    },
    node: { __typename: 'Report' },
    reports: { total: 1, items: [{ definition: { blocks: BLOCKS } }] },
  });

  const changeSettings = `mutation {
    updateReport(id: "${id}", input: { settings: { wide: true } }) { settings definition }
  }`;
  expect(await ann.data(changeSettings)).toEqual({
    updateReport: { settings: { wide: true }, definition: { blocks: BLOCKS } },
  });
  const invalidUpdate = ann.gql(
    `mutation { updateReport(id: "${id}", input: { definition: { blocks: [{}] } }) { id } }`,
  );
  await expectGraphqlError(invalidUpdate, 'BAD_USER_INPUT', /definition\.blocks\.0\.id/);
  expect((await invalidUpdate).errors[0].extensions.status).toBe(400);
  await expectGraphqlError(bob.gql(`mutation { deleteReport(id: "${id}") }`), 'NOT_FOUND');
  expect(await ann.data(`mutation { deleteReport(id: "${id}") }`)).toEqual({ deleteReport: id });
});
