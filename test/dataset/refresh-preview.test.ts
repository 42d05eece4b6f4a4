import pg from 'pg';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { newId } from '../../src/core/id.ts';
import { handlers } from '../../src/operations/handlers.ts';
import { sweepGenerations } from '../../src/operations/janitor.ts';
import type { RefreshPreviewResult } from '../../src/services/dataset/refresh-preview.ts';
import { wait } from '../../src/services/operation/operation-wait.ts';
import * as operations from '../../src/services/operation/operation.ts';
import { eventually, test as operated, type World } from '../operation/fixture.ts';
import { filesOf, GATED, makeDataset } from '../operation/refreshable.ts';
import type { Client } from '../support/client.ts';
import type { Service } from '../support/service.ts';
import { makeSource, type Shop } from '../support/shop-fixture.ts';
import { rowsOf, swept, WORLDS } from './dataset-copy-fixture.ts';

// Every preview starts a process that loads; on two busy cores that adds up.
vi.setConfig({ testTimeout: 120_000 });

const PREVIEW = `previewId records previousRecordCount fieldsAdded { name type } fieldsRemoved { name type } fieldsRetyped { name from to } breaks { kind id reportId name problem } hiddenBreaks expiresAt`;
const byGraphql = (id: string, more = '') =>
  `mutation { previewRefresh(id: "${id}"${more}) { operation { id operation status current } result { ${PREVIEW} } } }`;
const promotion = (id: string, previewId: string) =>
  `mutation { promoteRefresh(id: "${id}", previewId: "${previewId}") { operation { id operation status } result { id records previousRecordCount duration fieldsAdded fieldsUpdated fieldsRemoved dataUpdatedAt success } } }`;

let tables = 0;

/** A table of the shop with three rows, and ann's dataset of it. `change` gives it another shape: `region` goes, `amount` becomes a text, `paid` comes, and a row. */
async function makeSales(shop: Shop, ann: Client, source: { id: string }, more: object = {}) {
  const table = `sales${++tables}`;
  await shop.sql(`create table ${table} (id integer, region text, amount integer, note text)`);
  await shop.sql(`insert into ${table} values (1, 'EU', 10, 'a'), (2, 'US', 20, 'b'), (3, 'EU', 30, null)`);
  const { id } = (await ann.creates('/datasets', {
    name: `Sales ${tables}`,
    datasourceId: source.id,
    query: `select * from ${table} order by id`,
    refresh: true,
    ...more,
  })) as { id: string };
  return {
    id,
    table,
    change: async () => {
      await shop.sql(
        `alter table ${table} drop column region, alter column amount type text, add column paid boolean default true`,
      );
      await shop.sql(`insert into ${table} values (4, '40', 'c', false)`);
    },
  };
}

