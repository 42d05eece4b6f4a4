import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DatasetIndex, Generation } from '../../src/core/dataset-index.ts';
import type { Storage } from '../../src/core/fields.ts';
import { aggregate, createColumn, loadTexts } from './generation-fixture.ts';

const loadIntegers = (
  index: DatasetIndex,
  kind: 'int32' | 'int64' | 'uint64',
  rows: readonly (readonly [string, string | null])[],
): Promise<Generation> =>
  loadTexts(index, [createColumn('g', 'string'), createColumn('x', 'integer', { kind } satisfies Storage)], rows);

const sumOf = async (index: DatasetIndex, generation: Generation) => {
  const measures = [{ fn: 'sum' as const, field: 'x', as: 'sum' }];
  const { columns, rows } = await aggregate(index, generation, { measures });
  const grouped = await aggregate(index, generation, { groupBy: [{ field: 'g' }], measures });
  return { sum: rows[0]![0], format: columns[0]!.format, groups: grouped.rows };
};

/** As in generations of earlier versions. */
const withoutParts = (generation: Generation): Generation => ({
  ...generation,
  fields: generation.fields.map(({ split: _, ...field }) => field),
});

const [SAFE, ABOVE] = ['9007199254740991', '9007199254740993'];

/** Tests that sums of integers are exact: a number, or a text with all digits in a column of texts. */
export function exactSumsContract(index: () => DatasetIndex): void {
  test.each<['int32' | 'int64' | 'uint64', string[], unknown, 'int64' | undefined]>([
    ['int32', ['1', '-3', '2147483647'], 2147483645, undefined],
    ['int64', [SAFE], Number(SAFE), undefined],
    ['int64', [SAFE, SAFE, SAFE], '27021597764222973', 'int64'],
    ['int64', [`-${SAFE}`, `-${SAFE}`, `-${SAFE}`], '-27021597764222973', 'int64'],
    ['int64', [SAFE, SAFE, '5', `-${SAFE}`, `-${SAFE}`], 5, undefined],
    ['int64', [ABOVE], ABOVE, 'int64'],
    ['int64', [ABOVE, ABOVE, '-3'], '18014398509481983', 'int64'],
    ['int64', [ABOVE, '-9007199254740992'], 1, undefined],
    ['int64', ['9223372036854775807', '-9223372036854775808', '10000000', '-7'], 9999992, undefined],
    ['int64', ['-9223372036854775808', '-9223372036854775808'], '-18446744073709551616', 'int64'],
    ['uint64', ['18446744073709551615', '18446744073709551615', '0'], '36893488147419103230', 'int64'],
  ])('the sum of the %s %j is %j', async (kind, texts, sum, format) => {
    const generation = await loadIntegers(
      index(),
      kind,
      texts.map((text) => ['a', text]),
    );
    const expected = { sum, format, groups: [['a', sum]] };
    expect(await sumOf(index(), generation)).toEqual(expected);
    expect(await sumOf(index(), withoutParts(generation))).toEqual(expected);
  });

  test('in a column with one long sum all are texts, sorted as numbers', async () => {
    const generation = await loadIntegers(index(), 'int64', [
      ['a', SAFE],
      ['a', '2'],
      ['b', '-5'],
      ['c', null],
      ['d', '70'],
    ]);
    const measures = [
      { fn: 'sum' as const, field: 'x', as: 'sum' },
      { fn: 'avg' as const, field: 'x', as: 'avg' },
    ];
    const sort = [{ column: 'sum', descending: true }];
    const found = await aggregate(index(), generation, { groupBy: [{ field: 'g' }], measures, sort });
    expect(found.columns).toMatchObject([{ name: 'g' }, { name: 'sum', type: 'integer', format: 'int64' }, {}]);
    expect(found.rows).toEqual([
      ['a', ABOVE, expect.closeTo(4503599627370496, -1)],
      ['d', '70', 70],
      ['b', '-5', -5],
      ['c', null, null],
    ]);
  });

  test('columns of values have the format of their field', async () => {
    const generation = await loadIntegers(index(), 'int64', [['a', ABOVE]]);
    const { columns, rows } = await aggregate(index(), generation, {
      groupBy: [{ field: 'x' }],
      measures: [
        { fn: 'max', field: 'x', as: 'max' },
        { fn: 'count', as: 'n' },
      ],
    });
    expect(rows).toEqual([[ABOVE, ABOVE, 1]]);
    expect(columns.map(({ format }) => format)).toEqual(['int64', 'int64', undefined]);
  });

  test('sums of random integers have all digits', async () => {
    const integers = fc.array(
      fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -9n, max: 10n ** 15n })),
      { minLength: 1, maxLength: 20 },
    );
    await fc.assert(
      fc.asyncProperty(integers, async (values) => {
        const rows = values.map((value) => ['a', String(value)] as const);
        const { sum } = await sumOf(index(), await loadIntegers(index(), 'int64', rows));
        expect(String(sum)).toBe(String(values.reduce((total, value) => total + value, 0n)));
      }),
      { numRuns: 10 },
    );
  });
}
