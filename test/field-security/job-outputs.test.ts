import { describe, expect } from 'vitest';
import { EXPORT_FORMATS } from '../../src/core/export-format.ts';
import type { Field } from '../../src/core/fields.ts';
import { createAction, preview, run, type TestAction } from '../job/driver-fixture.ts';
import type { Client } from '../support/client.ts';
import { readBack } from '../support/export-readers.ts';
import { expectAlike } from './compare.ts';
import { WORLDS } from './fixture.ts';
import { VISIBLE_FIELDS, VISIBLE_ROWS } from './twin-source.ts';

/** Runs an action of the reader's, and returns its outcome without durations. */
async function runOf(reader: Client, action: TestAction) {
  const { log, ...outcome } = await run(reader, action);
  return { ...outcome, log: log.map((line) => line.replace(/\d+ ms$/, '<ms>')) };
}

const fileOf = async ({ url, headers }: Client, { action }: TestAction) => {
  const response = await fetch(`${url}/api${action.path}/action-file-contents`, { headers });
  return {
    name: response.headers.get('content-disposition'),
    bytes: Buffer.from(await response.arrayBuffer()),
  };
};

describe.each(WORLDS)('jobs of a restricted reader with rows in $index', { timeout: 300_000 }, ({ test }) => {
  test.for(EXPORT_FORMATS)(
    'export as %s equal files for both twins, without hidden parts',
    async (format, { world }) => {
      const { reader, twins } = world;
      const { fields } = (await reader.get(`/datasets/${twins[0]!.id}/data?limit=1`)).body as { fields: Field[] };
      for (const filter of [undefined, { units: { $gte: 2 } }]) {
        const { rows, names } = await expectAlike(world, `${format} ${JSON.stringify(filter)}`, async ({ id }) => {
          const data = { datasetId: id, format, ...(filter && { filter }) };
          const action = await createAction(reader, 'export', data);
          const previewed = await preview(reader, action);
          const outcome = await runOf(reader, action);
          const { name, bytes } = await fileOf(reader, action);
          const read = await readBack(format, bytes, fields);
          // The bytes are compared as well, except for xlsx, whose archive contains times.
          const text = format === 'xlsx' ? '' : bytes.toString('latin1');
          expect(previewed).toMatchObject({ rows: read.rows.length, size: bytes.length, isEstimate: false });
          return { ...read, outcome, previewed, name, text };
        });
        expect(names).toEqual(VISIBLE_FIELDS);
        if (!filter) expect(rows).toHaveLength(VISIBLE_ROWS);
      }
    },
  );

  test('count and refuse alike', async ({ world }) => {
    const { reader } = world;
    for (const [type, data, permission] of [
      ['refresh', {}, 'refresh'],
      ['snapshot', { name: 'S' }, 'copy'],
    ] as const) {
      const { outcome } = await expectAlike(world, type, async ({ id }) => {
        const action = await createAction(reader, type, { datasetId: id, ...data });
        const { dataUpdatedAt: _, ...previewed } = await preview(reader, action);
        expect(previewed).toMatchObject({ rows: VISIBLE_ROWS });
        return { previewed, outcome: await runOf(reader, action) };
      });
      const error = `You lack the permission dataset:${permission}`;
      expect(outcome).toEqual({ success: false, error, attempts: 1, log: [error] });
    }
    const counted = async (criteria: object, count: number) =>
      expectAlike(world, JSON.stringify(criteria), async ({ id }) => {
        const action = await createAction(reader, 'export', { datasetId: id, format: 'csv' });
        const path = `${action.action.path}/job-action-run-conditions`;
        await reader.creates(path, { type: 'criteria', data: { datasetId: id, criteria, op: 'eq', count } });
        return runOf(reader, action);
      });
    expect(await counted({}, VISIBLE_ROWS)).toMatchObject({ success: true });
    const filter = { units: { $gte: 2 } };
    const { body } = await reader.post(`/datasets/${world.twins[0]!.id}/_search`, { filter });
    expect(await counted(filter, body.total)).toMatchObject({ success: true });
  });
});