const previewed = async (who: Client, id: string): Promise<RefreshPreviewResult> => {
  const { status, body } = await who.post(`/datasets/${id}/_previewRefresh`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const generationOf = async (who: Client, id: string): Promise<string | null> =>
  (await who.get(`/datasets/${id}`)).body.esIndex;
const held = async ({ platform }: Service): Promise<string[]> =>
  (await platform.index.generations()).map(({ id }) => id);
const expire = ({ platform }: Service, previewId: string) =>
  platform.system.query({
    text: `update dws.refresh_preview set expires_at = now() - interval '1 second' where id = $1`,
    values: [previewId],
  });

/** Holds back queries that ask for `GATED`, until the answered function is called or the test is over. */
async function closeGate(shop: Shop): Promise<() => Promise<void>> {
  const gate = new pg.Client(shop.url);
  await gate.connect();
  await gate.query('select pg_advisory_lock(1)');
  onTestFinished(() => gate.end());
  return () => gate.end();
}
const waiting = async (shop: Shop): Promise<number> =>
  (
    await shop.sql(`select 1 from pg_stat_activity
  where datname = current_database() and state = 'active' and query like '%pg_advisory_lock_shared(1)%' and pid <> pg_backend_pid()`)
  ).length;

describe.each(WORLDS)('a rehearsed refresh on $index', ({ test }) => {
  test('says what a refresh would change, shows nobody anything of it, and is published as it is', async ({
    ann,
    bob,
    shop,
    source,
    service,
  }) => {
    const { id, change } = await makeSales(shop, ann, source);
    await ann.put(`/datasets/${id}`, { fields: [{ name: 'amount', label: 'Turnover' }] });
    await ann.put(`/datasets/${id}/shares/${bob.id}`, { accessLevel: 1 });
    const state = async () => [
      (await ann.get(`/datasets/${id}`)).body,
      (await bob.get(`/datasets/${id}/data?sort=id`)).body,
      (await ann.get(`/datasets/${id}/activity`)).body,
    ];
    const before = await state();
    await change();

    const { status, body } = await ann.post(`/datasets/${id}/_previewRefresh`, { progress: 'rehearsal' });
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
    expect((await ann.get('/progress/rehearsal')).body).toMatchObject({
      operation: 'dataset.preview',
      resource: { kind: 'dataset', id },
      status: 'succeeded',
      percent: 100,
      current: 4,
      unit: 'rows',
      result: body,
    });
    expect(await state()).toEqual(before);
    expect(await held(service)).toContain(body.previewId);

    await shop.sql(`drop table sales${tables}`); // The source is not asked again.
    const promoted = await ann.post(`/datasets/${id}/_promoteRefresh`, {
      previewId: body.previewId,
      progress: 'premiere',
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
    expect((await ann.get('/progress/premiere')).body).toMatchObject({
      operation: 'dataset.promoteRefresh',
      resource: { kind: 'dataset', id },
      status: 'succeeded',
      result: promoted.body,
    });
    expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: body.previewId }), 'twice').toMatchObject({
      status: 404,
      body: { message: `There is no refresh preview ${body.previewId}` },
    });
    expect(await swept(service), 'the published rows stay').toContain(body.previewId);
  });

  test('does the same in GraphQL, and answers its operation when nobody waits', async ({ ann, shop, source }) => {
    const { id, change, table } = await makeSales(shop, ann, source);
    await ann.put(`/datasets/${id}`, {
      query: `select * from ${table} where id > {{least}} order by id`,
      params: [{ name: 'least', dataType: 'number', defaultValue: 0 }],
    });
    await change();
    const { operation, result } = (await ann.data(byGraphql(id, ', params: { least: 2 }'))).previewRefresh;
    expect(operation).toMatchObject({ operation: 'dataset.preview', status: 'SUCCEEDED', current: 2 });
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
    const promoted = (await ann.data(promotion(id, result.previewId))).promoteRefresh;
    expect(promoted).toMatchObject({
      operation: { operation: 'dataset.promoteRefresh', status: 'SUCCEEDED' },
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
    expect((await ann.gql(promotion(id, result.previewId))).errors).toMatchObject([
      { message: `There is no refresh preview ${result.previewId}`, extensions: { code: 'NOT_FOUND', status: 404 } },
    ]);

    const begun = (await ann.data(byGraphql(id, ', wait: false'))).previewRefresh;
    expect(begun).toMatchObject({ result: null, operation: { operation: 'dataset.preview' } });
    await expect
      .poll(async () => (await ann.get(`/progress/${begun.operation.id}`)).body, { timeout: 60_000 })
      .toMatchObject({ status: 'succeeded', result: { records: 4, previousRecordCount: 2 } });
    const later = await ann.post(
      `/datasets/${id}/_promoteRefresh`,
      { previewId: (await ann.get(`/progress/${begun.operation.id}`)).body.result.previewId },
      { prefer: 'respond-async' },
    );
    expect(later).toMatchObject({ status: 202, body: { operation: 'dataset.promoteRefresh' } });
    await expect
      .poll(async () => (await ann.get(`/progress/${later.body.id}`)).body, { timeout: 60_000 })
      .toMatchObject({ status: 'succeeded', result: { records: 4 } });
  });

  test('takes the flags of a refresh', async ({ ann, shop, source }) => {
    const { id, change } = await makeSales(shop, ann, source);
    await change();
    expect(await ann.post(`/datasets/${id}/_previewRefresh`, { syncFields: false })).toMatchObject({
      status: 200,
      body: { fieldsAdded: [], fieldsRemoved: [], fieldsRetyped: [{ name: 'amount' }], records: 4 },
    });
    const kept = await ann.post(`/datasets/${id}/_previewRefresh`, { updateTypeMapping: false });
    expect(kept).toMatchObject({
      status: 200,
      body: { fieldsRetyped: [], fieldsAdded: [{ name: 'paid' }], records: 4 },
    });
    expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: kept.body.previewId })).toMatchObject({
      status: 200,
      body: { fieldsUpdated: 0 },
    });
    expect((await ann.get(`/datasets/${id}/data?sort=id`)).body._embedded['svc:record'][3]).toEqual({
      id: 4,
      amount: 40,
      note: 'c',
      paid: false,
    });
  });

  test('before the first refresh tells of new fields, and its promotion is the first refresh', async ({
    ann,
    shop,
    source,
  }) => {
    const { id } = await makeSales(shop, ann, source, { refresh: false });
    const { previewId, ...preview } = await previewed(ann, id);
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
    expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId })).toMatchObject({
      status: 200,
      body: { records: 3, previousRecordCount: 0, fieldsAdded: 4 },
    });
    expect(await rowsOf(ann, id)).toEqual([1, 2, 3]);
  });

  test('that is replaced, or expires, or whose dataset goes, leaves nothing; one that lives is kept', async ({
    ann,
    shop,
    source,
    service,
  }) => {
    const { id } = await makeSales(shop, ann, source);
    const current = (await generationOf(ann, id))!;
    const [first, second] = [await previewed(ann, id), await previewed(ann, id)].map(({ previewId }) => previewId) as [
      string,
      string,
    ];
    await expect.poll(() => held(service), { timeout: 20_000 }).not.toContain(first);
    expect(await swept(service)).toEqual(expect.arrayContaining([current, second]));
    expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: first })).toMatchObject({ status: 404 });

    await expire(service, second);
    expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: second })).toMatchObject({
      status: 404,
      body: { message: `There is no refresh preview ${second}` },
    });
    expect(await swept(service)).not.toContain(second);
    expect(
      await service.platform.system.query({
        text: 'select 1 from dws.refresh_preview where id = $1',
        values: [second],
      }),
    ).toEqual([]);

    const { previewId: third } = await previewed(ann, id);
    expect(await ann.delete(`/datasets/${id}`)).toMatchObject({ status: 204 });
    const left = await swept(service);
    for (const gone of [current, third]) expect(left).not.toContain(gone);
  });
});

