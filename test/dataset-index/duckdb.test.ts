import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cursorGeneration } from '../../src/adapters/dataset-index/cursor.ts';
import { openDuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import type { DuckdbIndex } from '../../src/adapters/dataset-index/duckdb/duckdb-index.ts';
import { folder, loadingFolder, rowsFile } from '../../src/adapters/dataset-index/duckdb/generation-files.ts';
import { csvSegments } from '../../src/adapters/drivers/csv-encoder.ts';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import type { Generation } from '../../src/core/dataset-index.ts';
import { newId } from '../../src/core/id.ts';
import type { Segment } from '../../src/core/row-source.ts';
import { datasetIndexContract } from './dataset-index-contract.ts';
import {
  aggregate,
  collect,
  createColumn,
  createLoadPlan,
  fieldsOf,
  loadTexts,
  NEVER,
  search,
  selectAllRows,
} from './generation-fixture.ts';

let dir: string;
let segments: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dws-duckdb-'));
  segments = join(dir, 'segments');
  await mkdir(segments);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

datasetIndexContract('DuckDB', async () => openDuckdbIndex({ dir: join(dir, 'index') }));

describe('DuckDB: files of the index', () => {
  let index: DuckdbIndex;
  let wide: Generation;
  const indexDir = () => join(dir, 'own');
  const COLUMNS = [createColumn('n', 'integer'), createColumn('x', 'string')];
  beforeAll(async () => {
    index = openDuckdbIndex({ dir: indexDir(), threads: 2 });
    async function* batches() {
      for (let at = 0; at < 300_000; at += 10_000)
        yield Array.from({ length: 10_000 }, (_, i) => [String(at + i), `row ${at + i} ${'x'.repeat(60)}`]);
    }
    wide = await index.load(newId(), COLUMNS, csvSegments(batches(), segments), createLoadPlan());
  });
  afterAll(() => index.close());
  const runSlowQuery = (signal: AbortSignal) =>
    index.aggregate(
      {
        ...selectAllRows(wide),
        groupBy: [{ field: 'x' }],
        measures: [{ fn: 'countDistinct', field: 'n', as: 'n' }],
        sort: [{ column: 'n', descending: true }],
        limit: 1,
      },
      signal,
    );

  test('rows of several segments keep their order, and the temporary segments are deleted', async () => {
    const { rows } = await search(index, wide, { start: 250_000, limit: 2 });
    expect(rows.map(({ n }) => n)).toEqual([250_000, 250_001]);
    expect(
      (await collect(index.scan({ ...selectAllRows(wide), fields: ['n'], sort: [] }, NEVER)))
        .flat()
        .every(({ n }, i) => n === i),
    ).toBe(true);
    expect(await readdir(segments)).toEqual([]);
    expect((await stat(rowsFile(indexDir(), wide.id))).size).toBe(wide.size);
  });

  test('pages of a list of values are in the order of the source', async () => {
    const texts = (count: number) => Array.from({ length: count }, (_, i) => `row ${i * 1000} ${'x'.repeat(60)}`);
    const list = (count: number) => ({ x: { $in: texts(count) } });
    for (const criteria of [list(4), list(60), list(150), { $or: [list(60), { n: { $in: [1, 2, 3, 5000, 6000] } }] }]) {
      const where = parseCriteria(criteria, fieldsOf(wide));
      for (const parts of [{ where }, { where, visible: parseCriteria({ n: { $gte: 0 } }, fieldsOf(wide)) }]) {
        const numbers = [];
        let after: string | undefined;
        do {
          const page = await search(index, wide, { ...parts, limit: 3, fields: ['n'], ...(after && { after }) });
          numbers.push(...page.rows.map(({ n }) => n as number));
          after = page.next ?? undefined;
        } while (after !== undefined && numbers.length < 30);
        const all = (await search(index, wide, { ...parts, sort: [{ field: 'n', descending: false }] })).rows;
        expect(numbers).toEqual(all.slice(0, numbers.length).map(({ n }) => n));
      }
    }
  });

  test('a flow that sorts more rows than a block keeps its order, and ties keep the order of the source', async () => {
    const flow = [
      { type: 'sort' as const, field: 'x', order: 'desc' as const },
      { type: 'calculate' as const, field: 'next', expression: 'n + 1' },
    ];
    async function* batches() {
      for (let at = 0; at < 300_000; at += 10_000)
        yield Array.from({ length: 10_000 }, (_, i) => [String(at + i), `${(at + i) % 1000}`.padStart(80, 'x')]);
    }
    const sorted = await index.load(newId(), COLUMNS, csvSegments(batches(), segments), createLoadPlan({ flow }));
    const rows = (
      await collect(index.scan({ ...selectAllRows(sorted), fields: ['n', 'next'], sort: [] }, NEVER))
    ).flat() as { n: number; next: number }[];
    expect(rows).toHaveLength(300_000);
    const name = (n: number) => `${n % 1000}`.padStart(80, 'x');
    expect(
      rows.every(
        ({ n, next }, i) =>
          next === n + 1 &&
          (i === 0 || name(rows[i - 1]!.n) > name(n) || (n % 1000 === rows[i - 1]!.n % 1000 && n > rows[i - 1]!.n)),
      ),
    ).toBe(true);
    expect(sorted.fields.map(({ name: of, type }) => [of, type])).toEqual([
      ['n', 'integer'],
      ['x', 'string'],
      ['next', 'number'],
    ]);
  });

  test('a table of very many columns is loaded, and read in any order', async () => {
    const many = Array.from({ length: 1000 }, (_, i) => createColumn(`f${i}`, i % 2 === 0 ? 'integer' : 'string'));
    async function* batches() {
      for (let at = 0; at < 3000; at += 500)
        yield Array.from({ length: 500 }, (_, i) => many.map((_column, k) => String(at + i + k)));
    }
    const generation = await index.load(newId(), many, csvSegments(batches(), segments), createLoadPlan());
    expect((await search(index, generation, { start: 2999, fields: ['f0', 'f999'] })).rows).toEqual([
      { f0: 2999, f999: '3998' },
    ]);
    const { rows } = await search(index, generation, { sort: [{ field: 'f0', descending: true }], limit: 1000 });
    expect(rows.map(({ f0, f999 }) => [f0, f999])).toEqual(
      Array.from({ length: 1000 }, (_, i) => [2999 - i, String(3998 - i)]),
    );
    expect(rows.every((row) => Object.keys(row).join() === many.map(({ name }) => name).join())).toBe(true);
  });

  test('rows of long texts are loaded in their order', async () => {
    const text = (i: number) => `${i} `.padEnd(i % 1000 === 7 ? 3_000_000 : 100_000, 'lorem ');
    async function* batches() {
      for (let at = 0; at < 2600; at += 20) yield Array.from({ length: 20 }, (_, i) => [String(at + i), text(at + i)]);
    }
    const long = await index.load(newId(), COLUMNS, csvSegments(batches(), segments), createLoadPlan());
    expect(long.records).toBe(2600);
    for (const start of [0, 1007, 2599])
      expect((await search(index, long, { start, limit: 1 })).rows).toEqual([{ n: start, x: text(start) }]);
    await index.drop(long.id);
  });

  test('a segment that is not temporary remains, and a lost row is detected', async () => {
    const path = join(segments, 'kept.csv');
    await writeFile(path, 'a\n\nb\n');
    async function* keptSegment(rows: number): AsyncGenerator<Segment> {
      yield { path, rows, bytes: 5, longestRow: 2, temporary: false };
    }
    await expect(
      index.load(newId(), [createColumn('x', 'string')], keptSegment(3), createLoadPlan()),
    ).rejects.toMatchObject({
      message: 'The source sent 3 rows, but 2 arrived',
    });
    expect(await readdir(segments)).toEqual(['kept.csv']);
    expect(await index.load(newId(), [createColumn('x', 'string')], keptSegment(2), createLoadPlan())).toMatchObject({
      records: 2,
    });
    await rm(path);
  });

  test('an aborted statement is interrupted, running or waiting, and frees its slot', async () => {
    const stop = new AbortController();
    const running = Array.from({ length: 12 }, () => runSlowQuery(stop.signal));
    setTimeout(() => stop.abort(new Error('enough')), 5);
    expect(await Promise.allSettled(running)).toEqual(
      Array.from({ length: 12 }, () => ({ status: 'rejected', reason: new Error('enough') })),
    );
    expect((await search(index, wide, { limit: 1, fields: ['n'] })).rows).toEqual([{ n: 0 }]);
  });

  test('more requests than can wait are refused', async () => {
    const stop = new AbortController();
    const requests = Array.from({ length: 1010 }, () => runSlowQuery(stop.signal));
    const refused = await Promise.race(requests.map((one) => one.catch((error: unknown) => error)));
    expect(refused).toMatchObject({
      status: 503,
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^Too many queries of the index are waiting\. Try again in \d+ s$/) as string,
    });
    stop.abort(new Error('enough'));
    const reasons = (await Promise.allSettled(requests)).map((one) =>
      one.status === 'rejected' ? (one.reason as Error).message : '',
    );
    expect(reasons.filter((reason) => reason === 'enough')).toHaveLength(1002);
    expect((await aggregate(index, wide, { measures: [{ fn: 'count', as: 'n' }] })).rows).toEqual([[300_000]]);
  });

  test('the build of a word index ends when no search waits for it', async () => {
    const fresh = await index.clone(wide, newId());
    const files = async () => (await readdir(join(indexDir(), fresh.id))).filter((name) => name.startsWith('words'));
    const [first, second] = [new AbortController(), new AbortController()];
    const searches = [first, second].map(({ signal }) =>
      index.search(
        { ...selectAllRows(fresh), words: ['row'], fields: ['n'], sort: [], limit: 1, start: 0, total: false },
        signal,
      ),
    );
    await expect.poll(files).toHaveLength(1);
    first.abort(new Error('first left'));
    await expect(searches[0]).rejects.toThrow('first left');
    expect(await files()).toEqual([expect.stringMatching(/\.building$/)]);
    second.abort(new Error('second left'));
    await expect(searches[1]).rejects.toThrow('second left');
    await expect.poll(files).toEqual([]);
    expect((await search(index, fresh, { words: ['row'], fields: ['n'], limit: 1 })).rows).toEqual([{ n: 0 }]);
  });

  test('an aborted load is interrupted within a segment', async () => {
    const stop = new AbortController();
    async function* batches() {
      for (;;) yield Array.from({ length: 10_000 }, (_, i) => [String(i), 'x'.repeat(60)]);
    }
    const loading = index.load(
      newId(),
      COLUMNS,
      csvSegments(batches(), segments),
      createLoadPlan({ signal: stop.signal, progress: () => stop.abort(new Error('cancelled')) }),
    );
    await expect(loading).rejects.toThrow('cancelled');
    expect((await index.generations()).filter(({ complete }) => !complete)).toEqual([]);
  });

  test('the generation of a killed process is listed as incomplete, is not readable, and can be dropped', async () => {
    const id = newId();
    await mkdir(loadingFolder(indexDir(), id));
    await writeFile(join(loadingFolder(indexDir(), id), 'rows.duckdb'), '');
    expect(await index.generations()).toContainEqual({ id, complete: false });
    await expect(search(index, { ...wide, id })).rejects.toMatchObject({ status: 410 });
    await index.drop(id);
    expect((await index.generations()).map((one) => one.id)).not.toContain(id);
    await expect(index.drop('../../etc')).rejects.toThrow('Not the id of a generation');
  });

  test('a clone shares the files of rows and words, and half-written words are not cloned', async () => {
    await index.prepareWords(wide, NEVER);
    await writeFile(join(folder(indexDir(), wide.id), 'words.duckdb.x.building'), 'half');
    const clone = await index.clone(wide, newId());
    const names = await readdir(folder(indexDir(), clone.id));
    expect(names.filter((name) => name.startsWith('words'))).toHaveLength(1);
    for (const name of names)
      expect((await stat(join(folder(indexDir(), clone.id), name))).ino).toBe(
        (await stat(join(folder(indexDir(), wide.id), name))).ino,
      );
    expect((await search(index, clone, { words: ['299999'], fields: ['n'] })).rows).toEqual([{ n: 299_999 }]);
  });

  test('a cursor names its generation', async () => {
    const { next } = await search(index, wide, { limit: 1 });
    expect(cursorGeneration(next!)).toBe(wide.id);
    expect(() => cursorGeneration('nonsense')).toThrow('The cursor in `after` is not valid');
  });

  test('a forged cursor reveals nothing about a row that its search does not find', async () => {
    const where = {
      kind: 'compare' as const,
      field: { name: 'n', label: 'n', type: 'integer' as const },
      op: 'lt' as const,
      value: 10,
    };
    const forged = Buffer.from(JSON.stringify([wide.id, 20])).toString('base64url');
    await expect(
      search(index, wide, { where, after: forged, sort: [{ field: 'x', descending: false }] }),
    ).rejects.toMatchObject({ status: 400 });
  });

  test('two indexes on one folder read the same generations', async () => {
    const other = openDuckdbIndex({ dir: indexDir() });
    const generation = await loadTexts(other, COLUMNS, [['1', 'a']]);
    expect((await search(index, generation)).rows).toEqual((await search(other, generation)).rows);
    await other.close();
  });
});
