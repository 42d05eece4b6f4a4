import { describe, expect } from 'vitest';
import { expectAlike, normalize } from './compare.ts';
import { WORLDS, type Twin } from './fixture.ts';
import { VISIBLE_FIELDS, VISIBLE_ROWS } from './twin-source.ts';

describe.each(WORLDS)(
  'with rows in $index, a restricted reader gets equal results for both twins',
  { timeout: 300_000 },
  ({ test }) => {
    test('in references of a report, which count visible rows', async ({ world }) => {
      const { reader, admin } = world;
      const reports = new Map<string, string>();
      const body = (twin: Twin, more: object = {}) => ({
        reportId: reports.get(twin.id),
        datasetId: twin.id,
        alias: 'twin',
        label: 'Twin',
        ...more,
      });
      for (const twin of world.twins) {
        reports.set(
          twin.id,
          (await reader.creates('/reports', { name: `Report of ${twin.name}`, slug: `report-${twin.slug}` })).id,
        );
        expect(
          (
            await reader.post(
              `/reports/${reports.get(twin.id)}/dataset-refs`,
              body(twin, {
                filter: { criteria: [{ field: 'region', op: 'eq', value: 'EU' }] },
                chips: [{ field: 'region', label: 'Where' }],
              }),
            )
          ).status,
        ).toBe(201);
      }
      const path = ({ id }: Twin) => `/reports/${reports.get(id)}`;
      const one = await expectAlike(world, 'one', (twin) => reader.get(`${path(twin)}/dataset-refs/twin`));
      expect(one.body).toMatchObject({
        count: 10,
        countWithoutSnapshots: 10,
        overallCount: VISIBLE_ROWS,
        dataset: { fields: VISIBLE_FIELDS.map((name) => ({ name })) },
      });
      await expectAlike(world, 'all', (twin) => reader.get(`${path(twin)}/dataset-refs`));
      await expectAlike(world, 'used by', (twin) => reader.get(`/datasets/${twin.id}/references`));
      for (const twin of world.twins) {
        const responsesFor = async (name: string) => {
          const responses = [
            await reader.put(`${path(twin)}/dataset-refs/twin`, {
              filter: { criteria: [{ field: name, op: 'exists', value: true }] },
            }),
            await reader.put(`${path(twin)}/dataset-refs/twin`, { chips: [{ field: name, label: 'X' }] }),
          ];
          return responses.map((response) => normalize(response, twin).replaceAll(name, '<field>'));
        };
        expect(await responsesFor('qzx_region')).toEqual(await responsesFor('abc_region'));
        await admin.put(`${path(twin)}/dataset-refs/twin`, {
          filter: { criteria: [{ field: 'qzx_region', op: 'exists', value: true }] },
        });
      }
      await expectAlike(world, 'with a filter of others on what is hidden', (twin) =>
        reader.get(`${path(twin)}/dataset-refs`),
      );
    });

    test('in blocks of a report, with current rows and snapshots', async ({ world }) => {
      const { reader, admin } = world;
      const reports = new Map<string, string>();
      const blocks = (field: string) => [
        { id: 'table', type: 'table', dataset: 'twin', sort: '-amount', limit: 5 },
        {
          id: 'groups',
          dataset: 'twin',
          groupBy: [{ field: 'region' }],
          measures: [{ fn: 'sum', field: 'amount', as: 'sum' }],
          q: 'zoe',
        },
        { id: 'chart', type: 'bar-chart', dataset: 'twin', config: { xAxis: 'region' } },
        { id: 'named', type: 'table', dataset: 'twin', fields: ['id', field] },
        { id: 'sorted', type: 'table', dataset: 'twin', sort: field },
        { id: 'measured', dataset: 'twin', measures: [{ fn: 'max', field, as: 'max' }] },
        { id: 'drawn', type: 'card', dataset: 'twin', config: { valueField: field } },
      ];
      for (const twin of world.twins) {
        await admin.creates(`/datasets/${twin.id}/snapshots`, { name: `Shown ${twin.name}` });
        reports.set(
          twin.id,
          (
            await reader.creates('/reports', {
              name: `Blocks of ${twin.name}`,
              definition: { blocks: blocks('abc_region') },
            })
          ).id,
        );
        const reference = {
          reportId: reports.get(twin.id),
          datasetId: twin.id,
          alias: 'twin',
          label: 'Twin',
          filter: { criteria: [{ field: 'units', op: 'gte', value: 2 }] },
          snapshots: { includeLatest: true, type: 'n', n: 1 },
        };
        expect((await reader.post(`/reports/${reports.get(twin.id)}/dataset-refs`, reference)).status).toBe(201);
      }
      const path = ({ id }: Twin) => `/reports/${reports.get(id)}`;
      expect(
        (await expectAlike(world, 'counts', (twin) => reader.get(`${path(twin)}/dataset-refs`))).body._embedded[
          'svc:dataset-reference'
        ][0],
      ).toMatchObject({ overallCount: 2 * VISIBLE_ROWS });
      const unknown = await expectAlike(world, 'data', (twin) => reader.get(`${path(twin)}/data`));
      for (const twin of world.twins) {
        await reader.put(path(twin), { definition: { blocks: blocks('qzx_region') } });
        const hidden = await reader.get(`${path(twin)}/data`);
        expect(JSON.parse(normalize(hidden.body, twin).replaceAll('qzx_region', '<field>'))).toEqual(
          JSON.parse(normalize(unknown.body, world.twins[0]!).replaceAll('abc_region', '<field>')),
        );
      }
    });
  },
);