const { test } = WORLDS[0]!;

/** A dataset with something of each kind that its change of shape breaks, and something that it does not. */
async function makeUsed(shop: Shop, ann: Client, source: { id: string }, service: Service) {
  const sales = await makeSales(shop, ann, source, { fieldSecurityEnabled: true });
  const { id } = sales;
  const add = async (path: string, body: object): Promise<string> => (await ann.creates(path, body)).id;
  const visual = (name: string, component: string, config: object) =>
    add(`/datasets/${id}/visuals`, { name, component, config });
  const filter = (name: string, criteria: object) => add(`/datasets/${id}/filters`, { name, criteria });
  const [byRegion, total, columns] = [
    await visual('By region', 'bar-chart', { xAxis: 'region', yAxis: 'amount' }),
    await visual('Total', 'gauge', { valueField: 'amount' }),
    await visual('Columns', 'table', { columns: ['id', 'region'], sortBy: 'id' }),
  ];
  await visual('Rows', 'table', { columns: ['id', 'note'], sortBy: 'amount' });
  await visual('Count', 'card', {});
  await visual('Points', 'scatter-plot', { xAxis: 'id', yAxis: 'amount' });
  await visual('Unfinished', 'bar-chart', { yAxis: 'region' });
  await visual('Long broken', 'table', { columns: ['never', 'region'] });
  const [eu, large] = [await filter('EU', { region: 'EU' }), await filter('Large', { amount: { $gte: 20 } })];
  await filter('First', { id: 1 });
  const people = [];
  for (const name of ['rows', 'fields', 'both', 'fine']) people.push(await service.user(`${name}${tables}`));
  const [rows, fields, both, fine] = people as [Client, Client, Client, Client];
  const share = (who: Client, body: object) => ann.put(`/datasets/${id}/shares/${who.id}`, { accessLevel: 1, ...body });
  expect(
    [
      await share(rows, { datasetFilterId: eu }),
      await share(fields, { restrictFields: true, visibleFields: ['id', 'region'] }),
      await share(both, { datasetFilterId: large, restrictFields: true, visibleFields: ['id'] }),
      await share(fine, { restrictFields: true, visibleFields: ['id', 'amount'] }),
    ].map(({ status }) => status),
  ).toEqual([200, 200, 200, 200]);
  const reportId = await add('/reports', { name: `Quarterly ${tables}` });
  const refer = (alias: string, more: object) =>
    add(`/reports/${reportId}/dataset-refs`, { reportId, datasetId: id, alias, label: `As ${alias}`, ...more });
  const [filtered, chipped] = [
    await refer('filtered', { filter: { criteria: [{ field: 'region', op: 'eq', value: 'EU' }] } }),
    await refer('chipped', { chips: [{ field: 'region', label: 'Where' }] }),
  ];
  await refer('plain', {
    filter: { criteria: [{ field: 'id', op: 'gt', value: 1 }] },
    chips: [{ field: 'amount', label: 'How much' }],
  });
  return { ...sales, byRegion, total, columns, eu, large, rows, fields, both, filtered, chipped, reportId };
}

