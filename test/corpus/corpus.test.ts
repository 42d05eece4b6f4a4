import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openEngine } from '../../src/adapters/drivers/file/file-engine.ts';
import { boundQuery } from '../support/postgres-source.ts';

/**
 * Uploaded files and their expected readings: `<file>.expected.json` next to each has the types of the columns, the rows,
 * the messages of problems, and the settings with which the file is uploaded; or the message with which it is refused.
 */
interface Expected {
  config?: Record<string, unknown>;
  types?: string[];
  rows?: unknown[][];
  problems?: string[];
  error?: string;
}

const SUFFIX = '.expected.json';

async function readFile(path: string, { config = {} }: Expected): Promise<Expected> {
  const { config: found, problems } = (await openEngine(path, config).detectConfig(path))!;
  const { fields, rows } = await openEngine(path, found).rows(boundQuery('select * from data'), 1000);
  return {
    types: fields.map(({ name, type, format }) => [name, type, ...(format ? [format] : [])].join(' ')),
    rows: rows.map((row) => fields.map(({ name }) => row[name])),
    problems: problems.map(({ message }) => message),
  };
}

describe.each(['sheets', 'json', 'parquet'])('%s', (folder) => {
  const dir = join(import.meta.dirname, folder);
  const names = readdirSync(dir).filter((name) => !name.endsWith(SUFFIX));

  test.each(names)('%s', async (name) => {
    const path = join(dir, name);
    const expected = JSON.parse(readFileSync(`${path}${SUFFIX}`, 'utf8')) as Expected;
    const found = await readFile(path, expected).catch((error: unknown) => ({ error: (error as Error).message }));
    const { config: _, ...result } = expected;
    expect(found).toEqual(result);
  });
});
