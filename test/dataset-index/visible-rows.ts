import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { and } from '../../src/core/criteria/build.ts';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import { ALL } from '../../src/core/criteria/tree.ts';
import type { Aggregation, DatasetIndex, Generation, RowSearch, Search } from '../../src/core/dataset-index.ts';
import { arbitraryCriteria, arbitraryRow, EVERY_KIND } from '../core/criteria/arbitrary.ts';
import { aggregate, collect, fieldsOf, loadRows, NEVER, search, selectAllRows } from './generation-fixture.ts';

const ROWS = fc.sample(arbitraryRow(EVERY_KIND), { numRuns: 200, seed: 7 }).map((row, n) => ({ ...row, n }));
const FIELDS = [...EVERY_KIND, { name: 'n', label: 'n', type: 'integer' as const }];
const NAMES = FIELDS.map(({ name }) => name);
const SORTABLE = FIELDS.filter(({ type }) => type !== 'json').map(({ name }) => name);
const PAGE = 7;

/** Tests that criteria of visible rows find the same rows in every kind of query as the same criteria in `where`. */
export function visibleRowsContract(index: () => DatasetIndex): void {
  let generation: Generation;
  beforeAll(async () => {
    generation = await loadRows(index(), FIELDS, ROWS);
  });
  const parse = (criteria: unknown) => parseCriteria(criteria, fieldsOf(generation));
  const anyWhere = fc.oneof(arbitraryCriteria(EVERY_KIND), fc.constant({}));
  /** Compares the results of a query about criteria apart and together. */
  const expectEqualResults = async (ask: (rows: Pick<Search, 'visible' | 'where'>) => Promise<unknown>, runs: number) =>
    fc.assert(
      fc.asyncProperty(anyWhere, anyWhere, async (rule, question) => {
        const [visible, where] = [parse(rule), parse(question)];
        expect(await ask({ visible, where })).toEqual(await ask({ where: and([visible, where]) }));
      }),
      { numRuns: runs },
    );

  test.each<[string, Partial<RowSearch>]>([
    ['', {}],
    [' in an order', { sort: SORTABLE.map((field, i) => ({ field, descending: i % 2 === 0 })) }],
    [' with words', { words: ['a'] }],
    [' with words in an order', { words: ['a'], sort: [{ field: 'price', descending: true }] }],
  ])('pages with totals and cursors%s', async (_title, more) => {
    await expectEqualResults(async (rows) => {
      const request = { ...more, ...rows, limit: PAGE, total: true };
      const first = await search(index(), generation, request);
      const second = first.next && (await search(index(), generation, { ...request, after: first.next }));
      return [first, second];
    }, 40);
  });

  test('scans', async () => {
    for (const sort of [[], [{ field: 'name', descending: false }]])
      await expectEqualResults(
        async (rows) =>
          (await collect(index().scan({ ...selectAllRows(generation), ...rows, fields: NAMES, sort }, NEVER))).flat(),
        20,
      );
  });

  test('aggregations', async () => {
    const measures: Aggregation['measures'] = [
      { fn: 'count', as: 'rows' },
      { fn: 'countDistinct', field: 'name', as: 'names' },
      { fn: 'max', field: 'price', as: 'dearest' },
      { fn: 'sum', field: 'count', as: 'sum' },
    ];
    for (const groupBy of [[], [{ field: 'name' }], [{ field: 'at', interval: 'month' as const }, { field: 'COUNT' }]])
      await expectEqualResults((rows) => aggregate(index(), generation, { ...rows, groupBy, measures }), 15);
  });

  test('profiles', async () => {
    await expectEqualResults((rows) => index().profile({ ...selectAllRows(generation), ...rows }, NAMES, NEVER), 10);
  });

  test('a cursor of a hidden row is refused', async () => {
    const sort = [{ field: 'n', descending: false }];
    const { next } = await search(index(), generation, { sort, limit: 50 });
    const visible = parse({ n: { $gte: 100 } });
    for (const where of [ALL, parse({ n: { $lt: 150 } })])
      await expect(search(index(), generation, { sort, visible, where, after: next! })).rejects.toMatchObject({
        status: 400,
      });
  });
}
