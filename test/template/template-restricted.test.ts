import { describe, expect } from 'vitest';
import type { ProcessorDefinition } from '../../src/services/template/template-data.ts';
import { expectAlike, expectNoSecret, normalize } from '../field-security/compare.ts';
import { WORLDS, type Twin } from '../field-security/fixture.ts';
import { HIDDEN_PARTS, VISIBLE_FIELDS, VISIBLE_ROWS } from '../field-security/twin-source.ts';
import { expectStatus } from '../support/expect.ts';
import { readData, readError } from './template-data-fixture.ts';

/* A document contains the rows and fields of its reader only (docs/contract/templates.md#data-of-templates). */

type Config = Record<string, unknown>;

const processor = (type: ProcessorDefinition['type'], config: Config): ProcessorDefinition => ({
  name: 'part',
  type,
  config,
});

/** Configurations that select rows of a dataset, over visible fields. */
const ROWS: readonly Config[] = [
  {},
  { limit: 1 },
  { limit: 39 },
  { sort: '-amount,region', limit: 7 },
  { sort: 'day', fields: ['day', 'id'] },
  { q: 'rush zoe', limit: 3 },
  { filter: { region: 'EU' } },
  { filter: { amount: { $lt: 0 } } },
  { filter: { note: { $regex: 'Zo' } }, sort: '-at', limit: 2 },
];
const GROUPS: readonly Config[] = [
  { measures: [{ fn: 'count', as: 'n' }] },
  { groupBy: [{ field: 'region' }], measures: [{ fn: 'sum', field: 'amount', as: 'total' }], sort: '-total' },
  { groupBy: [{ field: 'day', interval: 'year' }], measures: [{ fn: 'countDistinct', field: 'units', as: 'n' }] },
  { groupBy: [{ field: 'at', interval: 'month' }], measures: [{ fn: 'max', field: 'id', as: 'last' }], limit: 2 },
];
const VISUALS: readonly Config[] = [
  { component: 'bar-chart', config: { xAxis: 'region', yAxis: 'amount', aggregation: 'sum' } },
  { component: 'line-chart', config: { xAxis: 'day', yAxis: 'units', dateInterval: 'month' } },
  { component: 'table', config: {} },
];
/** Configs with the name of a field, in every place that accepts one. */
const NAMING: readonly (readonly [ProcessorDefinition['type'], (name: string) => Config])[] = [
  ['dataset', (name) => ({ fields: [name] })],
  ['dataset', (name) => ({ sort: name })],
  ['dataset', (name) => ({ filter: { [name]: 1 } })],
  ['dataset', (name) => ({ filter: { $not: { [name]: { $exists: false } } } })],
  ['dataset', (name) => ({ filter: { [name]: { $input: 'value' } } })],
  ['aggregate', (name) => ({ groupBy: [{ field: name }] })],
  ['aggregate', (name) => ({ measures: [{ fn: 'max', field: name, as: 'x' }] })],
  [
    'aggregate',
    (name) => ({ measures: [{ fn: 'count', as: 'x' }], filter: { [name]: { $gte: { $input: 'value' } } } }),
  ],
];

/** Returns the hidden fields of a twin. */
const hiddenOf = ({ name }: Twin): string[] =>
  HIDDEN_PARTS.find((parts) => parts.name === name)!.othersFields.filter((field) => field !== 'id');

/** Removes the numbers of elements from an SVG image, which are counted per process. */
const withoutNumbers = (data: Record<string, any>) => ({
  ...data,
  ...(data['part'].svg && { part: { ...data['part'], svg: data['part'].svg.replace(/zr\d+/g, 'zr') } }),
});

