import { describe, expect } from 'vitest';
import type { ApiResponse } from '../support/client.ts';
import { HAS_ELASTICSEARCH } from '../support/engines.ts';
import { expectBody, expectError, expectGraphqlError } from '../support/expect.ts';
import { createSource, test } from '../support/shop-fixture.ts';
import { ONE_RUN, WAYS } from './dataset-benchmark-fixture.ts';
import { rowsOf, searched } from './dataset-copy-fixture.ts';
import { createOrders, createTeam } from './dataset-fixture.ts';

// Each run that loads rows starts a process, which is slow on two busy cores.
interface Run {
  duration: number;
  records: number;
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Computes every statistic from the runs of a response. */
function computeStatistics(runs: readonly Run[]): Record<string, number> {
  const durations = runs.map(({ duration }) => duration).sort((a, b) => a - b);
  const total = sumOf(durations);
  const avg = total / durations.length;
  const half = durations.length / 2;
  return {
    min: Math.min(...durations),
    max: Math.max(...durations),
    avg,
    records: runs.at(-1)!.records,
    median: Number.isInteger(half) ? (durations[half - 1]! + durations[half]!) / 2 : durations[Math.floor(half)]!,
    stdDev: Math.sqrt(sumOf(durations.map((duration) => (duration - avg) ** 2)) / durations.length),
    avgRecordsPerSecond: sumOf(runs.map(({ records }) => records)) / (total / 1000),
  };
}

const closeTo = (expected: Record<string, number>) =>
  Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, expect.closeTo(value, 6)]));

/** The expected results of runs that each have this number of records. */
const resultsOf = (iterations: number, records: number) =>
  Array.from({ length: iterations }, (_, i) => ({ iteration: i + 1, duration: expect.any(Number), records }));

const hasMicroseconds = (ms: number): boolean => ms > 0 && Math.abs(ms * 1000 - Math.round(ms * 1000)) < 1e-6;

/** A dataset of the orders past an id, by default of the last 5 of 20. */
const FILTERED_ORDERS = {
  query: 'select id from orders where id > {{minId}}',
  params: [{ name: 'minId', dataType: 'number', defaultValue: 15 }],
};

describe('a benchmark', () => {
  test('has five measured runs after one warm-up run, and statistics over them', async ({ ann, source }) => {
    const { id } = await createOrders(ann, source);
    const { status, body } = await ann.post(`/datasets/${id}/_benchmark`, { progress: 'how fast' });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toEqual({
      iterations: 5,
      warmup: 1,
      results: resultsOf(5, 20),
      statistics: closeTo(computeStatistics(body.results)),
      config: { iterations: 5, warmup: 1, includeDataTransfer: false, includeIndexing: false },
    });
    for (const { duration } of body.results) expect(duration).toSatisfy(hasMicroseconds);
    await expectBody(ann.get('/progress/how%20fast'), 200, {
      operation: 'dataset.benchmark',
      resource: { kind: 'dataset', id },
      status: 'succeeded',
      percent: 100,
      current: 6,
      total: 6,
      unit: 'runs',
      result: body,
    });
  });

  test('is equal in GraphQL, which returns only the operation without wait', async ({ ann, source }) => {
    const { id } = await createOrders(ann, source, FILTERED_ORDERS);
    const mutation = `
      mutation ($wait: Boolean, $config: DatasetBenchmarkConfigInput) {
        benchmarkDataset(id: "${id}", params: { minId: 18 }, config: $config, wait: $wait) {
          operation { id status percent current total unit }
          result {
            iterations warmup
            results { iteration duration records }
            statistics { min max avg median stdDev records avgRecordsPerSecond }
            config { iterations warmup includeDataTransfer includeIndexing }
          }
        }
      }`;
    const waited = await ann.data(mutation, { config: { iterations: 4, warmup: 0 } });
    const { operation, result } = waited.benchmarkDataset;
    expect(operation).toMatchObject({ status: 'SUCCEEDED', percent: 100, current: 4, total: 4, unit: 'runs' });
    expect(result).toEqual({
      iterations: 4,
      warmup: 0,
      results: resultsOf(4, 2),
      statistics: closeTo(computeStatistics(result.results)),
      config: { iterations: 4, warmup: 0, includeDataTransfer: false, includeIndexing: false },
    });

    const { benchmarkDataset: started } = await ann.data(mutation, { wait: false });
    expect(started).toMatchObject({ result: null });
    await expect
      .poll(async () => (await ann.get(`/progress/${started.operation.id}`)).body)
      .toMatchObject({ status: 'succeeded', result: { iterations: 5, warmup: 1 } });
  });

  test('can be followed by a client that does not wait', async ({ ann, source }) => {
    const { id } = await createOrders(ann, source);
    const response = await ann.post(`/datasets/${id}/_benchmark`, { config: ONE_RUN }, { prefer: 'respond-async' });
    const operation = await expectBody(response, 202, {
      operation: 'dataset.benchmark',
      resource: { kind: 'dataset', id },
    });
    const path = `/progress/${operation.id}`;
    expect(response.headers.get('location')).toBe(`/api${path}`);
    await expect
      .poll(async () => (await ann.get(path)).body)
      .toMatchObject({ status: 'succeeded', result: { statistics: { records: 20 } } });
  });

  test.for(WAYS)(
    'by %s does not change the stored rows and the index',
    async ([, config, , implied], { ann, source, service }) => {
      const { id } = await createOrders(ann, source, { ...FILTERED_ORDERS, refresh: true });
      const readState = async () => [
        (await ann.get(`/datasets/${id}`)).body,
        (await ann.get(`/datasets/${id}/data`)).body,
        await service.platform.index.generations(),
      ];
      const before = await readState();
      const input = { params: { minId: 10 }, config: { iterations: 2, warmup: 1, ...config } };
      await expectBody(ann.post(`/datasets/${id}/_benchmark`, input), 200, {
        results: [
          { iteration: 1, records: 10 },
          { iteration: 2, records: 10 },
        ],
        statistics: { records: 10 },
        config: { iterations: 2, warmup: 1, includeDataTransfer: false, includeIndexing: false, ...config, ...implied },
      });
      expect(await readState()).toEqual(before);
    },
  );

  test('counts the rows of the query, or with indexing those that remain after the flow', async ({ ann, source }) => {
    const { id } = await createOrders(ann, source, { flow: [{ type: 'limit', n: 3 }] });
    const countRecords = async (config: object): Promise<number> => {
      const { body } = await ann.post(`/datasets/${id}/_benchmark`, { config: { ...ONE_RUN, ...config } });
      return body.statistics.records;
    };
    expect(await countRecords({})).toBe(20);
    expect(await countRecords({ includeDataTransfer: true })).toBe(20);
    expect(await countRecords({ includeIndexing: true })).toBe(3);
  });
});

