import { expect } from 'vitest';
import { expectAlike, expectAllAlike } from './compare.ts';
import { test } from './fixture.ts';
import { VISIBLE_FIELDS, VISIBLE_ROWS } from './twin-source.ts';

const PERMISSIONS = {
  read: true,
  write: false,
  refresh: false,
  copy: false,
  share: false,
  edit: false,
  delete: false,
  addVisual: true,
  deleteVisual: false,
  assignTags: false,
  changeOwner: false,
};

test('a dataset has the count and fields that the reader may see, without its definition', async ({ world }) => {
  const { body } = await expectAlike(world, 'record', ({ id }) => world.reader.get(`/datasets/${id}`));
  expect(body).toMatchObject({
    records: VISIBLE_ROWS,
    size: null,
    sizeFormatted: null,
    query: null,
    params: null,
    flow: null,
    esIndex: null,
    lastRefresh: { success: false, error: null },
    description: 'One of two',
    fieldSecurityEnabled: true,
    permissions: PERMISSIONS,
    fields: VISIBLE_FIELDS.map((name) => ({ name })),
  });
  expect(body.fields[1]).toMatchObject({ label: 'Where', description: 'Where it went' });
  expect(
    (await expectAlike(world, 'permissions', ({ id }) => world.reader.get(`/datasets/${id}/permissions`))).body,
  ).toEqual(PERMISSIONS);
  const document = `
    query ($id: ID!) {
      dataset(id: $id) {
        records size sizeFormatted query params { name } flow settings esIndex
        lastRefresh { at success duration error } fields { name label type format description }
        permissions { read write copy share addVisual } data(limit: 1) { total }
      }
    }
  `;
  const { data } = await expectAlike(world, 'GraphQL', ({ id }) => world.reader.gql(document, { id }));
  expect(data.dataset).toMatchObject({
    records: VISIBLE_ROWS,
    size: null,
    sizeFormatted: null,
    query: null,
    params: null,
    flow: null,
    esIndex: null,
    lastRefresh: { error: null },
    permissions: { read: true, copy: false, addVisual: true },
    data: { total: VISIBLE_ROWS },
  });
  expect((await world.admin.get(`/datasets/${world.twins[1]!.id}`)).body, 'the owner').toMatchObject({
    records: 12_611,
    lastRefresh: { error: expect.stringContaining('qzx guard') },
    settings: { deep: { qzx: 777_002 } },
  });
});

test('a list of datasets has no row counts for a restricted reader', async ({ world }) => {
  await expectAllAlike(world, ['', '?sort=-records', '?sort=size', '?limit=1'], async ({ slug }, query) => {
    const { status, body } = await world.reader.get(`/datasets${query}${query ? '&' : '?'}q=${slug}`);
    expect(body).toMatchObject({
      total: 1,
      _embedded: {
        'svc:dataset': [{ slug, records: null, size: null, sizeFormatted: null, lastRefresh: { error: null } }],
      },
    });
    return { status, body };
  });
  const { data } = await expectAlike(world, 'GraphQL', ({ slug }) =>
    world.reader.gql(
      `{ datasets(q: "${slug}") { items { id records size sizeFormatted fields { name } esIndex } total } }`,
    ),
  );
  expect(data.datasets).toMatchObject({
    total: 1,
    items: [{ records: null, size: null, sizeFormatted: null, esIndex: null }],
  });
});

test('the sort order of lists does not depend on the number of hidden rows', async ({
  world: { admin, reader, source },
}) => {
  await source.sql(
    "create table qzx_sizes as select * from (values ('one', 1), ('two', 700), ('three', 90)) v(name, hidden)",
  );
  const { id: datasourceId } = (await admin.get('/datasources')).body._embedded['svc:datasource'][0];
  const ids: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    const query = `
      select n as id, case when n <= 5 then 'qzx-open' else repeat('qzx', n) end as qzx_region
      from generate_series(1, 5 + (select hidden from qzx_sizes where name = '${name}')) n`;
    const { id } = await admin.creates('/datasets', { name: `Sized ${name}`, datasourceId, query, refresh: true });
    const { id: datasetFilterId } = await admin.creates(`/datasets/${id}/filters`, {
      name: 'open',
      criteria: { qzx_region: 'qzx-open' },
    });
    expect((await admin.put(`/datasets/${id}/shares/reader`, { accessLevel: 1, datasetFilterId })).status).toBe(200);
    ids.push(id);
  }
  const orders = async () =>
    Promise.all(
      ['records', '-records', 'size', '-size', 'records,-name', '-size,name'].map(async (sort) => {
        const listed = await reader.get(`/datasets?q=sized&sort=${sort}`);
        expect(listed, sort).toMatchObject({ status: 200, body: { total: 3 } });
        const byGraphql = (await reader.data(`{ datasets(q: "sized", sort: "${sort}") { items { name } } }`)).datasets
          .items as { name: string }[];
        return [
          sort,
          listed.body._embedded['svc:dataset'].map(({ name }: { name: string }) => name),
          byGraphql.map(({ name }) => name),
        ];
      }),
    );
  const before = await orders();
  await source.sql(`update qzx_sizes set hidden = case name when 'one' then 900 when 'two' then 2 else 300 end`);
  for (const id of ids) await admin.creates(`/datasets/${id}/_refresh`, {});
  expect(await orders()).toEqual(before);
  expect(
    (await admin.get('/datasets?q=sized&sort=records')).body._embedded['svc:dataset'].map(
      ({ records }: { records: number }) => records,
    ),
  ).toEqual([7, 305, 905]);
});

