import { describe, expect } from 'vitest';
import { EXPORT_FORMATS, type ExportFormat } from '../../src/core/export-format.ts';
import type { Client } from '../support/client.ts';
import { expectError, expectStatus } from '../support/expect.ts';
import { readBack } from '../support/export-readers.ts';
import type { Service } from '../support/service.ts';
import { systemQuery } from '../support/system-query.ts';
import { createTeam } from '../support/team-fixture.ts';
import { attempt, createAction, ownerOf, preview, type TestAction } from './driver-fixture.ts';
import { test } from './job-fixture.ts';

/** Returns the file of an action, as ann reads it. */
async function readFile(ann: Client, { action }: TestAction) {
  const response = await fetch(`${ann.url}/api${action.path}/action-file-contents`, { headers: ann.headers });
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    name: response.headers.get('content-disposition'),
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

/** Returns the header and the rows of the file of an action. */
async function readRows(ann: Client, action: TestAction, path: string) {
  const { fields } = (await ann.get(path)).body;
  const format = action.data['format'] as ExportFormat;
  const { bytes } = await readFile(ann, action);
  const { names } = await readBack(format, bytes, fields);
  const kept = fields.filter(({ name }: { name: string }) => names.includes(name));
  return { names, rows: (await readBack(format, bytes, kept)).rows };
}

/** Returns the ids of all stored files: those with rows, and those with bytes. */
async function storedFiles(service: Service): Promise<{ rows: string[]; bytes: string[] }> {
  const rows = await systemQuery<{ id: string }>(service, `select id from dws.stored_file order by id`);
  const bytes = (await service.platform.files.list()).map(({ id }) => id).toSorted();
  return { rows: rows.map(({ id }) => id), bytes };
}

describe('an export', () => {
  test.for(EXPORT_FORMATS)(
    'to %s contains the rows and fields that the owner of the job sees',
    async (format, { ann, bob, service, orders, restrictBob }) => {
      await restrictBob({ region: 'EU' });
      const action = await createAction(ann, 'export', { datasetId: orders.id, format });
      await attempt(service, ownerOf(ann), action);
      const all = await readRows(ann, action, orders.path);
      expect(all.names).toEqual(['id', 'region', 'amount', 'ordered_on']);
      expect(all.rows).toHaveLength(20);
      expect(all.rows[0]).toEqual({ id: 1, region: 'US', amount: 10, ordered_on: '2026-01-02' });

      await attempt(service, ownerOf(bob), action);
      const part = await readRows(ann, action, orders.path);
      expect(part.names).toEqual(['id', 'region']);
      expect(part.rows).toEqual([4, 8, 12, 16, 20].map((id) => ({ id, region: 'EU' })));
    },
  );

  test('contains the filtered rows, by criteria or a saved filter', async ({ ann, service, orders }) => {
    const { id } = await ann.creates(`${orders.path}/filters`, { name: 'Big', criteria: { amount: { $gt: 180 } } });
    for (const filter of [{ amount: { $gt: 180 } }, id]) {
      const action = await createAction(ann, 'export', { datasetId: orders.id, format: 'csv', filter });
      await attempt(service, ownerOf(ann), action);
      const { rows } = await readRows(ann, action, orders.path);
      expect(rows.map((row) => row['id'])).toEqual([19, 20]);
    }
  });

  test.for<[object, string]>([
    [{}, 'orders.csv'],
    [{ filename: 'Figures' }, 'Figures.csv'],
    [{ filename: 'Figures.CSV' }, 'Figures.csv'],
    [{ filename: '../a/Figures.json' }, 'Figures.json.csv'],
  ])('of %j has the name %s', async ([data, name], { ann, service, orders }) => {
    const action = await createAction(ann, 'export', { datasetId: orders.id, format: 'csv', ...data });
    expect(await preview(service, ann, action)).toMatchObject({ filename: name });
    await attempt(service, ownerOf(ann), action);
    const file = await readFile(ann, action);
    expect(file.name).toBe(`attachment; filename="${name}"`);
    expect(file.type).toBe('text/csv; charset=utf-8');
  });
});
