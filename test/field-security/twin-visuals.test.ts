import { describe, expect } from 'vitest';
import type { ApiResponse } from '../support/client.ts';
import { expectError } from '../support/expect.ts';
import { alike, allAlike, plain } from './compare.ts';
import { WORLDS, type Twin } from './fixture.ts';
import { encoded } from './questions.ts';
import { HIDDEN, VISIBLE_FIELDS, VISIBLE_ROWS } from './twin-source.ts';

/* What visuals, snapshots, copies, drafts and reports tell a reader of a part: of twins the same (contract 3, "Restrictions hold everywhere data leaves"). */

/** Visuals over what the reader sees, one of each component and of some twice. */
const VISUALS: readonly { component: string; config: object }[] = [
  { component: 'bar-chart', config: { xAxis: 'region' } },
  {
    component: 'bar-chart',
    config: {
      xAxis: 'region',
      yAxis: 'amount',
      aggregation: 'sum',
      groupBy: 'ok',
      stacked: true,
      chartTitle: 'Amounts',
    },
  },
  {
    component: 'line-chart',
    config: { xAxis: 'at', yAxis: 'units', aggregation: 'avg', dateInterval: 'month', showPoints: true },
  },
  { component: 'line-chart', config: { xAxis: 'day', yAxis: 'amount', groupBy: 'region', dateInterval: 'year' } },
  {
    component: 'pie-chart',
    config: { categoryField: 'region', valueField: 'amount', aggregation: 'sum', showPercentages: true },
  },
  { component: 'table', config: {} },
  { component: 'table', config: { columns: ['note', 'id'], sortBy: 'amount', sortOrder: 'desc', pageSize: 7 } },
  {
    component: 'scatter-plot',
    config: { xAxis: 'units', yAxis: 'amount', groupBy: 'region', sizeField: 'id', showTrendline: true },
  },
  { component: 'heatmap', config: { xAxis: 'region', yAxis: 'units', valueField: 'amount', aggregation: 'sum' } },
  { component: 'gauge', config: { valueField: 'amount' } },
  { component: 'card', config: { valueField: 'amount', aggregation: 'count' } },
  { component: 'card', config: {} },
];

/** Fields of a twin that the reader does not see, of the one more than of the other. */
const hiddenOf = (twin: Twin) =>
  HIDDEN.find(({ name }) => name === twin.name)!.othersFields.filter((field) => field !== 'id');

/** Pictures number their parts through the life of the process. */
const picture = (answer: ApiResponse): ApiResponse => ({
  ...answer,
  body: String(answer.body).replace(/zr\d+/g, 'zr'),
});