const UNKNOWN_REGION = 'Unknown field "region"';

describe('what a refresh would break', () => {
  test('is listed by kind, and what is broken already is not', async ({ ann, shop, source, service }) => {
    const used = await makeUsed(shop, ann, source, service);
    const { id, change } = used;
    expect(await previewed(ann, id)).toMatchObject({ breaks: [], hiddenBreaks: 0 });
    await change();
    const report = `In the report "Quarterly ${tables}"`;
    const { breaks, hiddenBreaks } = await previewed(ann, id);
    expect({ breaks, hiddenBreaks }).toEqual({
      hiddenBreaks: 0,
      breaks: [
        { kind: 'visual', id: used.byRegion, name: 'By region', problem: UNKNOWN_REGION },
        {
          kind: 'visual',
          id: used.total,
          name: 'Total',
          problem: 'measures cannot apply sum to "amount", which is not a number',
        },
        { kind: 'visual', id: used.columns, name: 'Columns', problem: UNKNOWN_REGION },
        { kind: 'filter', id: used.eu, name: 'EU', problem: UNKNOWN_REGION },
        { kind: 'filter', id: used.large, name: 'Large', problem: expect.stringContaining('amount') },
        { kind: 'share', id: used.rows.id, name: used.rows.username, problem: UNKNOWN_REGION },
        {
          kind: 'share',
          id: used.fields.id,
          name: used.fields.username,
          problem: 'There is no field "region", which it shows',
        },
        { kind: 'share', id: used.both.id, name: used.both.username, problem: expect.stringContaining('amount') },
        {
          kind: 'reference',
          id: used.chipped,
          name: 'As chipped',
          problem: `${report}: There is no field "region", by which readers filter`,
        },
        { kind: 'reference', id: used.filtered, name: 'As filtered', problem: `${report}: ${UNKNOWN_REGION}` },
      ].map((one) => ({ reportId: one.kind === 'reference' ? used.reportId : null, ...one })),
    });
    const { result } = (await ann.data(byGraphql(id))).previewRefresh;
    expect(result.breaks).toEqual(breaks.map((one) => ({ ...one, kind: one.kind.toUpperCase() })));

    expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: result.previewId })).toMatchObject({
      status: 200,
    });
    expect(await ann.get(`/datasets/${id}/visuals/${used.byRegion}/data`), 'as it was said').toMatchObject({
      status: 400,
      body: { message: UNKNOWN_REGION },
    });
    expect(await rowsOf(used.rows, id)).toEqual([]);
    expect(
      (await ann.get('/notifications')).body._embedded['svc:notification'].map(
        ({ type, resource }: { type: string; resource: object }) => ({ type, resource }),
      ),
      'as after a refresh',
    ).toEqual(expect.arrayContaining([{ type: 'dataset.filter.broken', resource: { kind: 'dataset', id } }]));
    expect(await previewed(ann, id), 'nothing more').toMatchObject({ fieldsRemoved: [], breaks: [], hiddenBreaks: 0 });
  });

  test('is counted where the caller may not read it, and says nothing of a filter that they do not', async ({
    ann,
    bob,
    admin,
    shop,
    source,
    service,
  }) => {
    const { id, change, rows, fields, both, reportId, chipped, filtered } = await makeUsed(shop, ann, source, service);
    await ann.put(`/datasets/${id}/shares/${bob.id}`, { accessLevel: 2 });
    const own = (await bob.creates(`/datasets/${id}/filters`, { name: 'Bob’s', criteria: { region: 'US' } })).id;
    await change();
    const summary = async (who: Client) => {
      const { breaks, hiddenBreaks } = await previewed(who, id);
      return {
        hiddenBreaks,
        breaks: breaks
          .filter(({ kind }) => kind !== 'visual')
          .map(({ kind, id: what, problem }) => [kind, what, problem]),
      };
    };
    const vague = 'It names a field that there is not, or is of another type';
    const shares = [
      ['share', rows.id, vague],
      ['share', fields.id, 'There is no field "region", which it shows'],
      ['share', both.id, vague],
    ];
    // Two of ann's filters, two references of her report.
    expect(await summary(bob)).toEqual({ hiddenBreaks: 4, breaks: [['filter', own, UNKNOWN_REGION], ...shares] });
    await ann.put(`/reports/${reportId}/shares/${bob.id}`, { accessLevel: 1 });
    expect(await summary(bob)).toMatchObject({
      hiddenBreaks: 2,
      breaks: [['filter', own, UNKNOWN_REGION], ...shares, ['reference', chipped], ['reference', filtered]].map((one) =>
        expect.arrayContaining(one),
      ),
    });
    // Whoever may share the dataset reads the filters that its shares use.
    await ann.put(`/datasets/${id}/shares/${bob.id}`, { accessLevel: 3 });
    const { hiddenBreaks, breaks } = await summary(bob);
    expect([
      hiddenBreaks,
      breaks.filter(([kind]) => kind === 'filter').length,
      breaks.filter(([, , problem]) => problem === vague),
    ]).toEqual([0, 3, []]);
    expect(await summary(ann), 'ann does not read what bob keeps').toMatchObject({ hiddenBreaks: 1 });
    expect(await summary(admin)).toMatchObject({ hiddenBreaks: 0 });
  });
});

