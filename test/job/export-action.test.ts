import { describe, expect } from 'vitest';
import { EXPORT_FORMATS, type ExportFormat } from '../../src/core/export-format.ts';
import type { Client } from '../support/client.ts';
import { expectBody, expectError, expectStatus } from '../support/expect.ts';
import { readBack } from '../support/export-readers.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createTeam } from '../support/team-fixture.ts';
import { createAction, preview, run, type TestAction } from './driver-fixture.ts';
import { test } from './job-fixture.ts';

/** Returns the file of an action. */
async function readFile(reader: Client, { action }: TestAction) {
  const response = await fetch(`${reader.url}/api${action.path}/action-file-contents`, { headers: reader.headers });
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    name: response.headers.get('content-disposition'),
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

const FIELDS = [
  { name: 'id', type: 'integer' },
  { name: 'region', type: 'string' },
  { name: 'amount', type: 'number' },
  { name: 'ordered_on', type: 'date' },
] as const;

/** Returns the header and the rows of the file of an action, which has these fields. */
async function readRows(reader: Client, action: TestAction, fieldCount: number = FIELDS.length) {
  const { bytes } = await readFile(reader, action);
  return readBack(action.data['format'] as ExportFormat, bytes, FIELDS.slice(0, fieldCount));
}

/** Returns the ids of the stored files: those with rows, and those with bytes. */
async function storedFiles(service: Service): Promise<{ rows: string[]; bytes: string[] }> {
  const rows = await systemQuery<{ id: string }>(service, `select id from dws.stored_file order by id`);
  const bytes = (await service.platform.files.list()).map(({ id }) => id).toSorted();
  return { rows: rows.map(({ id }) => id), bytes };
}

const SUCCESS = { success: true, error: null, attempts: 1, log: ['Wrote the file'] };

describe('an export', () => {
  test.for(EXPORT_FORMATS)(
    'to %s contains the rows and fields that the owner of the job sees',
    async (format, { ann, bob, orders, restrictBob }) => {
      await restrictBob({ region: 'EU' });
      const datasets = { sales: orders.id };
      const full = await createAction(ann, 'export', { alias: 'sales', format }, { datasets });
      expect(await run(ann, full, 'REST')).toEqual(SUCCESS);
      const all = await readRows(ann, full);
      expect(all.names).toEqual(['id', 'region', 'amount', 'ordered_on']);
      expect(all.rows).toHaveLength(20);
      expect(all.rows[0]).toEqual({ id: 1, region: 'US', amount: 10, ordered_on: '2026-01-02' });

      const part = await createAction(bob, 'export', { alias: 'sales', format }, { datasets });
      for (const api of ['REST', 'GraphQL'] as const) {
        expect(await run(bob, part, api), api).toEqual(SUCCESS);
        const own = await readRows(bob, part, 2);
        expect(own.names).toEqual(['id', 'region']);
        expect(own.rows).toEqual([4, 8, 12, 16, 20].map((id) => ({ id, region: 'EU' })));
      }
      // The caller does not matter: the rows are the rows that the owner sees.
      await expectStatus(bob.put(`${part.job.path}/shares/ann`, { accessLevel: 3 }), 200);
      expect(await run(ann, part)).toEqual(SUCCESS);
      expect((await readRows(ann, part, 2)).rows).toHaveLength(5);
    },
  );

  test('contains the filtered rows, by criteria or a saved filter', async ({ ann, orders }) => {
    const { id } = await ann.creates(`${orders.path}/filters`, { name: 'Big', criteria: { amount: { $gt: 180 } } });
    for (const filter of [{ amount: { $gt: 180 } }, id]) {
      const action = await createAction(ann, 'export', { datasetId: orders.id, format: 'csv', filter });
      expect(await run(ann, action)).toEqual(SUCCESS);
      expect((await readRows(ann, action)).rows.map((row) => row['id'])).toEqual([19, 20]);
    }
  });

  test.for<[object, string]>([
    [{}, 'orders.csv'],
    [{ filename: 'Figures' }, 'Figures.csv'],
    [{ filename: 'Figures.CSV' }, 'Figures.csv'],
    [{ filename: '../a/Figures.json' }, '..-a-Figures.json.csv'],
    [{ filename: 'Sales 2026/11.csv' }, 'Sales 2026-11.csv'],
    [{ filename: 'C:\\Sales' }, 'C:-Sales.csv'],
  ])('of %j has the name %s', async ([data, name], { ann, orders }) => {
    const action = await createAction(ann, 'export', { datasetId: orders.id, format: 'csv', ...data });
    expect(await preview(ann, action)).toMatchObject({ filename: name });
    await run(ann, action);
    const file = await readFile(ann, action);
    expect(file.name).toBe(`attachment; filename="${name}"`);
    expect(file.type).toBe('text/csv; charset=utf-8');
  });

  test('of a job of a team contains what the team sees', async ({ admin, ann, bob, orders }) => {
    const team = await createTeam(admin, 'Exporters', bob);
    const data = { datasetId: orders.id, format: 'json' };
    const action = await createAction(ann, 'export', data, { ownerId: ann.id });
    await expectStatus(admin.put(`${action.job.path}/owner`, { ownerId: `team:${team}` }), 200);
    expect(await run(admin, action)).toMatchObject({ success: false, error: `There is no dataset ${orders.id}` });
    const filter = await ann.creates(`${orders.path}/filters`, { name: 'US', criteria: { region: 'US' } });
    const share = { accessLevel: 1, datasetFilterId: filter.id, restrictFields: true, visibleFields: ['id'] };
    await expectStatus(ann.put(`${orders.path}/shares/team:${team}`, share), 200);
    expect(await run(admin, action)).toEqual(SUCCESS);
    expect(JSON.parse((await readFile(admin, action)).bytes.toString())).toEqual(
      [1, 5, 9, 13, 17].map((id) => ({ id })),
    );
    await expectStatus(ann.delete(`${orders.path}/shares/team:${team}`), 204);
  });
});

describe('the file of an export', () => {
  test('is replaced at each run, without a change of the job', async ({ ann, bob, service, shop, source }) => {
    await shop.sql(`create table stock (id integer); insert into stock values (1)`);
    const { id: datasetId } = await ann.creates('/datasets', {
      name: 'Stock',
      datasourceId: source.id,
      query: 'select id from stock order by id',
      refresh: true,
    });
    const action = await createAction(ann, 'export', { datasetId, format: 'csv' });
    const former = (await storedFiles(service)).rows;
    const state = async () => {
      const { file: _file, fileUrl: _url, ...stored } = (await ann.get(action.action.path)).body;
      return [(await ann.get(action.job.path)).body.updatedAt, stored];
    };
    const before = await state();
    await run(ann, action);
    const first = await readFile(ann, action);
    expect(first.bytes.toString()).toBe('id\r\n1\r\n');
    await shop.sql(`insert into stock values (2)`);
    await expectStatus(ann.post(`/datasets/${datasetId}/_refresh`, {}), 200);
    await run(ann, action);
    expect((await readFile(ann, action)).bytes.toString()).toBe('id\r\n1\r\n2\r\n');
    const { rows, bytes } = await storedFiles(service);
    expect(rows, 'one file more').toHaveLength(former.length + 1);
    expect(bytes).toEqual(rows);
    expect(await state()).toEqual(before);
    // The rule of files of exports: readers of the job who may not read the dataset do not read its file.
    await expectStatus(ann.put(`${action.job.path}/shares/bob`, { accessLevel: 1 }), 200);
    await expectError(bob.get(`${action.action.path}/action-file-contents`), 403, /rows of a dataset/);
  });

  test('stays when the owner lost the right, and the run fails with a sentence', async ({
    ann,
    bob,
    service,
    orders,
  }) => {
    await expectStatus(ann.put(`${orders.path}/shares/bob`, { accessLevel: 1, datasetFilterId: null }), 200);
    const filter = await ann.creates(`${orders.path}/filters`, { name: 'Of ann', criteria: {} });
    const action = await createAction(bob, 'export', { datasetId: orders.id, format: 'csv' });
    expect(await run(bob, action)).toEqual(SUCCESS);
    const file = await readFile(bob, action);
    const stored = await storedFiles(service);
    await expectStatus(ann.delete(`${orders.path}/shares/bob`), 204);
    const error = `There is no dataset ${orders.id}`;
    expect(await run(bob, action)).toEqual({ success: false, error, attempts: 1, log: [error] });
    await expectError(bob.post(`${action.action.path}/_preview`), 404, error);
    expect(await readFile(bob, action)).toEqual(file);
    expect(await storedFiles(service)).toEqual(stored);
    await expectStatus(ann.put(`${orders.path}/shares/bob`, { accessLevel: 1 }), 200);
    await expectBody(bob.put(action.action.path, { data: { ...action.data, filter: filter.id } }), 200, {});
    expect(await run(bob, action)).toMatchObject({ success: false, error: `There is no filter ${filter.id}` });
  });

  test('stays when the filter does not fit, and the error does not name fields of a saved one', async ({
    ann,
    shop,
    source,
  }) => {
    await shop.sql(`create table parts as select 1 as id, 'a' as kind`);
    const { id: datasetId } = await ann.creates('/datasets', {
      name: 'Parts',
      datasourceId: source.id,
      query: 'select * from parts',
      refresh: true,
    });
    const saved = await ann.creates(`/datasets/${datasetId}/filters`, { name: 'A', criteria: { kind: 'a' } });
    const byId = await createAction(ann, 'export', { datasetId, format: 'csv', filter: saved.id });
    const byCriteria = await createAction(ann, 'export', { datasetId, format: 'csv', filter: { kind: 'a' } });
    expect(await run(ann, byId)).toEqual(SUCCESS);
    await shop.sql(`alter table parts drop column kind`);
    // The field stays, without values, so that criteria would match no row.
    await expectStatus(ann.post(`/datasets/${datasetId}/_refresh`, { syncFields: false }), 200);
    expect(await run(ann, byCriteria)).toMatchObject({ success: false, error: 'Unknown field "kind"' });
    const error = 'The saved filter does not fit the fields of the dataset, or the format does not';
    expect(await run(ann, byId)).toMatchObject({ success: false, error });
    expect((await readFile(ann, byId)).bytes.toString()).toBe('id,kind\r\n1,a\r\n');
  });

  test('counts for the quota once, and a failed attempt leaves none', async ({ ann, service, orders }) => {
    const retry = { times: 1, delay: 0 };
    const action = await createAction(ann, 'export', { datasetId: orders.id, format: 'csv', retry });
    expect(await run(ann, action)).toEqual(SUCCESS);
    const stored = await storedFiles(service);
    const [{ used } = { used: 0 }] = await systemQuery<{ used: number }>(
      service,
      `select ((select sum(size) from dws.dataset) + (select sum(size) from dws.stored_file))::int as used`,
    );
    const { config } = service.platform;
    try {
      // The new file takes the place of the former one.
      config.TENANT_QUOTA_BYTES = used;
      expect(await run(ann, action)).toEqual(SUCCESS);
      config.TENANT_QUOTA_BYTES = used - 1;
      const refused = await run(ann, action);
      expect(refused).toMatchObject({ success: false, attempts: 2 });
      expect(refused.error).toMatch(/The file is larger than the maximum of \d+ bytes/);
      config.TENANT_QUOTA_BYTES = 1;
      expect((await run(ann, action)).error).toBe('The quota of 1 bytes is used up');
      // The draft has the former file too, so it would stay in addition to the new one.
      await expectStatus(ann.post(`${action.job.path}/_edit`, {}), 201);
      config.TENANT_QUOTA_BYTES = used;
      expect((await run(ann, action)).error).toMatch(/^The tenant would use \d+ bytes/);
    } finally {
      config.TENANT_QUOTA_BYTES = 0;
    }
    const now = await storedFiles(service);
    expect(now.bytes).toEqual(now.rows);
    expect(now.rows).toHaveLength(stored.rows.length);
    expect((await readRows(ann, action)).rows).toHaveLength(20);
  });

  test('stays when the run is cancelled while the new one is written', async ({ ann, service, shop, source }) => {
    await shop.sql(`create table big as select n as id, repeat('x', 40) as text from generate_series(1, 10) n`);
    const { id: datasetId } = await ann.creates('/datasets', {
      name: 'Big',
      datasourceId: source.id,
      query: 'select * from big',
      refresh: true,
    });
    const action = await createAction(ann, 'export', { datasetId, format: 'xlsx' });
    expect(await run(ann, action)).toEqual(SUCCESS);
    const [former, stored] = [await readFile(ann, action), await storedFiles(service)];
    await shop.sql(`insert into big select n, repeat('x', 40) from generate_series(11, 400000) n`);
    await expectStatus(ann.post(`/datasets/${datasetId}/_refresh`, {}), 200);

    await expectStatus(ann.post(action.job.path, {}, { prefer: 'respond-async' }), 202);
    const isWriting = async () => (await service.platform.files.list()).length > stored.bytes.length;
    await expect.poll(isWriting, { interval: 5, timeout: 60_000 }).toBe(true);
    const history = `${action.job.path}/history`;
    const { id } = (await ann.get(history)).body._embedded['svc:job-history'][0];
    await expectStatus(ann.post(`${history}/${id}/_cancel`, {}), 200);
    await expect.poll(async () => (await ann.get(`${history}/${id}`)).body.status).toBe('cancelled');
    expect(await storedFiles(service)).toEqual(stored);
    expect(await readFile(ann, action)).toEqual(former);
  });
});

describe('the preview of an export', () => {
  const EXACT = { dataset: 'Orders', rows: 20, isEstimate: false };

  test.for(EXPORT_FORMATS)('to %s has the rows and the exact size of a small file', async (format, { ann, orders }) => {
    const action = await createAction(ann, 'export', { datasetId: orders.id, format });
    const expected = await preview(ann, action);
    expect(expected).toEqual({ ...EXACT, filename: `orders.${format}`, size: expect.any(Number) });
    expect((await readFile(ann, action)).status, 'nothing is written').toBe(404);
    await run(ann, action);
    expect(expected['size']).toBe((await readFile(ann, action)).bytes.length);
  });

  test('has what the caller sees, and the filter applied', async ({ ann, bob, orders, restrictBob }) => {
    await restrictBob({ region: 'EU' });
    const action = await createAction(ann, 'export', { datasetId: orders.id, format: 'csv' });
    await expectStatus(ann.put(`${action.job.path}/shares/bob`, { accessLevel: 2 }), 200);
    expect(await preview(ann, action)).toMatchObject(EXACT);
    const rows = [4, 8, 12, 16, 20].map((id) => `${id},EU\r\n`);
    expect(await preview(bob, action)).toEqual({
      dataset: 'Orders',
      filename: 'orders.csv',
      rows: 5,
      size: ['id,region\r\n', ...rows].join('').length,
      isEstimate: false,
    });
    const filterBy = (filter: object) =>
      expectStatus(ann.put(action.action.path, { data: { ...action.data, filter } }), 200);
    await filterBy({ id: { $lte: 4 } });
    expect(await preview(bob, action)).toMatchObject({ rows: 1 });
    await filterBy({ amount: 10 });
    await expectError(
      bob.post(`${action.action.path}/_preview`),
      400,
      /^The filter does not fit the fields that you see/,
    );
  });

  test.for(EXPORT_FORMATS)('to %s estimates the size of a large file', async (format, { ann, source }) => {
    const { id: datasetId } = await ann.creates('/datasets', {
      name: 'Many',
      datasourceId: source.id,
      query: `select n + 100000 as id, md5(n::text) as text from generate_series(1, 20000) n`,
      refresh: true,
    });
    const action = await createAction(ann, 'export', { datasetId, format });
    const estimate = await preview(ann, action);
    expect(estimate).toMatchObject({ rows: 20_000, isEstimate: true });
    await run(ann, action);
    const { length } = (await readFile(ann, action)).bytes;
    expect((estimate['size'] as number) / length).toBeGreaterThan(0.8);
    expect((estimate['size'] as number) / length).toBeLessThan(1.25);
  });

  test('of a dataset without rows is exact', async ({ ann, source }) => {
    const input = { name: 'Not loaded', datasourceId: source.id, query: 'select 1 as one' };
    const { id: datasetId } = await ann.creates('/datasets', input);
    const action = await createAction(ann, 'export', { datasetId, format: 'json' });
    const expected = { dataset: 'Not loaded', filename: 'not-loaded.json', rows: 0, isEstimate: false };
    expect(await preview(ann, action)).toMatchObject(expected);
    const { size } = await preview(ann, action);
    expect(await run(ann, action)).toEqual(SUCCESS);
    expect((await readFile(ann, action)).bytes).toHaveLength(size as number);
  });
});
