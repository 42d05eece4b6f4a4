import { expect, test } from 'vitest';
import type { DatasetIndex } from '../../src/core/dataset-index.ts';
import { newId } from '../../src/core/id.ts';
import { collect, createColumn, loadTexts, NEVER, search, selectAllRows } from './generation-fixture.ts';

/** Tests how generations are created, cloned, scanned and dropped. */
export function lifecycleContract(index: () => DatasetIndex): void {
  const loadGeneration = () => loadTexts(index(), [createColumn('x', 'string')], [['zoe'], ['bob']]);
  const findIds = async () => (await index().generations()).filter(({ complete }) => complete).map(({ id }) => id);

  test('a generation is listed until it is dropped; then its readers get 410', async () => {
    const generation = await loadGeneration();
    expect(await findIds()).toContain(generation.id);
    expect(generation.size).toBeGreaterThan(0);
    await search(index(), generation, { words: ['zoe'] });
    await index().drop(generation.id);
    expect(await findIds()).not.toContain(generation.id);
    await expect(search(index(), generation)).rejects.toMatchObject({ status: 410 });
    await expect(search(index(), generation, { words: ['zoe'] })).rejects.toMatchObject({ status: 410 });
    await index().drop(generation.id);
  });

  test('a clone has the rows of its original, and each remains when the other is dropped', async () => {
    const original = await loadGeneration();
    const [first, second] = [await index().clone(original, newId()), await index().clone(original, newId())];
    expect(first).toMatchObject({ fields: original.fields, records: 2, size: original.size });
    await index().drop(second.id);
    expect((await search(index(), original)).rows).toEqual([{ x: 'zoe' }, { x: 'bob' }]);
    await index().drop(original.id);
    expect((await search(index(), first, { words: ['bob'] })).rows).toEqual([{ x: 'bob' }]);
  });

  test('a running scan reads to its end although its generation is dropped', async () => {
    const generation = await loadTexts(
      index(),
      [createColumn('n', 'integer')],
      Array.from({ length: 30_000 }, (_, n) => [String(n)]),
    );
    let rows = 0;
    for await (const batch of index().scan({ ...selectAllRows(generation), fields: ['n'], sort: [] }, NEVER)) {
      if (rows === 0) await index().drop(generation.id);
      rows += batch.length;
    }
    expect(rows).toBe(30_000);
  });

  test('a scan that stops early or aborts does not block later scans', async () => {
    const generation = await loadTexts(
      index(),
      [createColumn('n', 'integer')],
      Array.from({ length: 10_000 }, (_, n) => [String(n)]),
    );
    for (let i = 0; i < 10; i++)
      for await (const batch of index().scan(
        { ...selectAllRows(generation), fields: ['n'], sort: [{ field: 'n', descending: true }] },
        NEVER,
      )) {
        expect(batch.length).toBeGreaterThan(0);
        break;
      }
    const stop = new AbortController();
    const scan = async () => {
      for await (const _ of index().scan({ ...selectAllRows(generation), fields: ['n'], sort: [] }, stop.signal))
        stop.abort(new Error('enough'));
    };
    await expect(scan()).rejects.toThrow('enough');
    expect(
      await collect(index().scan({ ...selectAllRows(generation), fields: ['n'], sort: [] }, NEVER)),
    ).not.toHaveLength(0);
  });

  test('many generations are read concurrently', async () => {
    const many = [];
    for (let i = 0; i < 20; i++) many.push(await loadTexts(index(), [createColumn('n', 'integer')], [[String(i)]]));
    for (let round = 0; round < 2; round++) {
      const pages = await Promise.all(many.map((generation) => search(index(), generation)));
      expect(pages.map(({ rows }) => rows)).toEqual(many.map((_, i) => [{ n: i }]));
    }
  });

  test('a ping of a running index resolves', async () => {
    await expect(index().ping()).resolves.toBeUndefined();
  });
}
