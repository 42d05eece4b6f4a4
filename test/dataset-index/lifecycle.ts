import { expect, test } from 'vitest';
import type { DatasetIndex } from '../../src/core/dataset-index.ts';
import { newId } from '../../src/core/id.ts';
import { collect, column, everything, loadTexts, NEVER, search } from './made.ts';

/** Generations come, are copied and go. */
export function lifecycleContract(index: () => DatasetIndex): void {
  const made = () => loadTexts(index(), [column('x', 'string')], [['zoe'], ['bob']]);
  const ids = async () => (await index().generations()).filter(({ complete }) => complete).map(({ id }) => id);

  test('a generation is listed until it is dropped, and then gone for its readers', async () => {
    const generation = await made();
    expect(await ids()).toContain(generation.id);
    expect(generation.size).toBeGreaterThan(0);
    await search(index(), generation, { words: ['zoe'] });
    await index().drop(generation.id);
    expect(await ids()).not.toContain(generation.id);
    await expect(search(index(), generation)).rejects.toMatchObject({ status: 410 });
    await expect(search(index(), generation, { words: ['zoe'] })).rejects.toMatchObject({ status: 410 });
    await index().drop(generation.id);
  });

  test('a clone has the rows and outlives its original, and the other way round', async () => {
    const original = await made();
    const [first, second] = [await index().clone(original, newId()), await index().clone(original, newId())];
    expect(first).toMatchObject({ fields: original.fields, records: 2, size: original.size });
    await index().drop(second.id);
    expect((await search(index(), original)).rows).toEqual([{ x: 'zoe' }, { x: 'bob' }]);
    await index().drop(original.id);
    expect((await search(index(), first, { words: ['bob'] })).rows).toEqual([{ x: 'bob' }]);
  });

  test('a scan under way reads to its end although its generation is dropped', async () => {
    const generation = await loadTexts(
      index(),
      [column('n', 'integer')],
      Array.from({ length: 30_000 }, (_, n) => [String(n)]),
    );
    let rows = 0;
    for await (const batch of index().scan({ ...everything(generation), fields: ['n'], sort: [] }, NEVER)) {
      if (rows === 0) await index().drop(generation.id);
      rows += batch.length;
    }
    expect(rows).toBe(30_000);
  });

  test('a scan that is left early, and one that aborts, hold nothing back', async () => {
    const generation = await loadTexts(
      index(),
      [column('n', 'integer')],
      Array.from({ length: 10_000 }, (_, n) => [String(n)]),
    );
    for (let i = 0; i < 10; i++)
      for await (const batch of index().scan(
        { ...everything(generation), fields: ['n'], sort: [{ field: 'n', descending: true }] },
        NEVER,
      )) {
        expect(batch.length).toBeGreaterThan(0);
        break;
      }
    const stop = new AbortController();
    const scan = async () => {
      for await (const _ of index().scan({ ...everything(generation), fields: ['n'], sort: [] }, stop.signal))
        stop.abort(new Error('enough'));
    };
    await expect(scan()).rejects.toThrow('enough');
    expect(await collect(index().scan({ ...everything(generation), fields: ['n'], sort: [] }, NEVER))).not.toHaveLength(
      0,
    );
  });

  test('many generations are read side by side', async () => {
    const many = [];
    for (let i = 0; i < 20; i++) many.push(await loadTexts(index(), [column('n', 'integer')], [[String(i)]]));
    for (let round = 0; round < 2; round++) {
      const pages = await Promise.all(many.map((generation) => search(index(), generation)));
      expect(pages.map(({ rows }) => rows)).toEqual(many.map((_, i) => [{ n: i }]));
    }
  });

  test('an index that answers is pinged in silence', async () => {
    await expect(index().ping()).resolves.toBeUndefined();
  });
}
