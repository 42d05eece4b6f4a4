import { expect, test } from 'vitest';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import type { DatasetIndex } from '../../src/core/dataset-index.ts';
import type { Field } from '../../src/core/fields.ts';
import { fieldsOf, loadRows, NEVER, selectAllRows } from './generation-fixture.ts';

const field = (name: string, type: Field['type'], format?: Field['format']): Field => ({
  name,
  label: name,
  type,
  ...(format && { format }),
});

/** Tests the profiles of fields that `discover` returns. */
export function profilingContract(index: () => DatasetIndex): void {
  const profile = async (fields: Field[], rows: Record<string, unknown>[], criteria: unknown = {}) => {
    const generation = await loadRows(index(), fields, rows);
    return index().profile(
      { ...selectAllRows(generation), where: parseCriteria(criteria, fieldsOf(generation)) },
      fields.map(({ name }) => name),
      NEVER,
    );
  };
  const emptyProfile = {
    distinct: 0,
    approximate: false,
    min: null,
    max: null,
    avg: null,
    stdDev: null,
    top: [],
    histogram: [],
  };

  test('numbers have an extent, a mean, a population standard deviation and bins of equal width', async () => {
    const {
      total,
      fields: [n],
    } = await profile(
      [field('n', 'integer')],
      [1, 2, 2, 3, 4, null].map((value) => ({ n: value })),
    );
    expect(total).toBe(6);
    expect(n).toEqual({
      name: 'n',
      type: 'integer',
      count: 5,
      missing: 1,
      distinct: 4,
      approximate: false,
      min: 1,
      max: 4,
      avg: 2.4,
      stdDev: expect.closeTo(1.0198039, 6),
      top: [
        { value: 2, count: 2 },
        { value: 1, count: 1 },
        { value: 3, count: 1 },
        { value: 4, count: 1 },
      ],
      histogram: [
        { from: 1, to: 2, count: 1 },
        { from: 2, to: 3, count: 2 },
        { from: 3, to: 4, count: 1 },
        { from: 4, to: 5, count: 1 },
      ],
    });
    const {
      fields: [x],
    } = await profile(
      [field('x', 'number')],
      Array.from({ length: 101 }, (_, i) => ({ x: i / 10 })),
    );
    expect(x!.histogram).toHaveLength(20);
    expect(x!.histogram[0]).toEqual({ from: 0, to: 0.5, count: 5 });
    expect(x!.histogram.at(-1)).toEqual({ from: 9.5, to: 10, count: 6 });
    expect(x!.histogram.reduce((sum, { count }) => sum + count, 0)).toBe(101);
  });

  test('strings and booleans have frequent values, ties in ascending order', async () => {
    const { fields } = await profile(
      [field('s', 'string'), field('b', 'boolean')],
      [
        ['b', true],
        ['a', false],
        ['c', true],
        ['c', null],
        [null, true],
      ].map(([s, b]) => ({ s, b })),
    );
    expect(fields).toEqual([
      {
        ...emptyProfile,
        name: 's',
        type: 'string',
        count: 4,
        missing: 1,
        distinct: 3,
        top: [
          { value: 'c', count: 2 },
          { value: 'a', count: 1 },
          { value: 'b', count: 1 },
        ],
      },
      {
        ...emptyProfile,
        name: 'b',
        type: 'boolean',
        count: 4,
        missing: 1,
        distinct: 2,
        top: [
          { value: true, count: 3 },
          { value: false, count: 1 },
        ],
      },
    ]);
  });

  test('dates have extents and bins of whole days or milliseconds', async () => {
    const {
      fields: [d, t],
    } = await profile(
      [field('d', 'date'), field('t', 'datetime')],
      [
        { d: '2024-01-01', t: '1969-12-31T23:59:59.990Z' },
        { d: '2024-02-09', t: '1970-01-01T00:00:00.009Z' },
      ],
    );
    expect(d).toMatchObject({ min: '2024-01-01', max: '2024-02-09', avg: null, stdDev: null, distinct: 2 });
    expect(d!.histogram).toHaveLength(20);
    expect(d!.histogram[0]).toEqual({ from: '2024-01-01', to: '2024-01-03', count: 1 });
    expect(t!.histogram[0]).toEqual({ from: '1969-12-31T23:59:59.990Z', to: '1969-12-31T23:59:59.991Z', count: 1 });
    expect(t!.histogram.at(-1)).toEqual({ from: '1970-01-01T00:00:00.009Z', to: '1970-01-01T00:00:00.010Z', count: 1 });
  });

  test('exact numbers have exact extents; a field without values has an empty profile', async () => {
    const {
      fields: [big, none],
    } = await profile(
      [field('big', 'integer', 'int64'), field('none', 'number')],
      [
        { big: '9223372036854775807', none: null },
        { big: '5', none: null },
      ],
    );
    expect(big).toMatchObject({
      min: '5',
      max: '9223372036854775807',
      distinct: 2,
      top: [
        { value: '5', count: 1 },
        { value: '9223372036854775807', count: 1 },
      ],
    });
    expect(none).toEqual({ ...emptyProfile, name: 'none', type: 'number', count: 0, missing: 2 });
  });

  test('only matching rows count; json fields and texts list no values', async () => {
    const rows = [
      { n: 1, j: { a: 1 }, t: 'x'.repeat(9000) },
      { n: 2, j: null, t: 'y' },
      { n: 3, j: [1], t: 'z' },
    ];
    const {
      total,
      fields: [n, j, t],
    } = await profile([field('n', 'integer'), field('j', 'json'), field('t', 'text')], rows, {
      $or: [{ n: 1 }, { n: { $gt: 2 } }],
    });
    expect(total).toBe(2);
    expect(n).toMatchObject({
      count: 2,
      min: 1,
      max: 3,
      top: [
        { value: 1, count: 1 },
        { value: 3, count: 1 },
      ],
    });
    expect(j).toMatchObject({ count: 2, distinct: 2, min: null, top: [] });
    expect(t).toMatchObject({ type: 'text', count: 2, distinct: 2, top: [] });
  });

  test('distinct values are counted up to 10,000 and estimated beyond', async () => {
    const {
      fields: [few, many],
    } = await profile(
      [field('few', 'integer'), field('many', 'integer')],
      Array.from({ length: 40_000 }, (_, i) => ({ few: i % 5000, many: i })),
    );
    expect(few).toMatchObject({ distinct: 5000, approximate: false });
    expect(many!.approximate).toBe(true);
    expect(Math.abs(many!.distinct - 40_000)).toBeLessThan(4000);
  });
}