describe.each(WORLDS)(
  'with rows in $index, a reader of a part cannot tell what is hidden',
  { timeout: 300_000 },
  ({ test }) => {
    test.for(VISUALS)('from the numbers and the picture of a visual: $component', async (visual, { world }) => {
      const { reader } = world;
      const made = new Map<string, string>();
      await alike(world, 'made', async (twin) => {
        const answer = await reader.post(`/datasets/${twin.id}/visuals`, visual);
        expect(answer).toMatchObject({
          status: 200,
          body: { config: visual.config, permissions: { edit: true, delete: false } },
        });
        made.set(twin.id, answer.body.id);
        return answer;
      });
      const path = ({ id }: Twin) => `/datasets/${id}/visuals/${made.get(id)}`;
      expect((await alike(world, 'data', (twin) => reader.get(`${path(twin)}/data`))).body.rows.length).toBeGreaterThan(
        0,
      );
      await allAlike(
        world,
        [
          `filter=${encoded({ region: { $ne: 'EU' } })}`,
          'q=qzx',
          'q=zoe',
          'limit=2',
          `filter=${encoded({ amount: { $gt: 700_000 } })}`,
        ],
        (twin, query) => reader.get(`${path(twin)}/data?${query}`),
      );
      const image = await alike(world, 'image', async (twin) => picture(await reader.get(`${path(twin)}/image.svg`)));
      expect([image.status, image.body.includes('<svg')]).toEqual([200, true]);
      await alike(world, 'GraphQL', async (twin) =>
        reader.gql(
          `
            {
              dataset(id: "${twin.id}") {
                visual(id: "${made.get(twin.id)}") {
                  name config data { columns { name label type } rows total truncated }
                }
              }
            }
          `,
        ),
      );
      await expectError(reader.delete(path(world.twins[0]!)), 403, 'You lack the permission dataset:deleteVisual');
    });

    test('from visuals of others that show what is hidden', async ({ world }) => {
      const { admin, reader } = world;
      const configs: [component: string, config: (hidden: string[]) => object, shown: object][] = [
        [
          'table',
          (hidden) => ({ columns: ['id', ...hidden, 'region'], sortBy: hidden[0] }),
          { columns: ['id', 'region'], sortBy: null },
        ],
        [
          'bar-chart',
          (hidden) => ({ xAxis: 'region', yAxis: 'amount', groupBy: hidden[0] }),
          { xAxis: 'region', groupBy: null },
        ],
        ['pie-chart', (hidden) => ({ categoryField: hidden[0], valueField: 'amount' }), { categoryField: null }],
        ['card', (hidden) => ({ valueField: hidden[0], aggregation: 'count' }), { valueField: null }],
        ['scatter-plot', (hidden) => ({ xAxis: 'units', yAxis: 'amount', sizeField: hidden[0] }), { sizeField: null }],
      ];
      for (const [component, config, shown] of configs) {
        const made = new Map<string, string>();
        for (const twin of world.twins)
          made.set(
            twin.id,
            (
              await admin.creates(`/datasets/${twin.id}/visuals`, {
                component,
                name: 'Of all',
                config: config(hiddenOf(twin)),
              })
            ).id,
          );
        const path = ({ id }: Twin) => `/datasets/${id}/visuals/${made.get(id)}`;
        expect((await alike(world, component, (twin) => reader.get(path(twin)))).body).toMatchObject({ config: shown });
        await alike(world, `${component} data`, (twin) => reader.get(`${path(twin)}/data`));
        await alike(world, `${component} image`, async (twin) => picture(await reader.get(`${path(twin)}/image.svg`)));
        // What the reader writes into it tells nothing of what they do not see, and does not take it away from others.
        await alike(world, `${component} changed`, async (twin) =>
          reader.put(path(twin), { config: (await reader.get(path(twin))).body.config, name: 'Seen' }),
        );
        const { columns = [], ...named } = config(hiddenOf(world.twins[1]!)) as { columns?: string[] };
        const kept = (await admin.get(path(world.twins[1]!))).body.config;
        expect(kept).toMatchObject(named);
        expect(kept.columns ?? []).toEqual(expect.arrayContaining(columns));
      }
      await alike(world, 'all', ({ id }) => reader.get(`/datasets/${id}/visuals`));
      await alike(world, 'GraphQL', ({ id }) =>
        reader.gql(
          `{ dataset(id: "${id}") { visuals { name component config position permissions { edit delete } } } }`,
        ),
      );
    });

    test('from how many columns fit beside those that a visual of others shows', async ({ world }) => {
      const { admin, reader } = world;
      const made = new Map<string, string>();
      for (const twin of world.twins)
        made.set(
          twin.id,
          (
            await admin.creates(`/datasets/${twin.id}/visuals`, {
              component: 'table',
              name: 'Of many',
              config: { columns: ['id', ...hiddenOf(twin)] },
            })
          ).id,
        );
      for (const length of [197, 198, 199, 200, 201])
        await alike(world, `${length} columns`, ({ id }) =>
          reader.put(`/datasets/${id}/visuals/${made.get(id)}`, {
            config: { columns: Array.from({ length }, (_, i) => `no${i}`) },
          }),
        );
    });

    test('by naming hidden fields in a visual of one’s own', async ({ world: { reader, twins } }) => {
      for (const twin of twins) {
        for (const config of [
          (name: string) => ({ component: 'bar-chart', config: { xAxis: name } }),
          (name: string) => ({ component: 'table', config: { columns: ['id', name], sortBy: name } }),
          (name: string) => ({ component: 'gauge', config: { valueField: name } }),
        ]) {
          const told = async (name: string) => {
            const made = await reader.post(`/datasets/${twin.id}/visuals`, config(name));
            const path = `/datasets/${twin.id}/visuals/${made.body.id}`;
            const answers = [
              made,
              await reader.get(path),
              await reader.get(`${path}/data`),
              picture(await reader.get(`${path}/image.svg`)),
              await reader.put(path, config(name)),
            ];
            return answers.map(({ status, body }) =>
              plain({ status, body: typeof body === 'object' ? { ...body, position: 0 } : body }, twin).replaceAll(
                name,
                '<field>',
              ),
            );
          };
          for (const hidden of ['qzx_region', 'qzx_salary'])
            expect(await told(hidden)).toEqual(await told(hidden.replace('qzx', 'abc')));
        }
      }
    });

    test('by snapshots, which show what the dataset’s share shows', async ({ world }) => {
      const { admin, reader } = world;
      const snapshots = new Map<string, string>();
      for (const { id, name } of world.twins)
        snapshots.set(id, (await admin.creates(`/datasets/${id}/snapshots`, { name: `Kept ${name}` })).id);
      const of = ({ id }: Twin) => snapshots.get(id)!;
      const asSnapshot = (twin: Twin): Twin => ({ ...twin, id: of(twin) });
      const listed = await alike(world, 'list', ({ id }) => reader.get(`/datasets/${id}/snapshot-list`));
      expect(listed.body).toMatchObject({
        total: 1,
        _embedded: { 'svc:snapshot': [{ records: null, size: null, sizeFormatted: null }] },
      });
      for (const path of [
        (twin: Twin) => `/datasets/${twin.id}/snapshots/${of(twin)}`,
        (twin: Twin) => `/datasets/${of(twin)}`,
      ]) {
        const { status, body } = await alike(world, 'single', (twin) => reader.get(path(twin)));
        expect({ status, body }).toMatchObject({
          status: 200,
          body: {
            records: VISIBLE_ROWS,
            size: null,
            esIndex: null,
            query: null,
            fields: VISIBLE_FIELDS.map((name) => ({ name })),
          },
        });
      }
      await allAlike(
        world,
        [
          'data',
          'data?q=zoe&sort=-id&limit=3',
          'data?q=qzx',
          `data?filter=${encoded({ amount: { $lt: 0 } })}`,
          'discover',
          'export?format=csv',
          'activity',
          'shares',
          'permissions',
          'visuals',
          'filters',
        ],
        (twin, rest) => reader.get(`/datasets/${of(twin)}/${rest}`),
      );
      expect((await alike(world, 'data', (twin) => reader.get(`/datasets/${of(twin)}/data`))).body.total).toBe(
        VISIBLE_ROWS,
      );
      await alike(world, 'aggregate', (twin) =>
        reader.post(`/datasets/${asSnapshot(twin).id}/_aggregate`, {
          groupBy: [{ field: 'region' }],
          measures: [{ fn: 'count', as: 'n' }],
        }),
      );
      for (const [method, rest, permission] of [
        ['POST', '/promote', 'copy'],
        ['PUT', '', 'write'],
        ['DELETE', '', 'write'],
      ] as const) {
        for (const twin of world.twins)
          await expectError(
            reader.request(
              method,
              `/api/datasets/${twin.id}/snapshots/${of(twin)}${rest}`,
              method === 'DELETE' ? undefined : { name: 'Mine' },
            ),
            403,
            `You lack the permission dataset:${permission}`,
          );
      }
    });

    test('by copies, snapshots, drafts and benchmarks, which are refused', async ({
      world: { reader, admin, twins },
    }) => {
      for (const { id } of twins) {
        await admin.post(`/datasets/${id}/_edit`);
        for (const [method, rest, body, permission] of [
          ['POST', '/copy', { name: 'Mine' }, 'copy'],
          ['POST', '/copy?data=true&visuals=true&filters=true&sharing=true', { name: 'Mine' }, 'copy'],
          ['POST', '/snapshots', { name: 'Mine' }, 'copy'],
          ['POST', '/_edit', undefined, 'write'],
          ['PUT', '/draft', { flow: [] }, 'write'],
          ['POST', '/draft/_commit', {}, 'write'],
          ['POST', '/_benchmark', {}, 'refresh'],
          ['POST', '/_benchmark-internal', {}, 'refresh'],
          ['POST', '/_refresh-internal', {}, 'refresh'],
        ] as const)
          expect(await reader.request(method, `/api/datasets/${id}${rest}`, body), rest).toMatchObject({
            status: 403,
            body: { message: `You lack the permission dataset:${permission}` },
          });
        for (const method of ['GET', 'DELETE'])
          await expectError(reader.request(method, `/api/datasets/${id}/draft`), 404);
      }
    });

    test('by references of a report, whose counts are of visible rows', async ({ world }) => {
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
      const one = await alike(world, 'one', (twin) => reader.get(`${path(twin)}/dataset-refs/twin`));
      expect(one.body).toMatchObject({
        count: 10,
        countWithoutSnapshots: 10,
        overallCount: VISIBLE_ROWS,
        dataset: { fields: VISIBLE_FIELDS.map((name) => ({ name })) },
      });
      await alike(world, 'all', (twin) => reader.get(`${path(twin)}/dataset-refs`));
      await alike(world, 'used by', (twin) => reader.get(`/datasets/${twin.id}/references`));
      for (const twin of world.twins) {
        const named = async (name: string) => {
          const answers = [
            await reader.put(`${path(twin)}/dataset-refs/twin`, {
              filter: { criteria: [{ field: name, op: 'exists', value: true }] },
            }),
            await reader.put(`${path(twin)}/dataset-refs/twin`, { chips: [{ field: name, label: 'X' }] }),
          ];
          return answers.map((answer) => plain(answer, twin).replaceAll(name, '<field>'));
        };
        expect(await named('qzx_region')).toEqual(await named('abc_region'));
        await admin.put(`${path(twin)}/dataset-refs/twin`, {
          filter: { criteria: [{ field: 'qzx_region', op: 'exists', value: true }] },
        });
      }
      await alike(world, 'with a filter of others on what is hidden', (twin) =>
        reader.get(`${path(twin)}/dataset-refs`),
      );
    });

    test('by blocks of a report, of current rows and snapshots', async ({ world }) => {
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
        (await alike(world, 'counts', (twin) => reader.get(`${path(twin)}/dataset-refs`))).body._embedded[
          'svc:dataset-reference'
        ][0],
      ).toMatchObject({ overallCount: 2 * VISIBLE_ROWS });
      const unknown = await alike(world, 'data', (twin) => reader.get(`${path(twin)}/data`));
      for (const twin of world.twins) {
        await reader.put(path(twin), { definition: { blocks: blocks('qzx_region') } });
        const hidden = await reader.get(`${path(twin)}/data`);
        expect(JSON.parse(plain(hidden.body, twin).replaceAll('qzx_region', '<field>'))).toEqual(
          JSON.parse(plain(unknown.body, world.twins[0]!).replaceAll('abc_region', '<field>')),
        );
      }
    });
  },
);