const INVALID_CONFIGS = [
  { iterations: 0 },
  { iterations: 101 },
  { iterations: 1.5 },
  { iterations: 'many' },
  { warmup: -1 },
  { warmup: 21 },
  { includeIndexing: 'yes' },
];

test('an invalid benchmark is refused before it starts', async ({ ann, source }) => {
  const { id } = await createOrders(ann, source, {
    query: 'select {{region}}::text as region',
    params: [{ name: 'region', dataType: 'string', required: true }],
  });
  const params = { region: 'EU' };
  const benchmark = (input: object) => ann.post(`/datasets/${id}/_benchmark`, input);
  await expectError(benchmark({}), 400, /"region"/);
  await expectError(benchmark({ params: { area: 'EU' } }), 400, /"area"/);
  for (const config of INVALID_CONFIGS)
    await expectError(benchmark({ params, config }), 400, new RegExp(`config\\.${Object.keys(config)[0]}`));
  await expectError(benchmark({ params, config: { colour: 'red' } }), 400, /colour/);
  await expectError(benchmark({ params, progress: '' }), 400);
  await expectGraphqlError(
    ann.gql(`
      mutation {
        benchmarkDataset(id: "${id}", params: { region: "EU" }, config: { iterations: 101 }) { result { iterations } }
      }`),
    'BAD_USER_INPUT',
    'config.iterations must be a whole number from 1 to 100',
  );

  const { body } = await ann.get('/progress?resource=dataset');
  const operations: ApiResponse['body'][] = body._embedded['svc:operation'];
  expect(operations.filter(({ resource }) => resource.id === id)).toEqual([]);
  await expectBody(benchmark({ params, config: ONE_RUN }), 200, { statistics: { records: 1 } });
});

test('a benchmark requires dataset:refresh, and the owner’s access to the datasource', async ({
  admin,
  ann,
  bob,
  stranger,
  anonymous,
  source,
}) => {
  const teamId = await createTeam(admin, 'Timers', { ann: 'memberPlus', bob: 'member' });
  const { id } = await createOrders(ann, source);
  for (const path of [`/datasets/${id}/_benchmark`, `/datasets/${id}/_benchmark-internal`]) {
    await expectError(bob.post(path), 404);
    await expectError(stranger.post(path), 404);
    await expectError(anonymous.post(path), 401);
  }
  await ann.put(`/datasets/${id}`, { ownerId: `team:${teamId}` });
  await expectError(bob.post(`/datasets/${id}/_benchmark`), 403, /dataset:refresh/);
  // The team has no access to ann's datasource.
  await expectError(ann.post(`/datasets/${id}/_benchmark`), 403);
});

test('only superusers benchmark without the owner’s access to the datasource', async ({ admin, ann, bob, shop }) => {
  const datasource = await createSource(admin, shop, { ownerId: ann.id });
  const { id } = await createOrders(ann, datasource);
  const path = `/datasets/${id}`;
  await ann.put(path, { ownerId: bob.id });
  await expectError(admin.post(`${path}/_benchmark`), 403);
  await expectError(
    bob.post(`${path}/_benchmark-internal`),
    403,
    'Only superusers and workers can benchmark a dataset this way',
  );
  await expectBody(admin.post(`${path}/_benchmark-internal`, { config: ONE_RUN }), 200, {
    statistics: { records: 20 },
  });

  const mutation = `
    mutation {
      benchmarkDatasetInternal(id: "${id}", config: { iterations: 1, warmup: 0 }) { result { statistics { records } } }
    }`;
  await expectGraphqlError(bob.gql(mutation), 'FORBIDDEN');
  expect(await admin.data(mutation)).toEqual({
    benchmarkDatasetInternal: { result: { statistics: { records: 20 } } },
  });
});

describe.skipIf(!HAS_ELASTICSEARCH)('with rows in Elasticsearch', () => {
  searched(
    'a benchmark with indexing leaves nothing there, and does not change the rows',
    async ({ service, ann, createOrders }) => {
      const { id, esIndex } = await createOrders();
      const config = { iterations: 2, warmup: 1, includeIndexing: true };
      await expectBody(ann.post(`/datasets/${id}/_benchmark`, { config }), 200, {
        iterations: 2,
        warmup: 1,
        results: [
          { iteration: 1, records: 20 },
          { iteration: 2, records: 20 },
        ],
        statistics: { records: 20 },
        config: { includeDataTransfer: true, includeIndexing: true },
      });
      expect(await service.platform.index.generations()).toEqual([{ id: esIndex, complete: true }]);
      expect(await rowsOf(ann, id)).toHaveLength(20);
    },
  );
});
