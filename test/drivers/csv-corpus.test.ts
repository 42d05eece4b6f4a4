import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();
const FOLDER = join(import.meta.dirname, '../corpus/csv');

/** Contents of a file of the corpus: its values, or the error with which it is refused. */
interface Expected {
  config?: Record<string, unknown>;
  fields?: string[];
  rows?: unknown[][];
  error?: string;
  /** Number of problems. */
  problems?: number;
}

const names = readdirSync(FOLDER).flatMap((file) => (file.endsWith('.csv') ? [file.slice(0, -'.csv'.length)] : []));

test('the corpus has files', () => {
  expect(names.length).toBeGreaterThanOrEqual(60);
});

test.each(names)('%s', async (name) => {
  const expected = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Expected;
  const reading = readInProcess(readFileSync(join(FOLDER, `${name}.csv`)), expected.config);
  if (expected.error !== undefined)
    return expect(reading).rejects.toMatchObject({ status: 400, message: expected.error });
  const { types, rows, problems } = await reading;
  expect({ fields: types, rows, problems: problems.length }).toEqual({
    fields: expected.fields,
    rows: expected.rows,
    problems: expected.problems ?? 0,
  });
});