describe('a promotion is a conflict', () => {
  test('once the rows were replaced, until the refresh is previewed again', async ({ ann, shop, source }) => {
    const { id } = await makeSales(shop, ann, source);
    const { previewId } = await previewed(ann, id);
    expect(await ann.post(`/datasets/${id}/_refresh`)).toMatchObject({ status: 200 });
    expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId })).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', message: expect.stringContaining('rows of the dataset were replaced') },
    });
    expect((await ann.gql(promotion(id, previewId))).errors).toMatchObject([
      { extensions: { code: 'CONFLICT', status: 409 } },
    ]);
    expect(
      await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: (await previewed(ann, id)).previewId }),
    ).toMatchObject({ status: 200 });
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
  ])('once the definition was changed: %s', async ([, change, status], { ann, shop, source }) => {
    const { id } = await makeSales(shop, ann, source);
    const { previewId } = await previewed(ann, id);
    expect(await ann.put(`/datasets/${id}`, change)).toMatchObject({ status: 200 });
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

  test('with a saved query that was changed', async ({ ann, source }) => {
    const query = await ann.creates('/queries', { name: 'Followed', datasourceId: source.id, query: 'select 1 as id' });
    const { id } = await ann.creates('/datasets', { name: 'Follower', queryId: query.id, refresh: true });
    const { previewId } = await previewed(ann, id);
    await ann.put(`/queries/${query.id}`, { query: 'select 2 as id' });
    expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId })).toMatchObject({ status: 409 });
    const again = await previewed(ann, id);
    expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: again.previewId })).toMatchObject({
      status: 200,
    });
    expect(await rowsOf(ann, id)).toEqual([2]);
  });

  test('with what was changed while its rows were loaded', async ({ ann, shop, source }) => {
    const { id } = await ann.creates('/datasets', { name: 'Gated', datasourceId: source.id, query: GATED });
    const open = await closeGate(shop);
    const running = ann.post(`/datasets/${id}/_previewRefresh`);
    await expect.poll(() => waiting(shop), { timeout: 30_000 }).toBe(1);
    await ann.put(`/datasets/${id}`, { flow: [{ type: 'limit', n: 2 }] });
    await open();
    const { status, body } = await running;
    expect({ status, records: body.records }).toEqual({ status: 200, records: 5 });
    expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: body.previewId })).toMatchObject({
      status: 409,
    });
  });
});

