import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll } from 'vitest';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { openElasticsearchIndex } from '../../src/adapters/dataset-index/elasticsearch/elasticsearch-index.ts';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import type { DatasetIndex, Generation, Row } from '../../src/core/dataset-index.ts';
import type { Field } from '../../src/core/fields.ts';
import { arbitraryRegex } from '../core/criteria/arbitrary-regex.ts';
import { arbitraryCriteria, arbitraryRow, EVERY_KIND } from '../core/criteria/arbitrary.ts';
import { elasticsearch } from '../support/engines.ts';
import { fieldsOf, loadRows } from './generation-fixture.ts';

export const field = (name: string, type: Field['type']): Field => ({ name, label: name, type });

/** Fields of small pools of values, and fields whose values are seldom equal. */
export const FIELDS: Field[] = [
  ...EVERY_KIND,
  field('n', 'integer'),
  field('x', 'number'),
  field('far', 'number'),
  field('big', 'integer'),
  field('moment', 'datetime'),
  field('date', 'date'),
  field('letters', 'string'),
  field('many', 'string'),
];
export const SORTABLE = FIELDS.filter(({ type }) => type !== 'json').map(({ name }) => name);

const arbitraryMoment = fc
  .date({ min: new Date('1700-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((at) => at.toISOString());
// Around the changes of summer time, where clocks repeat or skip an hour.
const clockChange = fc
  .tuple(
    fc.constantFrom(
      '2024-03-31T01:00:00Z',
      '2024-10-27T01:00:00Z',
      '2024-11-03T06:00:00Z',
      '2024-04-06T15:00:00Z',
      '2024-10-05T15:30:00Z',
    ),
    fc.integer({ min: -9e6, max: 9e6 }),
  )
  .map(([at, by]) => new Date(Date.parse(at) + by).toISOString());
const seldomEqual = fc.record({
  x: fc.option(fc.integer({ min: -1e6, max: 1e6 }).map((n) => n / 1000)),
  far: fc.option(fc.integer({ min: 0, max: 9999 }).map((n) => 1e6 + n / 100)),
  big: fc.option(fc.maxSafeInteger()),
  moment: fc.option(fc.oneof(arbitraryMoment, clockChange)),
  date: fc.option(arbitraryMoment.map((at) => at.slice(0, 10))),
  letters: fc.option(
    fc.array(fc.constantFrom('a', 'b', 'A', '\n', '😀', '.', ' '), { maxLength: 5 }).map((all) => all.join('')),
  ),
  many: fc.option(fc.string({ unit: 'grapheme', maxLength: 6 })),
});
export const ROWS: Row[] = fc
  .sample(fc.tuple(arbitraryRow(EVERY_KIND), seldomEqual), { numRuns: 500, seed: 5 })
  .map(([kinds, more], n) => ({ ...kinds, ...more, n }));

export const anyCriteria = fc.oneof(
  arbitraryCriteria(EVERY_KIND),
  fc.constant({}),
  fc.record({ letters: fc.record({ $regex: arbitraryRegex, $options: fc.constantFrom('', 'i') }) }),
  fc.integer({ min: -1000, max: 1000 }).map((x) => ({ x: { $gte: x } })),
);

/** Returns `expected` with the numbers of `actual` where they differ only in the last digits. */
function adoptRounding(expected: unknown, actual: unknown): unknown {
  if (typeof expected === 'number' && typeof actual === 'number')
    return Math.abs(expected - actual) <= 1e-9 * Math.max(Math.abs(expected), Math.abs(actual)) ? actual : expected;
  if (Array.isArray(expected) && Array.isArray(actual))
    return expected.map((one: unknown, i) => adoptRounding(one, actual[i]));
  if (typeof expected !== 'object' || expected === null || typeof actual !== 'object' || actual === null)
    return expected;
  return Object.fromEntries(
    Object.entries(expected).map(([key, one]) => [key, adoptRounding(one, (actual as Record<string, unknown>)[key])]),
  );
}

const valueOf = <T>(outcome: PromiseSettledResult<T>): T => {
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
};

/** Sets up a DuckDB index and an Elasticsearch index with equal rows, and functions that query both. */
export function useBothIndexes() {
  let dir: string;
  const indexes: DatasetIndex[] = [];
  const generations: Generation[] = [];
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'dws-side-by-side-'));
    const { url } = await elasticsearch();
    indexes.push(
      openDuckdbIndex({ dir: join(dir, 'duckdb') }),
      openElasticsearchIndex({ url, prefix: `dws-${randomBytes(6).toString('hex')}-`, scratch: join(dir, 'scratch') }),
    );
    generations.push(...(await Promise.all(indexes.map((index) => loadRows(index, FIELDS, ROWS)))));
  }, 180_000);
  afterAll(async () => {
    await Promise.all(
      indexes.map(async (index, i) => {
        if (generations[i]) await index.drop(generations[i].id);
        await index.close();
      }),
    );
    await rm(dir, { recursive: true, force: true });
  });

  /** Runs a search on both indexes. The last digits of computed numbers may differ. */
  async function queryBoth<T>(
    query: (index: DatasetIndex, generation: Generation) => Promise<T>,
  ): Promise<{ duckdb: T; elasticsearch: T }> {
    const [duckdb, engine] = await Promise.allSettled(indexes.map((index, i) => query(index, generations[i]!)));
    // The engine refuses a regular expression that is too complex. Then there is nothing to compare.
    fc.pre(
      !(
        engine!.status === 'rejected' &&
        (engine!.reason as Error).message === '$regex is too complex for the dataset index'
      ),
    );
    return { duckdb: adoptRounding(valueOf(duckdb!), valueOf(engine!)) as T, elasticsearch: valueOf(engine!) };
  }

  /** Parses criteria to the `where` of a search. */
  const where = (criteria: unknown) => ({ where: parseCriteria(criteria, fieldsOf(generations[0]!)) });

  return { indexes, generations, queryBoth, where };
}
