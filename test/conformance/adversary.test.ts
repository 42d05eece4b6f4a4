import { expect, describe } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { test } from '../support/shop-fixture.ts';

describe('an invalid text is an error of the client, never an internal one', () => {
  test('a time zone is a name in any case, not an offset', async ({ ann, source }) => {
    const dataset = await ann.creates('/datasets', {
      name: 'Hours',
      datasourceId: source.id,
      query: `select timestamptz '2024-03-31 00:30Z' as at`,
      refresh: true,
    });
    const countByDay = (timezone: string) =>
      ann.post(`/datasets/${dataset.id}/_aggregate`, {
        groupBy: [{ field: 'at', interval: 'day', timezone }],
        measures: [{ fn: 'count', as: 'n' }],
      });
    for (const timezone of ['+02:00', '-05', "'; drop", 'Mars/Olympus'])
      await expectError(countByDay(timezone), 400, /time zone/);
    for (const timezone of ['Europe/Berlin', 'europe/berlin'])
      await expectBody(countByDay(timezone), 200, { rows: [['2024-03-30T23:00:00.000Z', 1]] });
  });

  test('a subscription over HTTP is refused with a hint at WebSocket', async ({ ann }) => {
    const { status, errors } = await ann.gql('subscription { progress(id: "x") { id } }');
    expect(status).toBe(400);
    expect(errors).toMatchObject([
      { message: expect.stringContaining('WebSocket'), extensions: { code: 'BAD_USER_INPUT' } },
    ]);
  });

  test('a value nested thousands of levels deep exceeds a limit', async ({ ann }) => {
    const { status, errors } = await ann.gql(
      `mutation { updateMe(input: {settings: {a: ${'['.repeat(4500)}${']'.repeat(4500)}}}) { id } }`,
    );
    expect(status).toBe(400);
    expect(errors).toMatchObject([{ extensions: { code: 'GRAPHQL_LIMIT' } }]);
  });

  test('the rows of a dataset count towards the cost of an operation', async ({ ann, source }) => {
    const dataset = await ann.creates('/datasets', { name: 'Rows', datasourceId: source.id, query: 'select 1 as one' });
    const selectRows = (alias: string) => `${alias}: dataset(id: "${dataset.id}") { data(limit: 10000) { items } }`;
    expect((await ann.gql(`{ ${selectRows('a')} }`)).errors).toBeUndefined();
    expect(await ann.gql(`{ ${['a', 'b', 'c', 'd', 'e'].map(selectRows).join(' ')} }`)).toMatchObject({
      status: 400,
      errors: [{ extensions: { code: 'GRAPHQL_LIMIT' } }],
    });
  });

  test('the limit of regular expressions applies to all of a query together', async ({ ann, source }) => {
    const dataset = await ann.creates('/datasets', {
      name: 'Words',
      datasourceId: source.id,
      query: `select 'abc' as s`,
      refresh: true,
    });
    const searchAny = (sources: string[]) =>
      ann.post(`/datasets/${dataset.id}/_search`, { filter: { $or: sources.map(($regex) => ({ s: { $regex } })) } });
    const simple = Array.from({ length: 1000 }, (_, i) => `^abc${i}?`);
    const complex = Array.from({ length: 100 }, (_, i) => `(a{20}){20}${i}`);
    await expectBody(searchAny(simple), 200, { count: 1 });
    await expectError(searchAny(complex), 400, /\$regex/);
  });
});

test('a list accepts the user name of an owner, and is 404 for an unknown one', async ({ ann, bob, source }) => {
  await ann.creates('/datasets', { name: 'Owned', datasourceId: source.id, query: 'select 1 as one' });
  const totalOf = async (ownerId: string) => (await ann.get(`/datasets?ownerId=${ownerId}`)).body.total;
  expect(await totalOf('ann')).toBe(await totalOf(ann.id));
  expect(await totalOf('ann')).toBeGreaterThan(0);
  expect(await totalOf(bob.username)).toBe(0);
  for (const path of ['/datasets', '/datasources', '/queries'])
    await expectError(ann.get(`${path}?ownerId=ghost`), 404, 'There is no user ghost');
});

test('null clears an optional field, and is refused for a required one', async ({ ann, source }) => {
  const { id } = await ann.creates('/datasets', {
    name: 'Clear',
    description: 'x',
    datasourceId: source.id,
    query: 'select 1 as one',
    settings: { a: 1 },
  });
  const cleared = { description: null, folderId: null, queryId: null, settings: null, flow: null };
  await expectBody(ann.put(`/datasets/${id}`, cleared), 200, { description: null, settings: {}, flow: [] });
  const mutation = 'mutation ($id: ID!, $input: UpdateDatasetInput!) { updateDataset(id: $id, input: $input) { id } }';
  for (const key of ['name', 'slug', 'ownerId', 'query', 'datasourceId']) {
    await expectError(ann.put(`/datasets/${id}`, { [key]: null }), 400, new RegExp(key));
    const { errors } = await ann.gql(mutation, { id, input: { [key]: null } });
    expect(errors, key).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  }
});