describe('with the dataset’s concurrency key', () => {
  test('a preview waits for the refresh that runs, and joins no other preview', async ({ ann, shop, source }) => {
    const { id } = await ann.creates('/datasets', { name: 'Queue', datasourceId: source.id, query: GATED });
    const open = await closeGate(shop);
    const refreshed = ann.post(`/datasets/${id}/_refresh`);
    await expect.poll(() => waiting(shop), { timeout: 30_000 }).toBe(1);
    const begun = await Promise.all(
      [1, 2].map(
        async () =>
          (await ann.post(`/datasets/${id}/_previewRefresh`, {}, { prefer: 'respond-async' })).body.id as string,
      ),
    );
    expect((await Promise.all(begun.map((one) => ann.get(`/progress/${one}`)))).map(({ body }) => body.status)).toEqual(
      ['queued', 'queued'],
    );
    await open();
    expect(await refreshed).toMatchObject({ status: 200 });
    const results: RefreshPreviewResult[] = [];
    for (const one of begun) {
      await expect
        .poll(async () => (await ann.get(`/progress/${one}`)).body, { timeout: 60_000 })
        .toMatchObject({ status: 'succeeded', result: { records: 5, previousRecordCount: 5 } });
      results.push((await ann.get(`/progress/${one}`)).body.result);
    }
    expect(new Set(results.map(({ previewId }) => previewId)).size).toBe(2);
    const statuses = [];
    for (const { previewId } of results)
      statuses.push((await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId })).status);
    expect(statuses.toSorted()).toEqual([200, 404]);
  });

  test('a promotion that waited for a refresh is a conflict, and changes nothing', async ({ ann, shop, source }) => {
    const { id } = await ann.creates('/datasets', {
      name: 'Overtaken',
      datasourceId: source.id,
      query:
        'select i as id, case when {{held}} then pg_advisory_lock_shared(1)::text end as gate from generate_series(1, 5) i',
      params: [{ name: 'held', dataType: 'boolean', defaultValue: false }],
    });
    const { previewId } = await previewed(ann, id);
    const open = await closeGate(shop);
    const refreshed = ann.post(`/datasets/${id}/_refresh`, { params: { held: true } });
    await expect.poll(() => waiting(shop), { timeout: 30_000 }).toBe(1);
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

  test('two promotions at once publish once', async ({ ann, shop, source }) => {
    const { id } = await makeSales(shop, ann, source);
    const { previewId } = await previewed(ann, id);
    const both = await Promise.all([1, 2].map(() => ann.post(`/datasets/${id}/_promoteRefresh`, { previewId })));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    expect(
      (await ann.get(`/datasets/${id}/activity`)).body._embedded['svc:activity'].filter(
        ({ type }: { type: string }) => type === 'dataset.refreshed',
      ),
    ).toHaveLength(2);
  });

  test('a preview that is cancelled, or fails, leaves dataset, index and the former preview as they were', async ({
    ann,
    shop,
    source,
    service,
  }) => {
    const { id } = await ann.creates('/datasets', {
      name: 'Doomed',
      datasourceId: source.id,
      refresh: true,
      query:
        'select i as id, 1 / (i - {{zero}}::int) as x, case when {{held}} then pg_advisory_lock_shared(1)::text end as gate from generate_series(1, 5) i',
      params: [
        { name: 'held', dataType: 'boolean', defaultValue: false },
        { name: 'zero', dataType: 'number', defaultValue: 9 },
      ],
    });
    const { previewId } = await previewed(ann, id);
    const state = async () => [
      (await ann.get(`/datasets/${id}`)).body,
      (await ann.get(`/datasets/${id}/activity`)).body,
    ];
    const before = [await state(), (await swept(service)).toSorted()];
    expect(await ann.post(`/datasets/${id}/_previewRefresh`, { params: { zero: 3 } })).toMatchObject({
      status: 500,
      body: { code: 'UPSTREAM_FAILED', message: expect.stringContaining('division by zero') },
    });
    const open = await closeGate(shop);
    const running = ann.post(`/datasets/${id}/_previewRefresh`, { progress: 'doomed', params: { held: true } });
    await expect.poll(() => waiting(shop), { timeout: 30_000 }).toBe(1);
    expect(await ann.delete('/progress/doomed')).toMatchObject({ status: 202 });
    expect(await running).toMatchObject({ status: 409, body: { code: 'CANCELLED' } });
    await expect.poll(() => waiting(shop), { timeout: 30_000 }).toBe(0);
    await open();
    expect([await state(), (await swept(service)).toSorted()]).toEqual(before);
    expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId })).toMatchObject({ status: 200 });
  });

  test('a preview whose dataset is deleted meanwhile ends, and leaves nothing', async ({
    ann,
    shop,
    source,
    service,
  }) => {
    const { id } = await ann.creates('/datasets', { name: 'Deleted', datasourceId: source.id, query: GATED });
    const before = (await swept(service)).toSorted();
    const open = await closeGate(shop);
    const running = ann.post(`/datasets/${id}/_previewRefresh`);
    await expect.poll(() => waiting(shop), { timeout: 30_000 }).toBe(1);
    expect(await ann.delete(`/datasets/${id}`)).toMatchObject({ status: 204 });
    expect(await running).toMatchObject({ status: 409, body: { code: 'CANCELLED' } });
    await open();
    await expect.poll(async () => (await swept(service)).toSorted(), { timeout: 20_000 }).toEqual(before);
  });
});

