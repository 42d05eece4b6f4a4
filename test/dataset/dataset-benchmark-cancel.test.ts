import { describe, expect } from 'vitest';
import type { DatasetBenchmarkInput } from '../../src/core/operations.ts';
import { wait } from '../../src/services/operation/operation-wait.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { eventually, test as operationTest } from '../operation/fixture.ts';
import { filesOf, GATED, createSourceDataset } from '../operation/refreshable.ts';
import { expectBody } from '../support/expect.ts';
import { test } from '../support/shop-fixture.ts';
import { closeGate, listWaiting, ONE_RUN, WAYS } from './dataset-benchmark-fixture.ts';
import { createOrders } from './dataset-fixture.ts';

// Each run that loads rows starts a process, which is slow on two busy cores.
describe('a benchmark', () => {
  test.for(WAYS)(
    'by %s that fails reports the error and leaves nothing behind',
    async ([, config], { ann, source, service }) => {
      const { id } = await createOrders(ann, source, { query: 'select 1 / (id - 20) as x from orders' });
      const before = await service.platform.index.generations();
      await expectBody(ann.post(`/datasets/${id}/_benchmark`, { config: { ...ONE_RUN, ...config } }), 500, {
        code: 'UPSTREAM_FAILED',
        message: expect.stringContaining('division by zero'),
      });
      expect(await service.platform.index.generations()).toEqual(before);
      await expectBody(ann.get(`/datasets/${id}`), 200, { records: 0, lastRefresh: null });
    },
  );

  test.for(WAYS)(
    'by %s is cancelled together with its statement in the source',
    async ([way, config, statement], { ann, source, shop, service }) => {
      const { id } = await createOrders(ann, source, { query: GATED });
      const before = await service.platform.index.generations();
      const openGate = await closeGate(shop);
      const benchmark = ann.post(`/datasets/${id}/_benchmark`, { progress: way, config });
      await expect.poll(() => listWaiting(shop)).toEqual([expect.stringMatching(statement)]);

      expect(await ann.delete(`/progress/${way}`)).toMatchObject({ status: 202 });
      await expectBody(benchmark, 409, { code: 'CANCELLED' });
      await expect.poll(() => listWaiting(shop)).toEqual([]);
      await openGate();
      await expectBody(ann.get(`/progress/${way}`), 200, { status: 'cancelled', current: 0 });
      await expect.poll(() => service.platform.index.generations()).toEqual(before);
    },
  );

  test.for(WAYS)('by %s is stopped after REFRESH_TIMEOUT_MS', async ([, config], { ann, source, shop, service }) => {
    const { id } = await createOrders(ann, source, { query: GATED });
    const { config: serviceConfig } = service.platform;
    const defaultTimeout = serviceConfig.REFRESH_TIMEOUT_MS;
    serviceConfig.REFRESH_TIMEOUT_MS = 1500;
    const openGate = await closeGate(shop);
    await expectBody(ann.post(`/datasets/${id}/_benchmark`, { config }), 500, {
      code: 'UPSTREAM_FAILED',
      message: 'query timeout after 1500 ms',
    });
    serviceConfig.REFRESH_TIMEOUT_MS = defaultTimeout;
    await expect.poll(() => listWaiting(shop)).toEqual([]);
    await openGate();
  });

  test('runs during a refresh of its dataset', async ({ ann, source, shop }) => {
    const { id } = await createOrders(ann, source, {
      query: `
        select i, case when {{gated}} then pg_advisory_lock_shared(1)::text end as gate
        from generate_series(1, 5) i`,
      params: [{ name: 'gated', dataType: 'boolean', defaultValue: false }],
    });
    const params = { gated: true };
    const openGate = await closeGate(shop);
    const refresh = ann.post(`/datasets/${id}/_refresh`, { params });
    await expect.poll(() => listWaiting(shop)).toHaveLength(1);
    await expectBody(ann.post(`/datasets/${id}/_benchmark`, { config: ONE_RUN }), 200, { statistics: { records: 5 } });
    await openGate();
    await expectBody(refresh, 200, { records: 5 });

    const openSecondGate = await closeGate(shop);
    const benchmark = ann.post(`/datasets/${id}/_benchmark`, { params, config: ONE_RUN });
    await expect.poll(() => listWaiting(shop)).toHaveLength(1);
    await expectBody(ann.post(`/datasets/${id}/_refresh`), 200, { records: 5 });
    await openSecondGate();
    expect(await benchmark).toMatchObject({ status: 200 });
  });
});

operationTest('a benchmark whose worker dies is recorded as failed and does not start again', async ({ world }) => {
  const ann = await world.caller();
  const dataset = await createSourceDataset(world, ann);
  const worker = await world.startWorkerProcess('real');
  const openGate = await dataset.closeGate();
  const [row] = await ann.query<{ datasourceId: string }>({
    text: 'select datasource_id as "datasourceId" from dws.dataset',
  });
  const input: DatasetBenchmarkInput = {
    datasetId: dataset.id,
    datasourceId: row!.datasourceId,
    query: GATED,
    parameters: [],
    config: { ...ONE_RUN, includeDataTransfer: true, includeIndexing: true },
  };
  const id = await ann.transaction((tx) =>
    operations.start(ann, tx, {
      operation: 'dataset.benchmark',
      resource: { kind: 'dataset', id: dataset.id },
      input,
    }),
  );
  await eventually(async () => (await dataset.running()).length > 0);
  await worker.kill('SIGKILL');
  await world.startWorkerProcess('real');
  await expect(wait(ann, id)).rejects.toMatchObject({ status: 500, code: 'INTERNAL' });
  await openGate();
  await eventually(async () => (await filesOf(world.dataDir)).length === 0);
  await dataset.drop();
});
