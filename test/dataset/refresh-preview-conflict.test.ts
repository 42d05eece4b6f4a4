import { describe, expect } from 'vitest';
import type { RefreshPreview } from '../../entities/refresh-preview.ts';
import { GATED } from '../operation/refreshable.ts';
import { expectBody, expectError } from '../support/expect.ts';
import { rowsOf, sweepUnused, WORLDS } from './dataset-copy-fixture.ts';
import { closeGate, createSales, previewRefresh, promoteMutation, waitingQueries } from './refresh-preview-fixture.ts';

// Every preview starts a loader process, which takes time on a busy machine.
const { test } = WORLDS[0]!;

describe('a promotion fails with 409', () => {
  test('after the rows were replaced, until the next preview', async ({ ann, shop, source }) => {
    const { id } = await createSales(shop, ann, source);
    const { previewId } = await previewRefresh(ann, id);
    expect((await ann.post(`/datasets/${id}/_refresh`)).status).toBe(200);
    await expectBody(ann.post(`/datasets/${id}/_promoteRefresh`, { previewId }), 409, {
      code: 'CONFLICT',
      message: expect.stringContaining('rows of the dataset were replaced'),
    });
    expect((await ann.gql(promoteMutation(id, previewId))).errors).toMatchObject([
      { extensions: { code: 'CONFLICT', status: 409 } },
    ]);
    expect(
      (await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: (await previewRefresh(ann, id)).previewId }))
        .status,
    ).toBe(200);
  });

  test.for<[string, object, number]>([
    ['query', { query: 'select 1 as id' }, 409],
    ['flow', { flow: [{ type: 'limit', n: 1 }] }, 409],
    [
      'parameters',
      { query: 'select {{n}}::int as id', params: [{ name: 'n', dataType: 'number', defaultValue: 1 }] },
      409,
    ],
    ['name and labels', { name: 'Other', fields: [{ name: 'id', label: 'Number' }] }, 200],
  ])('after a change of the definition, but not of labels: %s', async ([, change, status], { ann, shop, source }) => {
    const { id } = await createSales(shop, ann, source);
    const { previewId } = await previewRefresh(ann, id);
    expect((await ann.put(`/datasets/${id}`, change)).status).toBe(200);
    const promoted = await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId });
    expect(promoted).toMatchObject(
      status === 200
        ? { status }
        : {
            status,
            body: { message: 'The definition of the dataset was changed since the preview; preview the refresh again' },
          },
    );
  });

  test('after a change of the saved query', async ({ ann, source }) => {
    const query = await ann.creates('/queries', { name: 'Followed', datasourceId: source.id, query: 'select 1 as id' });
    const { id } = await ann.creates('/datasets', { name: 'Follower', queryId: query.id, refresh: true });
    const { previewId } = await previewRefresh(ann, id);
    await ann.put(`/queries/${query.id}`, { query: 'select 2 as id' });
    await expectError(ann.post(`/datasets/${id}/_promoteRefresh`, { previewId }), 409);
    const again = await previewRefresh(ann, id);
    expect((await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: again.previewId })).status).toBe(200);
    expect(await rowsOf(ann, id)).toEqual([2]);
  });

  test('after a change during the load of the preview', async ({ ann, shop, source }) => {
    const { id } = await ann.creates('/datasets', { name: 'Gated', datasourceId: source.id, query: GATED });
    const open = await closeGate(shop);
    const running = ann.post(`/datasets/${id}/_previewRefresh`);
    await expect.poll(() => waitingQueries(shop)).toBe(1);
    await ann.put(`/datasets/${id}`, { flow: [{ type: 'limit', n: 2 }] });
    await open();
    const { status, body } = await running;
    expect({ status, records: body.records }).toEqual({ status: 200, records: 5 });
    await expectError(ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: body.previewId }), 409);
  });
});