describe.each(WORLDS)('with rows in $index, a restricted reader', { timeout: 300_000 }, ({ test }) => {
  test.for([
    ...ROWS.map((config) => ['dataset', config] as const),
    ...GROUPS.map((config) => ['aggregate', config] as const),
  ])('gets equal data of both twins: %s %j', async ([type, config], { world }) => {
    for (const preview of [false, true])
      await expectAlike(world, JSON.stringify(config), ({ id }) =>
        readData(world.service, world.reader, [processor(type, { datasetId: id, ...config })], { preview }),
      );
  });

  test('gets the visible rows and fields, where the owner gets all', async ({ world }) => {
    for (const { id, name } of world.twins) {
      const parts = [processor('dataset', { datasetId: id, sort: 'id' })];
      const { part } = await readData(world.service, world.reader, parts);
      expect(part.fields.map((field: { name: string }) => field.name)).toEqual(VISIBLE_FIELDS);
      expect(part.rows.map((row: object) => Object.keys(row))).toEqual(
        Array.from({ length: VISIBLE_ROWS }, () => VISIBLE_FIELDS),
      );
      expect([part.total, part.truncated]).toEqual([VISIBLE_ROWS, false]);
      const all = (await readData(world.service, world.admin, parts))['part'];
      expect(all.total).toBeGreaterThan(VISIBLE_ROWS);
      expect(all.fields.map((field: { name: string }) => field.name)).toEqual(
        expect.arrayContaining(hiddenOf({ name } as Twin)),
      );
    }
  });

  test.for(VISUALS)('gets equal pictures of both twins: $component', async (visual, { world }) => {
    const data = await expectAlike(world, JSON.stringify(visual), async ({ id }) => {
      const created = await world.admin.creates(`/datasets/${id}/visuals`, { name: 'Sales', ...visual });
      const config = { datasetId: id, visualId: created.id };
      return withoutNumbers(await readData(world.service, world.reader, [processor('visual', config)]));
    });
    expect(data).toMatchObject({ part: { svg: expect.stringMatching(/^<svg/), rows: expect.any(Array) } });
  });

  test('gets no picture with a hidden field, and an error that does not name it', async ({ world }) => {
    for (const twin of world.twins)
      for (const field of hiddenOf(twin)) {
        const input = { name: 'Sales', component: 'bar-chart', config: { xAxis: field } };
        const created = await world.admin.creates(`/datasets/${twin.id}/visuals`, input);
        const config = { datasetId: twin.id, visualId: created.id };
        expect(await readError(world.service, world.reader, [processor('visual', config)])).toEqual([
          400,
          'processors.part',
          'processors.part: config.xAxis names an unknown field',
        ]);
      }
  });

  test.for(NAMING)('gets the same error for a hidden field and for none: %s %s', async ([type, config], { world }) => {
    // A hint names the visible field that is most similar to the requested name.
    const errorOf = async (twin: Twin, name: string) => {
      const error = await readError(
        world.service,
        world.reader,
        [processor(type, { datasetId: twin.id, ...config(name) })],
        { values: { value: 1 } },
      );
      const [, hint] = /Did you mean "([^"]*)"/.exec(error[2]) ?? [];
      expect(hiddenOf(twin)).not.toContain(hint);
      return error.map((part) => (typeof part === 'string' ? part.replace(/\. Did you mean "[^"]*"\?/, '') : part));
    };
    for (const twin of world.twins) {
      const unknown = await errorOf(twin, 'nowhere');
      expect(unknown[0]).toBe(400);
      expect(unknown[1]).toBe('processors.part');
      for (const field of hiddenOf(twin)) {
        const [status, path, message] = await errorOf(twin, field);
        expect([status, path, String(message).replaceAll(field, 'nowhere')]).toEqual(unknown);
      }
    }
  });

  test('gets the rows of a saved filter with hidden fields as far as its data allows it', async ({ world }) => {
    const read = async ({ id }: Twin, filter: string) => {
      const parts = [processor('dataset', { datasetId: id, filter })];
      return readData(world.service, world.reader, parts).catch(() => readError(world.service, world.reader, parts));
    };
    for (const kind of ['shareFilter', 'teamFilter', 'ownFilter'] as const)
      await expectAlike(world, kind, async (twin) =>
        JSON.parse(JSON.stringify(await read(twin, twin[kind])).replaceAll(twin[kind], '<filter>')),
      );
  });

  test('gets nothing of a query of the source without the permission to run it', async ({ world }) => {
    const { admin, reader, service, source } = world;
    const datasource = await admin.creates('/datasources', {
      name: 'qzx queries',
      type: 'postgres',
      config: source.config,
      secrets: source.secrets,
    });
    const query = await admin.creates('/queries', {
      name: 'qzx query',
      datasourceId: datasource.id,
      query: 'select id, qzx_salary from qzx_amethyst',
    });
    const parts = [processor('query', { queryId: query.id, params: { qzx: 1 } })];
    const withoutShare = await readError(service, reader, parts);
    expect(withoutShare).toEqual([404, 'processors.part', `processors.part: There is no query ${query.id}`]);
    await expectStatus(admin.put(`/queries/${query.id}/shares/${reader.id}`, { accessLevel: 1 }), 200);
    const withView = await readError(service, reader, parts);
    expect(withView).toEqual([403, 'processors.part', 'processors.part: You lack the permission query:run']);
    for (const error of [withoutShare, withView])
      expectNoSecret(normalize(error, { id: datasource.id, slug: datasource.slug, name: datasource.name }));
    await expectStatus(admin.put(`/queries/${query.id}/shares/${reader.id}`, { accessLevel: 2 }), 200);
    const full = processor('query', { queryId: query.id });
    expect((await readData(service, reader, [full]))['part'].rows.length).toBeGreaterThan(VISIBLE_ROWS);
  });

  test('learns of a template what its config says, and nothing of the dataset', async ({ world }) => {
    const { admin, reader, twins } = world;
    await expectAlike(world, 'template', async ({ id }) => {
      const template = await admin.creates('/templates', { name: 'Report' });
      const processors = [{ name: 'part', type: 'dataset', config: { datasetId: id, fields: ['id'] } }];
      await expectStatus(admin.put(`/templates/${template.id}/processors`, { processors }), 200);
      await expectStatus(admin.put(`/templates/${template.id}/shares/${reader.id}`, { accessLevel: 1 }), 200);
      const { status, body } = await reader.get(`/templates/${template.id}/processors`);
      return { status, items: body._embedded['svc:template-processor'] };
    });
    for (const { id } of twins) {
      const references = (await reader.get(`/datasets/${id}/references`)).body;
      expect(references._embedded['svc:reference']).toEqual([
        expect.objectContaining({ kind: 'template', name: 'Report' }),
      ]);
    }
  });
});
