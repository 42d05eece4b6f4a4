import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import { ALL } from '../../src/core/criteria/tree.ts';
import type { DatasetIndex, Generation, Page, Row, RowSearch } from '../../src/core/dataset-index.ts';
import type { Field } from '../../src/core/fields.ts';
import { arbitraryCriteria, arbitraryRow, EVERY_KIND } from '../core/criteria/arbitrary.ts';
import { matches } from '../core/criteria/evaluate.ts';
import { collect, compareValues, fieldsOf, loadRows, NEVER, search, selectAllRows } from './generation-fixture.ts';

const ROWS = fc.sample(arbitraryRow(EVERY_KIND), { numRuns: 400, seed: 42 });
const NUMBERED: Field[] = [...EVERY_KIND, { name: 'n', label: 'n', type: 'integer' }];
const SORTABLE = EVERY_KIND.filter(({ type }) => type !== 'json');

/** Tests the rows of searches and scans: criteria, order and pages. */
export function readingContract(index: () => DatasetIndex): void {
  let generation: Generation;
  const rows: Row[] = ROWS.map((row, n) => ({ ...row, n }));
  const numbersOf = (page: { rows: Row[] }) => page.rows.map(({ n }) => n as number);
  const find = (more: Partial<RowSearch>) => search(index(), generation, { fields: ['n'], ...more });
  beforeAll(async () => {
    generation = await loadRows(index(), NUMBERED, rows);
  });

  test('any criteria find and count the rows of an independent evaluator, in source order', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryCriteria(EVERY_KIND), async (criteria) => {
        const expected = rows.filter((row) => matches(row, criteria, EVERY_KIND)).map(({ n }) => n);
        const found = await find({ where: parseCriteria(criteria, fieldsOf(generation)), total: true });
        expect(numbersOf(found)).toEqual(expected);
        expect(found.total).toBe(expected.length);
      }),
      { numRuns: 250 },
    );
  });

  const sorts = fc.array(
    fc.record({ field: fc.constantFrom(...SORTABLE.map(({ name }) => name)), descending: fc.boolean() }),
    { maxLength: 3 },
  );
  const sortRows = (sort: RowSearch['sort'], selected: Row[]) =>
    [...selected].sort((a, b) => {
      for (const { field, descending } of sort) {
        const order = compareValues(
          a[field],
          b[field],
          NUMBERED.find(({ name }) => name === field)!,
          descending,
        );
        if (order !== 0) return order;
      }
      return (a.n as number) - (b.n as number);
    });

  test('rows are sorted by several fields, missing values last in both directions, ties by the source', async () => {
    await fc.assert(
      fc.asyncProperty(sorts, async (sort) => {
        expect(numbersOf(await find({ sort }))).toEqual(numbersOf({ rows: sortRows(sort, rows) }));
      }),
      { numRuns: 60 },
    );
  });

  test('cursors return all matching rows exactly once in any order', async () => {
    await fc.assert(
      fc.asyncProperty(
        sorts,
        arbitraryCriteria(EVERY_KIND),
        fc.integer({ min: 7, max: 150 }),
        async (sort, criteria, limit) => {
          const where = parseCriteria(criteria, fieldsOf(generation));
          const seen: number[] = [];
          let after: string | undefined;
          do {
            const page: Page = await find({ where, sort, limit, ...(after !== undefined && { after }) });
            expect(page.rows.length).toBeLessThanOrEqual(limit);
            seen.push(...numbersOf(page));
            after = page.next ?? undefined;
          } while (after !== undefined);
          expect(seen).toEqual(
            numbersOf({
              rows: sortRows(
                sort,
                rows.filter((row) => matches(row, criteria, EVERY_KIND)),
              ),
            }),
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  test('start skips rows, next shows whether there are more, the total counts all', async () => {
    expect(await find({ start: 10, limit: 3, total: true })).toEqual({
      rows: [{ n: 10 }, { n: 11 }, { n: 12 }],
      total: 400,
      next: expect.any(String),
    });
    expect(await find({ start: 397, limit: 3 })).toEqual({ rows: [{ n: 397 }, { n: 398 }, { n: 399 }], next: null });
    expect(await find({ start: 400, limit: 3 })).toEqual({ rows: [], next: null });
    const { next } = await find({ limit: 3, sort: [{ field: 'n', descending: true }] });
    expect(numbersOf(await find({ limit: 2, sort: [{ field: 'n', descending: true }], after: next! }))).toEqual([
      396, 395,
    ]);
  });

  test('an invalid cursor is refused, and so is a cursor of other rows', async () => {
    for (const after of [
      '',
      'x',
      Buffer.from('[]').toString('base64url'),
      Buffer.from('{"a":1}').toString('base64url'),
    ])
      await expect(find({ after })).rejects.toMatchObject({ status: 400 });
    const other = await loadRows(index(), NUMBERED, rows.slice(0, 5));
    const { next } = await search(index(), other, { limit: 2 });
    await expect(find({ after: next! })).rejects.toMatchObject({ status: 400 });
  });

  test('only the requested fields are returned, in their order; unknown fields are named', async () => {
    expect((await find({ fields: ['price', 'name'], limit: 1 })).rows.map((row) => Object.keys(row))).toEqual([
      ['price', 'name'],
    ]);
    expect((await find({ fields: [], limit: 2 })).rows).toEqual([{}, {}]);
    await expect(find({ fields: ['nope'] })).rejects.toMatchObject({ status: 400, message: 'Unknown field "nope"' });
    await expect(find({ sort: [{ field: 'c0', descending: false }] })).rejects.toMatchObject({
      status: 400,
      message: 'Unknown field "c0"',
    });
    await expect(
      find({ where: { kind: 'missing', field: { name: 'rowid', label: '', type: 'string' } } }),
    ).rejects.toMatchObject({ status: 400, message: 'Unknown field "rowid"' });
  });

  test('a scan returns the rows of a search, in batches', async () => {
    const many = await loadRows(
      index(),
      [{ name: 'n', label: 'n', type: 'integer' }],
      Array.from({ length: 10_000 }, (_, n) => ({ n: (n * 7) % 10_000 })),
    );
    const scan = (sort: RowSearch['sort']) =>
      collect(index().scan({ ...selectAllRows(many), fields: ['n'], sort }, NEVER));
    const unsorted = await scan([]);
    expect(unsorted.flat()).toEqual(Array.from({ length: 10_000 }, (_, n) => ({ n: (n * 7) % 10_000 })));
    expect(unsorted.length).toBeGreaterThan(1);
    expect((await scan([{ field: 'n', descending: true }])).flat().map(({ n }) => n)).toEqual(
      Array.from({ length: 10_000 }, (_, n) => 9999 - n),
    );
  });

  test('an aborted call rejects with the reason of its signal', async () => {
    const stop = AbortSignal.abort(new Error('enough'));
    const request = { ...selectAllRows(generation), fields: ['n'], sort: [], limit: 1, start: 0, total: false };
    await expect(index().search(request, stop)).rejects.toThrow('enough');
    await expect(
      index().aggregate({ ...selectAllRows(generation), groupBy: [], measures: [], sort: [], limit: 1 }, stop),
    ).rejects.toThrow('enough');
    await expect(collect(index().scan({ ...request, where: ALL }, stop))).rejects.toThrow('enough');
  });
}