test('activity has no counts, no hidden names and nothing about shares', async ({ world }) => {
  const { body } = await expectAlike(world, 'activity', ({ id }) => world.reader.get(`/datasets/${id}/activity`));
  expect(body.total).toBeGreaterThan(2);
  const typesFor = (activity: { _embedded: Record<string, { type: string }[]> }) =>
    activity._embedded['svc:activity']!.map(({ type }) => type);
  expect(typesFor(body)).not.toContain('dataset.shared');
  await expectAlike(world, 'GraphQL', ({ id }) =>
    world.reader.gql(`{ dataset(id: "${id}") { activity { total items { type message data name user { name } } } } }`),
  );
  const activity = (await world.admin.get(`/datasets/${world.twins[1]!.id}/activity`)).body;
  expect(JSON.stringify(activity), 'the owner sees the count').toContain('12611');
  expect(typesFor(activity), 'and the shares').toContain('dataset.shared');
});

test('shares contain only what the reader may see', async ({ world }) => {
  const { reader, other, twins } = world;
  const listed = (await expectAlike(world, 'shares', ({ id }) => reader.get(`/datasets/${id}/shares`))).body._embedded[
    'svc:share'
  ] as { principalId: string }[];
  const own = listed.find(({ principalId }) => principalId === reader.id);
  expect(own).toMatchObject({ accessLevel: 3, restrictFields: true, visibleFields: VISIBLE_FIELDS });
  const others = listed.find(({ principalId }) => principalId === other.id);
  if (others) expect(others).toMatchObject({ datasetFilterId: null, visibleFields: null });
  expect(
    (await expectAlike(world, 'own share', ({ id }) => reader.get(`/datasets/${id}/shares/${reader.id}`))).body,
  ).toMatchObject({ visibleFields: VISIBLE_FIELDS });
  await expectAlike(world, 'other share', ({ id }) => reader.get(`/datasets/${id}/shares/${other.id}`));
  await expectAlike(world, 'GraphQL', ({ id }) =>
    reader.gql(
      `
        {
          dataset(id: "${id}") {
            shares { principalId accessLevel datasetFilterId restrictFields visibleFields }
            share(principalId: "other") { datasetFilterId visibleFields }
          }
        }
      `,
    ),
  );
  await expectAlike(world, 'access', ({ id }) =>
    reader.gql(`{ dataset(id: "${id}") { access(principal: "other") { __typename } } }`),
  );

  const { id } = twins[1]!;
  expect((await world.admin.get(`/datasets/${id}/shares/${other.id}`)).body).toMatchObject({
    visibleFields: ['qzx_salary', 'Region', 'id'],
    datasetFilterId: twins[1]!.shareFilter,
  });
});

test('saved filters of others are not found, and a team’s filter has no hidden criteria', async ({ world }) => {
  const { reader } = world;
  const { body } = await expectAlike(world, 'filters', ({ id }) => reader.get(`/datasets/${id}/filters`));
  expect(body.total).toBe(2);
  const byName = Object.fromEntries(
    (body._embedded['svc:filter'] as { name: string }[]).map((filter) => [filter.name, filter]),
  );
  expect(byName['Mine']).toMatchObject({
    criteria: { region: 'EU' },
    problem: null,
    permissions: { edit: true, delete: true },
  });
  expect(byName['Of the team']).toMatchObject({
    criteria: null,
    problem: expect.any(String),
    permissions: { edit: true },
  });
  expect(
    await expectAlike(world, 'share’s', (twin) => reader.get(`/datasets/${twin.id}/filters/${twin.shareFilter}`)),
  ).toMatchObject({ status: 404 });
  expect(
    await expectAlike(world, 'share’s owner', (twin) =>
      reader.get(`/datasets/${twin.id}/filters/${twin.shareFilter}/owner`),
    ),
  ).toMatchObject({ status: 404 });
  expect(
    await expectAlike(world, 'team’s', (twin) => reader.get(`/datasets/${twin.id}/filters/${twin.teamFilter}`)),
  ).toMatchObject({ status: 200, body: { criteria: null, problem: expect.any(String) } });
  expect(
    await expectAlike(world, 'renamed', (twin) =>
      reader.put(`/datasets/${twin.id}/filters/${twin.teamFilter}`, { description: 'Seen' }),
    ),
  ).toMatchObject({ status: 200, body: { criteria: null } });
  await expectAllAlike(world, ['', '&sort=name', '&q=mine', '&q=qzx', '&q=777', '&limit=1'], ({ id }, query) =>
    reader.get(`/dataset-filters?datasets=${id}${query}`),
  );
  await expectAlike(world, 'order', ({ id }) => reader.get(`/dataset-filters?datasets=${id}&sort=criteria`));
  const { data } = await expectAlike(world, 'GraphQL', (twin) =>
    reader.gql(
      `
        query ($id: ID!, $filter: ID!) {
          savedFilters(datasets: [$id], q: "t") { items { name criteria problem } total }
          dataset(id: $id) {
            filters { name criteria problem } filter(id: $filter) { criteria problem owner { name } }
          }
        }
      `,
      { id: twin.id, filter: twin.teamFilter },
    ),
  );
  expect(data.dataset.filter).toMatchObject({ criteria: null, problem: expect.any(String) });
});