test('what publishing would take past the quota is refused when it is previewed, and when it is promoted', async ({
  ann,
  shop,
  source,
  service,
}) => {
  const { id } = await makeSales(shop, ann, source);
  const { previewId } = await previewed(ann, id);
  const { config } = service.platform;
  config.TENANT_QUOTA_BYTES = 1;
  onTestFinished(() => {
    config.TENANT_QUOTA_BYTES = 0;
  });
  expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId })).toMatchObject({
    status: 413,
    body: { message: expect.stringContaining('quota is 1') },
  });
  expect(await ann.post(`/datasets/${id}/_previewRefresh`)).toMatchObject({ status: 413 });
  config.TENANT_QUOTA_BYTES = 0;
  expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId }), 'it was kept').toMatchObject({
    status: 200,
  });
});

test('is for those who may refresh, on the owner’s right to the datasource, and no preview is another dataset’s', async ({
  admin,
  ann,
  bob,
  stranger,
  anonymous,
  shop,
  source,
  service,
}) => {
  const { id } = await makeSales(shop, ann, source, { fieldSecurityEnabled: true });
  const other = await makeSales(shop, ann, source);
  const { previewId } = await previewed(ann, id);
  const calls = [
    ['_previewRefresh', {}],
    ['_promoteRefresh', { previewId }],
  ] as const;
  const documents = [byGraphql(id), promotion(id, previewId)];
  const refused = async (who: Client, status: number, message: string) => {
    for (const [path, body] of calls)
      expect(await who.post(`/datasets/${id}/${path}`, body), path).toMatchObject({ status, body: { message } });
    for (const document of documents) expect((await who.gql(document)).errors, document).toMatchObject([{ message }]);
  };
  await refused(bob, 404, `There is no dataset ${id}`);
  await refused(stranger, 404, `There is no dataset ${id}`);
  await refused(anonymous, 401, 'Missing authentication');
  await ann.put(`/datasets/${id}/shares/${bob.id}`, { accessLevel: 1 });
  await refused(bob, 403, 'You lack the permission dataset:refresh');
  await ann.put(`/datasets/${id}/shares/${bob.id}`, { accessLevel: 3, restrictFields: true, visibleFields: ['id'] });
  await refused(bob, 403, 'You lack the permission dataset:refresh');

  const unknown = newId();
  for (const [given, at] of [
    [unknown, id],
    ['nonsense', id],
    [previewId, other.id],
  ] as const) {
    expect(await ann.post(`/datasets/${at}/_promoteRefresh`, { previewId: given })).toMatchObject({
      status: 404,
      body: { message: `There is no refresh preview ${given}` },
    });
    expect((await ann.gql(promotion(at, given))).errors).toMatchObject([
      { message: `There is no refresh preview ${given}` },
    ]);
  }
  for (const body of [{}, { previewId: null }, { previewId, colour: 'red' }])
    expect(await ann.post(`/datasets/${id}/_promoteRefresh`, body), JSON.stringify(body)).toMatchObject({
      status: 400,
    });
  expect(await ann.post(`/datasets/${id}/_previewRefresh`, { params: { area: 'EU' } })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('"area"') },
  });

  const team = await admin.creates('/teams', { name: 'Rehearsers' });
  await admin.put(`/teams/${team.id}/members/ann`, { role: 'admin' });
  await ann.put(`/datasets/${id}`, { ownerId: `team:${team.id}` });
  for (const [path, body] of calls)
    expect(await ann.post(`/datasets/${id}/${path}`, body), `${path} without the owner’s right`).toMatchObject({
      status: 403,
    });
  expect(await held(service)).toContain(previewId);
  const { id: embedded } = await ann.creates('/datasets', {
    name: 'Whole',
    datasourceId: (await makeSource(admin, shop, { ownerId: ann.id })).id,
    query: 'select 1 as id',
  });
  expect(await previewed(ann, embedded)).toMatchObject({ records: 1 });
});

