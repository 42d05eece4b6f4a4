import { describe, expect } from 'vitest';
import { expectBody, expectError } from '../support/expect.ts';
import { rowsOf, sweepUnused, WORLDS } from './dataset-copy-fixture.ts';
import {
  createSales,
  expire,
  generationOf,
  generationsOf,
  previewMutation,
  previewRefresh,
  promoteMutation,
} from './refresh-preview-fixture.ts';

// Every preview starts a loader process, which takes time on a busy machine.
describe.each(WORLDS)('a refresh preview on $index', ({ test }) => {
  test('returns the changes, is not visible to readers, and is published unchanged', async ({
    ann,
    bob,
    shop,
    source,
    service,
  }) => {
    const { id, table, change } = await createSales(shop, ann, source);
    await ann.put(`/datasets/${id}`, { fields: [{ name: 'amount', label: 'Turnover' }] });
    await ann.put(`/datasets/${id}/shares/${bob.id}`, { accessLevel: 1 });
    const state = async () => [
      (await ann.get(`/datasets/${id}`)).body,
      (await bob.get(`/datasets/${id}/data?sort=id`)).body,
      (await ann.get(`/datasets/${id}/activity`)).body,
    ];
    const before = await state();
    await change();

    const { status, body } = await ann.post(`/datasets/${id}/_previewRefresh`, { progress: 'preview' });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toEqual({
      previewId: expect.any(String),
      records: 4,
      previousRecordCount: 3,
      fieldsAdded: [{ name: 'paid', type: 'boolean' }],
      fieldsRemoved: [{ name: 'region', type: 'string' }],
      fieldsRetyped: [{ name: 'amount', from: 'integer', to: 'string' }],
      breaks: [],
      hiddenBreaks: 0,
      expiresAt: expect.any(String),
    });
    expect(Date.parse(body.expiresAt) - Date.now()).toSatisfy(
      (left: number) => left > 50 * 60_000 && left <= 60 * 60_000,
    );
    expect((await ann.get('/progress/preview')).body).toMatchObject({
      operation: 'dataset.preview',
      resource: { kind: 'dataset', id },
      status: 'succeeded',
      percent: 100,
      current: 4,
      unit: 'rows',
      result: body,
    });
    expect(await state()).toEqual(before);
    expect(await generationsOf(service)).toContain(body.previewId);

    await shop.sql(`drop table ${table}`); // The source is not queried again.
    const promoted = await ann.post(`/datasets/${id}/_promoteRefresh`, {
      previewId: body.previewId,
      progress: 'promotion',
    });
    expect(promoted, JSON.stringify(promoted.body)).toMatchObject({
      status: 200,
      body: {
        id,
        records: 4,
        previousRecordCount: 3,
        duration: expect.any(Number),
        fieldsAdded: 1,
        fieldsUpdated: 1,
        fieldsRemoved: 1,
        dataUpdatedAt: expect.any(String),
        success: true,
      },
    });
    expect((await ann.get(`/datasets/${id}`)).body).toMatchObject({
      esIndex: body.previewId,
      records: 4,
      dataUpdatedAt: promoted.body.dataUpdatedAt,
      lastRefresh: { success: true, error: null },
      fields: [
        { name: 'id', type: 'integer' },
        { name: 'amount', label: 'Turnover', type: 'string' },
        { name: 'note' },
        { name: 'paid', type: 'boolean' },
      ],
    });
    expect(
      (await bob.get(`/datasets/${id}/data?sort=id`)).body._embedded['svc:record'].map(
        ({ id: n, amount, paid }: Record<string, unknown>) => [n, amount, paid],
      ),
    ).toEqual([
      [1, '10', true],
      [2, '20', true],
      [3, '30', true],
      [4, '40', false],
    ]);
    expect((await ann.get(`/datasets/${id}/activity`)).body._embedded['svc:activity'][0]).toMatchObject({
      type: 'dataset.refreshed',
      data: { records: 4 },
      message: expect.stringMatching(/^ann refreshed Sales/),
    });
    expect((await ann.get('/progress/promotion')).body).toMatchObject({
      operation: 'dataset.promoteRefresh',
      resource: { kind: 'dataset', id },
      status: 'succeeded',
      result: promoted.body,
    });
    expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: body.previewId }), 'twice').toMatchObject({
      status: 404,
      body: { message: `There is no refresh preview ${body.previewId}` },
    });
    expect(await sweepUnused(service), 'the published rows remain').toContain(body.previewId);
  });

  test('works the same in GraphQL, and returns its operation without waiting', async ({ ann, shop, source }) => {
    const { id, change, table } = await createSales(shop, ann, source);
    await ann.put(`/datasets/${id}`, {
      query: `select * from ${table} where id > {{least}} order by id`,
      params: [{ name: 'least', dataType: 'number', defaultValue: 0 }],
    });
    await change();
    const { operation, result } = (await ann.data(previewMutation(id, ', params: { least: 2 }'))).previewRefresh;
    expect(operation).toMatchObject({ operation: 'DATASET_PREVIEW', status: 'SUCCEEDED', current: 2 });
    expect(result).toEqual({
      previewId: expect.any(String),
      records: 2,
      previousRecordCount: 3,
      fieldsAdded: [{ name: 'paid', type: 'BOOLEAN' }],
      fieldsRemoved: [{ name: 'region', type: 'STRING' }],
      fieldsRetyped: [{ name: 'amount', from: 'INTEGER', to: 'STRING' }],
      breaks: [],
      hiddenBreaks: 0,
      expiresAt: expect.any(String),
    });
    expect(await rowsOf(ann, id)).toEqual([1, 2, 3]);
    const promoted = (await ann.data(promoteMutation(id, result.previewId))).promoteRefresh;
    expect(promoted).toMatchObject({
      operation: { operation: 'DATASET_PROMOTE_REFRESH', status: 'SUCCEEDED' },
      result: {
        id,
        records: 2,
        previousRecordCount: 3,
        fieldsAdded: 1,
        fieldsUpdated: 1,
        fieldsRemoved: 1,
        success: true,
      },
    });
    expect([await generationOf(ann, id), await rowsOf(ann, id)]).toEqual([result.previewId, [3, 4]]);
    expect((await ann.gql(promoteMutation(id, result.previewId))).errors).toMatchObject([
      { message: `There is no refresh preview ${result.previewId}`, extensions: { code: 'NOT_FOUND', status: 404 } },
    ]);

    const started = (await ann.data(previewMutation(id, ', wait: false'))).previewRefresh;
    expect(started).toMatchObject({ result: null, operation: { operation: 'DATASET_PREVIEW' } });
    await expect
      .poll(async () => (await ann.get(`/progress/${started.operation.id}`)).body)
      .toMatchObject({ status: 'succeeded', result: { records: 4, previousRecordCount: 2 } });
    const later = await ann.post(
      `/datasets/${id}/_promoteRefresh`,
      { previewId: (await ann.get(`/progress/${started.operation.id}`)).body.result.previewId },
      { prefer: 'respond-async' },
    );
    expect(later).toMatchObject({ status: 202, body: { operation: 'dataset.promoteRefresh' } });
    await expect
      .poll(async () => (await ann.get(`/progress/${later.body.id}`)).body)
      .toMatchObject({ status: 'succeeded', result: { records: 4 } });
  });

  test('accepts the options of a refresh', async ({ ann, shop, source }) => {
    const { id, change } = await createSales(shop, ann, source);
    await change();
    await expectBody(ann.post(`/datasets/${id}/_previewRefresh`, { syncFields: false }), 200, {
      fieldsAdded: [],
      fieldsRemoved: [],
      fieldsRetyped: [{ name: 'amount' }],
      records: 4,
    });
    const untyped = await ann.post(`/datasets/${id}/_previewRefresh`, { updateTypeMapping: false });
    expect(untyped).toMatchObject({
      status: 200,
      body: { fieldsRetyped: [], fieldsAdded: [{ name: 'paid' }], records: 4 },
    });
    await expectBody(ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: untyped.body.previewId }), 200, {
      fieldsUpdated: 0,
    });
    expect((await ann.get(`/datasets/${id}/data?sort=id`)).body._embedded['svc:record'][3]).toEqual({
      id: 4,
      amount: 40,
      note: 'c',
      paid: false,
    });
  });

  test('can precede the first refresh', async ({ ann, shop, source }) => {
    const { id } = await createSales(shop, ann, source, { refresh: false });
    const { previewId, ...preview } = await previewRefresh(ann, id);
    expect(preview).toMatchObject({
      records: 3,
      previousRecordCount: 0,
      fieldsRemoved: [],
      fieldsRetyped: [],
      fieldsAdded: ['id', 'region', 'amount', 'note'].map((name) => ({ name })),
    });
    expect((await ann.get(`/datasets/${id}`)).body).toMatchObject({
      records: 0,
      fields: [],
      esIndex: null,
      lastRefresh: null,
    });
    await expectBody(ann.post(`/datasets/${id}/_promoteRefresh`, { previewId }), 200, {
      records: 3,
      previousRecordCount: 0,
      fieldsAdded: 4,
    });
    expect(await rowsOf(ann, id)).toEqual([1, 2, 3]);
  });

  test('is deleted when it is replaced, expires, or its dataset is deleted', async ({ ann, shop, source, service }) => {
    const { id } = await createSales(shop, ann, source);
    const current = (await generationOf(ann, id))!;
    const [first, second] = [await previewRefresh(ann, id), await previewRefresh(ann, id)].map(
      ({ previewId }) => previewId,
    ) as [string, string];
    await expect.poll(() => generationsOf(service)).not.toContain(first);
    expect(await sweepUnused(service)).toEqual(expect.arrayContaining([current, second]));
    await expectError(ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: first }), 404);

    await expire(service, second);
    await expectError(
      ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: second }),
      404,
      `There is no refresh preview ${second}`,
    );
    await expect.poll(() => sweepUnused(service)).not.toContain(second);
    expect(
      await service.platform.system.query({
        text: 'select 1 from dws.refresh_preview where id = $1',
        values: [second],
      }),
    ).toEqual([]);

    const { previewId: third } = await previewRefresh(ann, id);
    expect((await ann.delete(`/datasets/${id}`)).status).toBe(204);
    // The loader of a generation protects it until it has written the search words.
    for (const deleted of [current, third]) await expect.poll(() => sweepUnused(service)).not.toContain(deleted);
  });
});
