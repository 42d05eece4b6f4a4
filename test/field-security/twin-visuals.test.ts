import { describe, expect } from 'vitest';
import type { ApiResponse } from '../support/client.ts';
import { expectError } from '../support/expect.ts';
import { expectAlike, expectAllAlike, normalize } from './compare.ts';
import { WORLDS, type Twin } from './fixture.ts';
import { encodeFilter } from './row-queries.ts';
import { HIDDEN_PARTS, VISIBLE_FIELDS, VISIBLE_ROWS } from './twin-source.ts';

/*
 * Visuals, snapshots, copies, drafts and reports are equal for both twins (docs/contract/access.md#restricted-shares).
 */

/** Visuals over visible fields, at least one of each component. */
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

/** Returns the hidden fields of a twin. */
const hiddenOf = (twin: Twin) =>
  HIDDEN_PARTS.find(({ name }) => name === twin.name)!.othersFields.filter((field) => field !== 'id');

/** Removes the numbers of elements from an SVG image, which are counted per process. */
const withoutNumbers = (response: ApiResponse): ApiResponse => ({
  ...response,
  body: String(response.body).replace(/zr\d+/g, 'zr'),
});

describe.each(WORLDS)(
  'with rows in $index, a restricted reader gets equal results for both twins',
  { timeout: 300_000 },
  ({ test }) => {
    test.for(VISUALS)('in the data and the image of a visual: $component', async (visual, { world }) => {
      const { reader } = world;
      const visualIds = new Map<string, string>();
      await expectAlike(world, 'created', async (twin) => {
        const created = await reader.post(`/datasets/${twin.id}/visuals`, visual);
        expect(created).toMatchObject({
          status: 200,
          body: { config: visual.config, permissions: { edit: true, delete: false } },
        });
        visualIds.set(twin.id, created.body.id);
        return created;
      });
      const path = ({ id }: Twin) => `/datasets/${id}/visuals/${visualIds.get(id)}`;
      expect(
        (await expectAlike(world, 'data', (twin) => reader.get(`${path(twin)}/data`))).body.rows.length,
      ).toBeGreaterThan(0);
      await expectAllAlike(
        world,
        [
          `filter=${encodeFilter({ region: { $ne: 'EU' } })}`,
          'q=qzx',
          'q=zoe',
          'limit=2',
          `filter=${encodeFilter({ amount: { $gt: 700_000 } })}`,
        ],
        (twin, query) => reader.get(`${path(twin)}/data?${query}`),
      );
      const image = await expectAlike(world, 'image', async (twin) =>
        withoutNumbers(await reader.get(`${path(twin)}/image.svg`)),
      );
      expect([image.status, image.body.includes('<svg')]).toEqual([200, true]);
      await expectAlike(world, 'GraphQL', async (twin) =>
        reader.gql(
          `
            {
              dataset(id: "${twin.id}") {
                visual(id: "${visualIds.get(twin.id)}") {
                  name config data { columns { name label type } rows total truncated }
                }
              }
            }
          `,
        ),
      );
      await expectError(reader.delete(path(world.twins[0]!)), 403, 'You lack the permission dataset:deleteVisual');
    });

    test('in visuals of others with hidden fields', async ({ world }) => {
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
        const visualIds = new Map<string, string>();
        for (const twin of world.twins)
          visualIds.set(
            twin.id,
            (
              await admin.creates(`/datasets/${twin.id}/visuals`, {
                component,
                name: 'Of all',
                config: config(hiddenOf(twin)),
              })
            ).id,
          );
        const path = ({ id }: Twin) => `/datasets/${id}/visuals/${visualIds.get(id)}`;
        expect((await expectAlike(world, component, (twin) => reader.get(path(twin)))).body).toMatchObject({
          config: shown,
        });
        await expectAlike(world, `${component} data`, (twin) => reader.get(`${path(twin)}/data`));
        await expectAlike(world, `${component} image`, async (twin) =>
          withoutNumbers(await reader.get(`${path(twin)}/image.svg`)),
        );
        // A change by the reader does not show hidden fields, and does not remove them.
        await expectAlike(world, `${component} changed`, async (twin) =>
          reader.put(path(twin), { config: (await reader.get(path(twin))).body.config, name: 'Seen' }),
        );
        const { columns = [], ...named } = config(hiddenOf(world.twins[1]!)) as { columns?: string[] };
        const saved = (await admin.get(path(world.twins[1]!))).body.config;
        expect(saved).toMatchObject(named);
        expect(saved.columns ?? []).toEqual(expect.arrayContaining(columns));
      }
      await expectAlike(world, 'all', ({ id }) => reader.get(`/datasets/${id}/visuals`));
      await expectAlike(world, 'GraphQL', ({ id }) =>
        reader.gql(
          `{ dataset(id: "${id}") { visuals { name component config position permissions { edit delete } } } }`,
        ),
      );
    });

    test('in the column limit of a visual of others', async ({ world }) => {
      const { admin, reader } = world;
      const visualIds = new Map<string, string>();
      for (const twin of world.twins)
        visualIds.set(
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
        await expectAlike(world, `${length} columns`, ({ id }) =>
          reader.put(`/datasets/${id}/visuals/${visualIds.get(id)}`, {
            config: { columns: Array.from({ length }, (_, i) => `no${i}`) },
          }),
        );
    });

    test('when their own visual contains hidden fields', async ({ world: { reader, twins } }) => {
      for (const twin of twins) {
        for (const config of [
          (name: string) => ({ component: 'bar-chart', config: { xAxis: name } }),
          (name: string) => ({ component: 'table', config: { columns: ['id', name], sortBy: name } }),
          (name: string) => ({ component: 'gauge', config: { valueField: name } }),
        ]) {
          const responsesFor = async (name: string) => {
            const created = await reader.post(`/datasets/${twin.id}/visuals`, config(name));
            const path = `/datasets/${twin.id}/visuals/${created.body.id}`;
            const responses = [
              created,
              await reader.get(path),
              await reader.get(`${path}/data`),
              withoutNumbers(await reader.get(`${path}/image.svg`)),
              await reader.put(path, config(name)),
            ];
            return responses.map(({ status, body }) =>
              normalize({ status, body: typeof body === 'object' ? { ...body, position: 0 } : body }, twin).replaceAll(
                name,
                '<field>',
              ),
            );
          };
          for (const hidden of ['qzx_region', 'qzx_salary'])
            expect(await responsesFor(hidden)).toEqual(await responsesFor(hidden.replace('qzx', 'abc')));
        }
      }
    });

    test('in snapshots, which have the restrictions of the dataset', async ({ world }) => {
      const { admin, reader } = world;
      const snapshots = new Map<string, string>();
      for (const { id, name } of world.twins)
        snapshots.set(id, (await admin.creates(`/datasets/${id}/snapshots`, { name: `Kept ${name}` })).id);
      const snapshotOf = ({ id }: Twin) => snapshots.get(id)!;
      const asSnapshot = (twin: Twin): Twin => ({ ...twin, id: snapshotOf(twin) });
      const listed = await expectAlike(world, 'list', ({ id }) => reader.get(`/datasets/${id}/snapshot-list`));
      expect(listed.body).toMatchObject({
        total: 1,
        _embedded: { 'svc:snapshot': [{ records: null, size: null, sizeFormatted: null }] },
      });
      for (const path of [
        (twin: Twin) => `/datasets/${twin.id}/snapshots/${snapshotOf(twin)}`,
        (twin: Twin) => `/datasets/${snapshotOf(twin)}`,
      ]) {
        const { status, body } = await expectAlike(world, 'single', (twin) => reader.get(path(twin)));
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
      await expectAllAlike(
        world,
        [
          'data',
          'data?q=zoe&sort=-id&limit=3',
          'data?q=qzx',
          `data?filter=${encodeFilter({ amount: { $lt: 0 } })}`,
          'discover',
          'export?format=csv',
          'activity',
          'shares',
          'permissions',
          'visuals',
          'filters',
        ],
        (twin, rest) => reader.get(`/datasets/${snapshotOf(twin)}/${rest}`),
      );
      expect(
        (await expectAlike(world, 'data', (twin) => reader.get(`/datasets/${snapshotOf(twin)}/data`))).body.total,
      ).toBe(VISIBLE_ROWS);
      await expectAlike(world, 'aggregate', (twin) =>
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
              `/api/datasets/${twin.id}/snapshots/${snapshotOf(twin)}${rest}`,
              method === 'DELETE' ? undefined : { name: 'Mine' },
            ),
            403,
            `You lack the permission dataset:${permission}`,
          );
      }
    });

    test('when copies, snapshots, drafts and benchmarks are refused', async ({ world: { reader, admin, twins } }) => {
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
  },
);
