import { describe, expect } from 'vitest';
import type { Client } from '../support/client.ts';
import type { Service } from '../support/service.ts';
import { type Shop } from '../support/shop-fixture.ts';
import { rowsOf, WORLDS } from './dataset-copy-fixture.ts';
import { createSales, previewMutation, previewRefresh } from './refresh-preview-fixture.ts';

// Every preview starts a loader process, which takes time on a busy machine.
const { test } = WORLDS[0]!;

const UNKNOWN_REGION = 'Unknown field "region"';

/** Creates a dataset with dependents of each kind. `change` breaks some of them. */
async function createDependents(shop: Shop, ann: Client, source: { id: string }, service: Service) {
  const sales = await createSales(shop, ann, source, { fieldSecurityEnabled: true });
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
  for (const name of ['rows', 'fields', 'both', 'fine']) people.push(await service.user(`${name}-${sales.table}`));
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
  const reportId = await add('/reports', { name: `Quarterly ${sales.table}` });
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

describe('breaks of a refresh preview', () => {
  test('are listed by kind, without what is already broken', async ({ ann, shop, source, service }) => {
    const dependents = await createDependents(shop, ann, source, service);
    const { id, change } = dependents;
    expect(await previewRefresh(ann, id)).toMatchObject({ breaks: [], hiddenBreaks: 0 });
    await change();
    const report = `In the report "Quarterly ${dependents.table}"`;
    const { breaks, hiddenBreaks } = await previewRefresh(ann, id);
    expect({ breaks, hiddenBreaks }).toEqual({
      hiddenBreaks: 0,
      breaks: [
        { kind: 'visual', id: dependents.byRegion, name: 'By region', problem: UNKNOWN_REGION },
        {
          kind: 'visual',
          id: dependents.total,
          name: 'Total',
          problem: 'measures cannot apply sum to "amount", which is not a number',
        },
        { kind: 'visual', id: dependents.columns, name: 'Columns', problem: UNKNOWN_REGION },
        { kind: 'filter', id: dependents.eu, name: 'EU', problem: UNKNOWN_REGION },
        { kind: 'filter', id: dependents.large, name: 'Large', problem: expect.stringContaining('amount') },
        { kind: 'share', id: dependents.rows.id, name: dependents.rows.username, problem: UNKNOWN_REGION },
        {
          kind: 'share',
          id: dependents.fields.id,
          name: dependents.fields.username,
          problem: 'It shows the field "region", which does not exist',
        },
        {
          kind: 'share',
          id: dependents.both.id,
          name: dependents.both.username,
          problem: expect.stringContaining('amount'),
        },
        {
          kind: 'reference',
          id: dependents.chipped,
          name: 'As chipped',
          problem: `${report}: Readers filter by the field "region", which does not exist`,
        },
        { kind: 'reference', id: dependents.filtered, name: 'As filtered', problem: `${report}: ${UNKNOWN_REGION}` },
      ].map((one) => ({ reportId: one.kind === 'reference' ? dependents.reportId : null, ...one })),
    });
    const { result } = (await ann.data(previewMutation(id))).previewRefresh;
    expect(result.breaks).toEqual(breaks.map((one) => ({ ...one, kind: one.kind.toUpperCase() })));

    expect((await ann.post(`/datasets/${id}/_promoteRefresh`, { previewId: result.previewId })).status).toBe(200);
    expect(await ann.get(`/datasets/${id}/visuals/${dependents.byRegion}/data`), 'as predicted').toMatchObject({
      status: 400,
      body: { message: UNKNOWN_REGION },
    });
    expect(await rowsOf(dependents.rows, id)).toEqual([]);
    expect(
      (await ann.get('/notifications')).body._embedded['svc:notification'].map(
        ({ type, resource }: { type: string; resource: object }) => ({ type, resource }),
      ),
      'as after a refresh',
    ).toEqual(expect.arrayContaining([{ type: 'dataset.filter.broken', resource: { kind: 'dataset', id } }]));
    expect(await previewRefresh(ann, id), 'no further changes').toMatchObject({
      fieldsRemoved: [],
      breaks: [],
      hiddenBreaks: 0,
    });
  });

  test('are only counted when the caller may not read them, and do not show hidden filters', async ({
    ann,
    bob,
    admin,
    shop,
    source,
    service,
  }) => {
    const { id, change, rows, fields, both, reportId, chipped, filtered } = await createDependents(
      shop,
      ann,
      source,
      service,
    );
    await ann.put(`/datasets/${id}/shares/${bob.id}`, { accessLevel: 2 });
    const own = (await bob.creates(`/datasets/${id}/filters`, { name: 'Bob’s', criteria: { region: 'US' } })).id;
    await change();
    const summary = async (who: Client) => {
      const { breaks, hiddenBreaks } = await previewRefresh(who, id);
      return {
        hiddenBreaks,
        breaks: breaks
          .filter(({ kind }) => kind !== 'visual')
          .map(({ kind, id: what, problem }) => [kind, what, problem]),
      };
    };
    const withoutNames = 'It names a field that does not exist or has another type';
    const shares = [
      ['share', rows.id, withoutNames],
      ['share', fields.id, 'It shows the field "region", which does not exist'],
      ['share', both.id, withoutNames],
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
    // A user who may share the dataset can read the filters of its shares.
    await ann.put(`/datasets/${id}/shares/${bob.id}`, { accessLevel: 3 });
    const { hiddenBreaks, breaks } = await summary(bob);
    expect([
      hiddenBreaks,
      breaks.filter(([kind]) => kind === 'filter').length,
      breaks.filter(([, , problem]) => problem === withoutNames),
    ]).toEqual([0, 3, []]);
    expect(await summary(ann), 'ann does not read what bob keeps').toMatchObject({ hiddenBreaks: 1 });
    expect(await summary(admin)).toMatchObject({ hiddenBreaks: 0 });
  });
});