test('snapshots are not refreshed, so neither rehearsed; drafts are, alone', async ({ ann, shop, source }) => {
  const { id, change } = await makeSales(shop, ann, source);
  const snapshot = await ann.creates(`/datasets/${id}/snapshots`, { name: 'Kept' });
  expect(await ann.post(`/datasets/${snapshot.id}/_previewRefresh`)).toMatchObject({
    status: 409,
    body: { message: 'A snapshot keeps its rows' },
  });
  const draft = (await ann.put(`/datasets/${id}/draft`, { query: 'select 7 as id' })).body;
  await change();
  const { previewId, records } = await previewed(ann, draft.id);
  expect(records).toBe(1);
  expect(await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId })).toMatchObject({ status: 404 });
  expect(await ann.post(`/datasets/${draft.id}/_promoteRefresh`, { previewId })).toMatchObject({
    status: 200,
    body: { id: draft.id },
  });
  expect([await rowsOf(ann, draft.id), await rowsOf(ann, id)]).toEqual([[7], [1, 2, 3]]);
});

describe('workers that are killed', () => {
  /** A dataset whose owner is a user of the world's, and previews of it. */
  async function rehearse(world: World) {
    const ann = await world.caller();
    const { tenantId, userId } = ann.viewer;
    await world.platform.system.query({
      text: `insert into dws.app_user (id, tenant_id, username) values ($1, $2, 'ann')`,
      values: [userId, tenantId],
    });
    const dataset = await makeDataset(world, ann);
    onTestFinished(dataset.drop);
    const [{ datasourceId }] = (await ann.query<{ datasourceId: string }>({
      text: 'select datasource_id as "datasourceId" from dws.dataset',
    })) as [{ datasourceId: string }];
    const preview = (query: string) =>
      ann.transaction((tx) =>
        operations.start(ann, tx, {
          operation: 'dataset.preview',
          resource: { kind: 'dataset', id: dataset.id },
          concurrencyKey: `dataset:${dataset.id}`,
          input: {
            datasetId: dataset.id,
            datasourceId,
            query,
            parameters: [],
            definitions: [],
            syncFields: true,
            updateTypeMapping: true,
            disableRefreshInterval: true,
          },
        }),
      );
    return { ann, dataset, preview };
  }
  const previewIdOf = async (ann: Awaited<ReturnType<World['caller']>>) =>
    (await ann.query<{ id: string }>({ text: 'select id from dws.refresh_preview' })).map(({ id }) => id);

  operated(
    'in the middle of a preview are replaced; readers see the old rows, and nothing is left over',
    async ({ world }) => {
      const { ann, dataset, preview } = await rehearse(world);
      const doomed = await world.worker('real');
      await wait(ann, await dataset.refresh('select 7 as i'));
      const before = await dataset.visible();
      const open = await dataset.closeGate();
      const id = await preview(GATED);
      await eventually(async () => (await dataset.running()).length > 0);
      await doomed.kill('SIGKILL');
      await open();
      await world.worker('real');
      expect(await wait(ann, id)).toMatchObject({
        status: 'succeeded',
        result: { records: 5, previousRecordCount: 1 },
      });
      expect([await dataset.visible(), await dataset.rows()]).toEqual([before, [{ i: 7 }]]);
      const [previewId] = await previewIdOf(ann);
      await eventually(
        async () =>
          (await filesOf(world.dataDir)).toSorted().join() === [before.generationId, previewId].toSorted().join(),
      );
    },
  );

  operated(
    'at random moments leave no generation but the last preview’s, which other workers keep until it expires',
    async ({ world }) => {
      const { ann, preview } = await rehearse(world);
      const asked: string[] = [];
      for (let round = 1; round <= 3; round++) {
        const worker = await world.worker('real');
        asked.push(await preview(`select i from generate_series(1, ${round} * 20000) i`));
        await new Promise((resolve) => {
          setTimeout(resolve, Math.random() * 1500);
        });
        await worker.kill('SIGKILL');
      }
      await world.here(handlers(world.loaders));
      for (const id of asked) await wait(ann, id).catch(() => null);
      const kept = await previewIdOf(ann);
      expect(kept).toHaveLength(1);
      await eventually(async () => String(await filesOf(world.dataDir)) === String(kept));
      await sweepGenerations(world.platform, { replacedAge: -1000, orphanAge: 0 });
      expect(await filesOf(world.dataDir)).toEqual(kept);
      await ann.query({ text: `update dws.refresh_preview set expires_at = now() - interval '1 second'` });
      await eventually(async () => (await filesOf(world.dataDir)).length === 0);
    },
  );
});