describe('concurrent previews', () => {
  test('a preview waits for a running refresh, and previews are not merged', async ({ ann, shop, source }) => {
    const { id } = await ann.creates('/datasets', { name: 'Queue', datasourceId: source.id, query: GATED });
    const open = await closeGate(shop);
    const refreshed = ann.post(`/datasets/${id}/_refresh`);
    await expect.poll(() => waitingQueries(shop)).toBe(1);
    const operationIds = await Promise.all(
      [1, 2].map(
        async () =>
          (await ann.post(`/datasets/${id}/_previewRefresh`, {}, { prefer: 'respond-async' })).body.id as string,
      ),
    );
    expect(
      (await Promise.all(operationIds.map((one) => ann.get(`/progress/${one}`)))).map(({ body }) => body.status),
    ).toEqual(['queued', 'queued']);
    await open();
    expect(await refreshed).toMatchObject({ status: 200 });
    const results: RefreshPreview[] = [];
    for (const one of operationIds) {
      await expect
        .poll(async () => (await ann.get(`/progress/${one}`)).body)
        .toMatchObject({ status: 'succeeded', result: { records: 5, previousRecordCount: 5 } });
      results.push((await ann.get(`/progress/${one}`)).body.result);
    }
    expect(new Set(results.map(({ previewId }) => previewId)).size).toBe(2);
    const statuses = [];
    for (const { previewId } of results)
      statuses.push((await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId })).status);
    expect(statuses.toSorted()).toEqual([200, 404]);
  });

  test('a promotion that waited for a refresh fails with 409 and changes nothing', async ({ ann, shop, source }) => {
    const { id } = await ann.creates('/datasets', {
      name: 'Overtaken',
      datasourceId: source.id,
      query: `
        select i as id, case when {{held}} then pg_advisory_lock_shared(1)::text end as gate
        from generate_series(1, 5) i`,
      params: [{ name: 'held', dataType: 'boolean', defaultValue: false }],
    });
    const { previewId } = await previewRefresh(ann, id);
    const open = await closeGate(shop);
    const refreshed = ann.post(`/datasets/${id}/_refresh`, { params: { held: true } });
    await expect.poll(() => waitingQueries(shop)).toBe(1);
    const promoted = ann.post(`/datasets/${id}/_promoteRefresh`, { previewId });
    await expect
      .poll(async () =>
        (await ann.get('/progress?status=queued')).body._embedded['svc:operation'].map(
          ({ operation }: { operation: string }) => operation,
        ),
      )
      .toContain('dataset.promoteRefresh');
    await open();
    expect(await refreshed).toMatchObject({ status: 200 });
    const { lastRefresh } = (await ann.get(`/datasets/${id}`)).body;
    expect(await promoted).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('rows of the dataset were replaced') },
    });
    expect((await ann.get(`/datasets/${id}`)).body).toMatchObject({ lastRefresh });
  });

  test('of two concurrent promotions one is published', async ({ ann, shop, source }) => {
    const { id } = await createSales(shop, ann, source);
    const { previewId } = await previewRefresh(ann, id);
    const both = await Promise.all([1, 2].map(() => ann.post(`/datasets/${id}/_promoteRefresh`, { previewId })));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    expect(
      (await ann.get(`/datasets/${id}/activity`)).body._embedded['svc:activity'].filter(
        ({ type }: { type: string }) => type === 'dataset.refreshed',
      ),
    ).toHaveLength(2);
  });

  test('a preview that fails or is cancelled changes neither the dataset nor the former preview', async ({
    ann,
    shop,
    source,
    service,
  }) => {
    const { id } = await ann.creates('/datasets', {
      name: 'Doomed',
      datasourceId: source.id,
      refresh: true,
      query: `
        select i as id, 1 / (i - {{zero}}::int) as x,
          case when {{held}} then pg_advisory_lock_shared(1)::text end as gate
        from generate_series(1, 5) i`,
      params: [
        { name: 'held', dataType: 'boolean', defaultValue: false },
        { name: 'zero', dataType: 'number', defaultValue: 9 },
      ],
    });
    const { previewId } = await previewRefresh(ann, id);
    const state = async () => [
      (await ann.get(`/datasets/${id}`)).body,
      (await ann.get(`/datasets/${id}/activity`)).body,
    ];
    const before = [await state(), (await sweepUnused(service)).toSorted()];
    await expectBody(ann.post(`/datasets/${id}/_previewRefresh`, { params: { zero: 3 } }), 500, {
      code: 'UPSTREAM_FAILED',
      message: expect.stringContaining('division by zero'),
    });
    const open = await closeGate(shop);
    const running = ann.post(`/datasets/${id}/_previewRefresh`, { progress: 'doomed', params: { held: true } });
    await expect.poll(() => waitingQueries(shop)).toBe(1);
    expect((await ann.delete('/progress/doomed')).status).toBe(202);
    expect(await running).toMatchObject({ status: 409, body: { code: 'CANCELLED' } });
    await expect.poll(() => waitingQueries(shop)).toBe(0);
    await open();
    expect([await state(), (await sweepUnused(service)).toSorted()]).toEqual(before);
    expect((await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId })).status).toBe(200);
  });

  test('a preview ends without remains when its dataset is deleted', async ({ ann, shop, source, service }) => {
    const { id } = await ann.creates('/datasets', { name: 'Deleted', datasourceId: source.id, query: GATED });
    const before = (await sweepUnused(service)).toSorted();
    const open = await closeGate(shop);
    const running = ann.post(`/datasets/${id}/_previewRefresh`);
    await expect.poll(() => waitingQueries(shop)).toBe(1);
    expect((await ann.delete(`/datasets/${id}`)).status).toBe(204);
    expect(await running).toMatchObject({ status: 409, body: { code: 'CANCELLED' } });
    await open();
    await expect.poll(async () => (await sweepUnused(service)).toSorted()).toEqual(before);
  });
});
