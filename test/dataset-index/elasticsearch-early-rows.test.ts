import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { openElasticsearchIndex } from '../../src/adapters/dataset-index/elasticsearch/elasticsearch-index.ts';
import { CsvSegmentWriter } from '../../src/adapters/drivers/csv-encoder.ts';
import { ColumnsChanged, withFinalColumns } from '../../src/core/columns-changed.ts';
import type { DatasetIndex, LoadPlan } from '../../src/core/dataset-index.ts';
import type { Column } from '../../src/core/fields.ts';
import { newId } from '../../src/core/id.ts';
import type { Segment } from '../../src/core/row-source.ts';
import { elasticsearch, HAS_ELASTICSEARCH, HAS_OPENSEARCH, opensearch } from '../support/engines.ts';
import { createColumn, createLoadPlan, search } from './generation-fixture.ts';
import { UnsteadyProxy } from './unsteady-proxy.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

type Rows = (string | null)[][];

/** Rows of two values, `from` up to, not including, `to`. */
const numbered = (from: number, to: number): Rows =>
  Array.from({ length: to - from }, (_, i) => [String(from + i), `text ${from + i}`]);
const COLUMNS = [createColumn('n', 'integer'), createColumn('x', 'string')];

/** A load whose segments are sent while later ones are still read. */
describe.skipIf(!HAS_ELASTICSEARCH && !HAS_OPENSEARCH)('rows that a search engine receives early', () => {
  let dir: string;
  let proxy: UnsteadyProxy;
  let index: DatasetIndex;
  let embedded: DatasetIndex;
  /** Resolves when the engine receives the first rows. */
  let received: Promise<void>;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'dws-early-'));
    proxy = new UnsteadyProxy((await (HAS_OPENSEARCH ? opensearch() : elasticsearch())).url);
    await proxy.open();
    const prefix = `dws-${randomBytes(6).toString('hex')}-`;
    index = openElasticsearchIndex({ url: proxy.url, prefix, scratch: join(dir, 'scratch') });
    embedded = openDuckdbIndex({ dir: join(dir, 'embedded') });
  });
  beforeEach(() => {
    proxy.requests.length = 0;
    received = new Promise((resolve) => {
      proxy.onBulk = resolve;
    });
  });
  afterEach(async () => {
    proxy.faults = [];
    for (const { id } of await index.generations()) await index.drop(id);
  });
  afterAll(async () => {
    await index.close();
    await embedded.close();
    await proxy.close();
    await rm(dir, { recursive: true, force: true });
  });

  /** Yields a segment for each part. Those after the second follow when the engine has received rows. */
  async function* segmentsOf(parts: Rows[], waitsFor: Promise<unknown>): AsyncGenerator<Segment> {
    const writer = new CsvSegmentWriter(await mkdtemp(join(dir, 'segments-')));
    for (const [i, rows] of parts.entries()) {
      if (i === 2) await waitsFor;
      for (const row of rows) writer.row(row);
      yield await writer.flush();
    }
  }
  const load = (parts: Rows[], columns: Column[] = COLUMNS, plan: Partial<LoadPlan> = {}) =>
    index.load(newId(), columns, segmentsOf(parts, received), createLoadPlan(plan));
  const createdIndexes = () =>
    proxy.requests.filter(({ method, body }) => method === 'PUT' && body.includes('"mappings"')).length;

  /** Expects the same fields and rows as in the embedded index, and returns the fields. */
  async function expectSameAsEmbedded(parts: Rows[], columns: Column[]) {
    const generation = await load(parts, columns);
    const reference = await embedded.load(newId(), columns, segmentsOf(parts, Promise.resolve()), createLoadPlan());
    expect(generation.fields).toEqual(reference.fields);
    expect(generation.records).toBe(reference.records);
    expect((await search(index, generation)).rows).toEqual((await search(embedded, reference)).rows);
    expect(await index.generations()).toEqual([{ id: generation.id, complete: true }]);
    expect(await readdir(join(dir, 'scratch'))).toEqual([]);
    return generation.fields.map(({ type, format }) => (format ? [type, format] : [type]));
  }

  test('rows are sent before the source has ended, each once and in order', async () => {
    const shares: number[] = [];
    const parts = [numbered(0, 500), numbered(500, 900), numbered(900, 1000), [], numbered(1000, 1001)];
    const generation = await load(parts, COLUMNS, { stored: (share) => shares.push(share) });
    expect(generation.records).toBe(1001);
    expect(createdIndexes()).toBe(1);
    expect((await search(index, generation)).rows).toEqual(numbered(0, 1001).map(([n, x]) => ({ n: Number(n), x })));
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(shares.at(-1)).toBeLessThanOrEqual(1);
  });

  const decimal = { kind: 'decimal' } as const;
  const late: [what: string, Column, early: string, late: string, described: string[], indexes: number][] = [
    ['a long text', createColumn('v', 'string'), 'short', 'long '.repeat(2000), ['text'], 2],
    ['an unsafe integer', createColumn('v', 'integer'), '7', '9007199254740993', ['integer', 'int64'], 2],
    ['exact digits', createColumn('v', 'number', decimal), '1.50', '0.12345678901234567891', ['number', 'decimal'], 2],
    ['an exponent', createColumn('v', 'number', decimal), '-0.50', '1e300', ['number', 'decimal'], 2],
    ['more digits', createColumn('v', 'number', decimal), '-0.50', '12345678.125', ['number'], 1],
    [
      'exact digits of a declared type',
      createColumn('v', 'number', { kind: 'decimal', precision: 30, scale: 4 }),
      '1.5',
      '12345678901234567890.1234',
      ['number', 'decimal'],
      2,
    ],
    ['a missing value', createColumn('v', 'number'), '0.1', 'NaN', ['number'], 1],
  ];
  test.each(late)(
    '%s in a later segment changes the fields of all rows',
    async (_, column, first, last, type, indexes) => {
      const columns = [createColumn('n', 'integer'), column];
      const parts = [
        [['0', first]],
        [
          ['1', first],
          ['2', null],
        ],
        [['3', first]],
        [
          ['4', last],
          ['5', first],
        ],
      ];
      expect(await expectSameAsEmbedded(parts, columns)).toEqual([['integer'], type]);
      expect(createdIndexes()).toBe(indexes);
    },
  );

  test('fields that the early rows show remain for rows without such values', async () => {
    const columns = [createColumn('n', 'integer'), createColumn('t', 'string')];
    const [unsafe, long] = ['9007199254740993', 'long '.repeat(2000)];
    const parts = [[['1', 'a']], [[unsafe, long]], [['3', 'c']], [[null, null]]];
    expect(await expectSameAsEmbedded(parts, columns)).toEqual([['integer', 'int64'], ['text']]);
    expect(createdIndexes()).toBe(1);
  });

  test('exact digits are left to the staged rows', async () => {
    const parts = [[['0.1']], [['0.12345678901234567891']], [['1.50']]];
    received = Promise.resolve();
    expect(await expectSameAsEmbedded(parts, [createColumn('v', 'number', decimal)])).toEqual([['number', 'decimal']]);
    expect(createdIndexes()).toBe(1);
  });

  test('kept fields, a vanished one and a converted type are the same as without early rows', async () => {
    const keepFields = [
      { name: 'gone', label: 'gone', type: 'string' as const },
      { name: 'n', label: 'n', type: 'integer' as const },
    ];
    const parts = [numbered(0, 2), numbered(2, 4), numbered(4, 5)];
    const kept = await load(parts, COLUMNS, { keepFields });
    expect(kept.fields.map(({ name, vanished }) => [name, vanished])).toEqual([
      ['gone', true],
      ['n', undefined],
    ]);
    expect((await search(index, kept)).rows).toEqual([0, 1, 2, 3, 4].map((n) => ({ gone: null, n })));
    const keepTypes = [{ name: 'n', label: 'n', type: 'string' as const }];
    const converted = await load(parts, COLUMNS, { keepTypes });
    expect((await search(index, converted, { fields: ['n'] })).rows).toEqual(
      [0, 1, 2, 3, 4].map((n) => ({ n: String(n) })),
    );
  });

  test('rows that were sent with provisional columns do not stay when later rows contradict these', async () => {
    const [id, parts] = [newId(), [numbered(0, 500), numbered(500, 900), [['nine hundred', 'last']] as Rows]];
    const final = [createColumn('n', 'string'), COLUMNS[1]!];
    async function* contradicted(): AsyncGenerator<Segment> {
      yield* segmentsOf(parts.slice(0, 2), received);
      await received;
      throw new ColumnsChanged(final);
    }
    const generation = await withFinalColumns(COLUMNS, (columns) =>
      index.load(id, columns, columns === final ? segmentsOf(parts, received) : contradicted(), createLoadPlan()),
    );
    const rows = numbered(0, 900).map(([n, x]) => ({ n, x }));
    expect((await search(index, generation)).rows).toEqual([...rows, { n: 'nine hundred', x: 'last' }]);
    expect(await index.generations()).toEqual([{ id, complete: true }]);
  });

  test('a load that fails after rows were sent leaves nothing', async () => {
    async function* broken() {
      yield* segmentsOf([numbered(0, 10), numbered(10, 20)], received);
      await received;
      throw new Error('connection lost');
    }
    await expect(index.load(newId(), COLUMNS, broken(), createLoadPlan())).rejects.toThrow('connection lost');
    await expect(load([numbered(0, 5), numbered(5, 10), numbered(10, 20)], COLUMNS, { maxRows: 10 })).rejects.toThrow(
      'more than the 10 rows',
    );
    await expect(load([[['1', 'a']], [['2', 'b']], [['abc', 'c']]])).rejects.toThrow(
      'Column "n", line 3: "abc" is not of type BIGINT',
    );
    expect(await index.generations()).toEqual([]);
    expect(await readdir(join(dir, 'scratch'))).toEqual([]);
  });

  test('a row that the engine refuses ends the load, although the source does not respond', async () => {
    const parts = [[['{}']], [['['.repeat(2000) + ']'.repeat(2000)]], []];
    const never = new Promise(() => {});
    await expect(
      index.load(newId(), [createColumn('j', 'json')], segmentsOf(parts, never), createLoadPlan()),
    ).rejects.toMatchObject({ status: 500, code: 'UPSTREAM_FAILED' });
    expect(await index.generations()).toEqual([]);
  });

  test('an aborted load ends immediately, although the engine does not respond to early rows', async () => {
    const stop = new AbortController();
    proxy.faults = ['hang', 'hang'];
    proxy.onBulk = () => stop.abort(new Error('cancelled by Ann'));
    const parts = [numbered(0, 10), numbered(10, 20), numbered(20, 30)];
    await expect(load(parts, COLUMNS, { signal: stop.signal })).rejects.toThrow('cancelled by Ann');
    expect(await index.generations()).toEqual([]);
  });
});
