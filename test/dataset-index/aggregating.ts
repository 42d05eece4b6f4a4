import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseCriteria } from '../../src/core/criteria/parse.ts';
import type { Aggregation, DatasetIndex, Generation, Row } from '../../src/core/dataset-index.ts';
import type { Field } from '../../src/core/fields.ts';
import { arbitraryRow, EVERY_KIND } from '../core/criteria/arbitrary.ts';
import { aggregate, compareValues, fieldsOf, loadRows } from './generation-fixture.ts';

const ROWS = fc.sample(arbitraryRow(EVERY_KIND), { numRuns: 500, seed: 11 });
const GROUPABLE = EVERY_KIND.filter(({ type }) => type !== 'json');
const fieldNamed = (name: string) => EVERY_KIND.find((field) => field.name === name)!;
const valuesOf = (rows: Row[], name: string) => rows.map((row) => row[name]).filter((value) => value !== null);

/** Computes a measure independently of the index. */
function computeMeasure(rows: Row[], { fn, field: name }: Aggregation['measures'][number]): unknown {
  if (name === undefined) return rows.length;
  const values = valuesOf(rows, name);
  const ordered = [...values].sort((a, b) => compareValues(a, b, fieldNamed(name)));
  switch (fn) {
    case 'count':
      return values.length;
    case 'countDistinct':
      return new Set(values).size;
    case 'min':
      return ordered[0] ?? null;
    case 'max':
      return ordered.at(-1) ?? null;
    // Whole numbers are summed as bigints, which is exact.
    case 'sum':
      return values.length === 0 ? null : values.reduce((sum: bigint, value) => sum + BigInt(value as number), 0n);
    case 'avg':
      return values.length === 0
        ? null
        : Number(values.reduce((sum: bigint, value) => sum + BigInt(value as number), 0n)) / values.length;
  }
}

/** Computes groups and their measures independently of the index. */
function computeGroups(rows: Row[], names: string[], measures: Aggregation['measures']): unknown[][] {
  const groups = new Map<string, { key: unknown[]; rows: Row[] }>();
  for (const row of rows) {
    const key = names.map((name) => row[name]);
    const found = groups.get(JSON.stringify(key)) ?? { key, rows: [] };
    found.rows.push(row);
    groups.set(JSON.stringify(key), found);
  }
  const computed = [...groups.values()].map(({ key, rows: members }) => [
    ...key,
    ...measures.map((measure) => computeMeasure(members, measure)),
  ]);
  const isLong = (sum: unknown) => typeof sum === 'bigint' && !Number.isSafeInteger(Number(sum));
  return computed
    .map((row) =>
      row.map((value, i) =>
        typeof value !== 'bigint' ? value : computed.some((one) => isLong(one[i])) ? String(value) : Number(value),
      ),
    )
    .sort((a, b) => names.reduce((order, name, i) => order || compareValues(a[i], b[i], fieldNamed(name)), 0));
}

/** Matches a quotient except for its last digits. */
const closeTo = (value: unknown) =>
  typeof value === 'number' ? expect.closeTo(value, 10 - Math.ceil(Math.log10(Math.abs(value) + 1))) : value;

/** Tests groups and their measures. */
export function aggregatingContract(index: () => DatasetIndex): void {
  let generation: Generation;
  beforeAll(async () => {
    generation = await loadRows(index(), EVERY_KIND, ROWS);
  });

  test('groups by any fields, with a group for missing values, equal an independent computation', async () => {
    const names = fc.uniqueArray(
      fc.constantFrom(...GROUPABLE.filter(({ type }) => type !== 'text').map(({ name }) => name)),
      { minLength: 1, maxLength: 2 },
    );
    const measures: Aggregation['measures'] = [
      { fn: 'count', as: 'n' },
      { fn: 'count', field: 'name', as: 'names' },
      { fn: 'countDistinct', field: 'name', as: 'different' },
      { fn: 'countDistinct', field: 'price', as: 'prices' },
      { fn: 'min', field: 'at', as: 'first' },
      { fn: 'max', field: 'day', as: 'last' },
      { fn: 'max', field: 'price', as: 'dearest' },
      { fn: 'min', field: 'name', as: 'least' },
      { fn: 'count', field: 'COUNT', as: 'big' },
      { fn: 'avg', field: 'count', as: 'mean' },
      { fn: 'sum', field: 'count', as: 'all' },
    ];
    await fc.assert(
      fc.asyncProperty(names, async (by) => {
        const result = await aggregate(index(), generation, {
          groupBy: by.map((field) => ({ field })),
          measures,
          limit: 10_000,
        });
        const expected = computeGroups(ROWS, by, measures);
        expect(result.rows).toEqual(
          expected.map((row) => row.map((value, i) => (result.columns[i]!.name === 'mean' ? closeTo(value) : value))),
        );
        expect(result).toMatchObject({ total: expected.length, truncated: false });
      }),
      { numRuns: 30 },
    );
  });

  test('columns report their names and types', async () => {
    const measures: Aggregation['measures'] = [
      { fn: 'count', as: 'n' },
      { fn: 'sum', field: 'count', as: 's' },
      { fn: 'sum', field: 'a.b', as: 'x' },
      { fn: 'avg', field: 'count', as: 'm' },
      { fn: 'max', field: 'at', as: 't' },
    ];
    expect((await aggregate(index(), generation, { groupBy: [{ field: 'constructor' }], measures })).columns).toEqual([
      { name: 'constructor', label: 'constructor', type: 'boolean' },
      { name: 'n', label: 'n', type: 'integer' },
      { name: 's', label: 's', type: 'integer', format: 'int64' },
      { name: 'x', label: 'x', type: 'number' },
      { name: 'm', label: 'm', type: 'number' },
      { name: 't', label: 't', type: 'datetime' },
    ]);
  });

  test('groups are sorted and limited, and the total counts all of them', async () => {
    const measures: Aggregation['measures'] = [{ fn: 'count', as: 'n' }];
    const all = computeGroups(ROWS, ['name'], measures);
    const expected = [...all].sort(
      (a, b) => (b[1] as number) - (a[1] as number) || compareValues(a[0], b[0], fieldNamed('name')),
    );
    const result = await aggregate(index(), generation, {
      groupBy: [{ field: 'name' }],
      measures,
      sort: [{ column: 'n', descending: true }],
      limit: 3,
    });
    expect(result).toMatchObject({ rows: expected.slice(0, 3), total: all.length, truncated: true });
  });

  test('without groups there is one row, and measures of no rows are missing', async () => {
    const measures: Aggregation['measures'] = [
      { fn: 'count', as: 'n' },
      { fn: 'max', field: 'count', as: 'top' },
    ];
    expect(await aggregate(index(), generation, { measures })).toMatchObject({
      rows: [[500, computeMeasure(ROWS, measures[1]!)]],
      total: 1,
      truncated: false,
    });
    const where = parseCriteria({ name: 'absent' }, fieldsOf(generation));
    expect((await aggregate(index(), generation, { measures, where })).rows).toEqual([[0, null]]);
    expect(await aggregate(index(), generation, { measures, where, groupBy: [{ field: 'name' }] })).toMatchObject({
      rows: [],
      total: 0,
      truncated: false,
    });
  });

  test('sums of decimals have no rounding of doubles', async () => {
    const prices = await loadRows(
      index(),
      [{ name: 'p', label: 'p', type: 'number', format: 'decimal' }],
      Array.from({ length: 10 }, () => ({ p: '0.1' })),
    );
    expect((await aggregate(index(), prices, { measures: [{ fn: 'sum', field: 'p', as: 's' }] })).rows).toEqual([[1]]);
  });

  const loadTimes = (...times: string[]) =>
    loadRows(
      index(),
      [{ name: 'at', label: 'at', type: 'datetime' } satisfies Field],
      times.map((time) => ({ at: time })),
    );
  const groupBy = async (
    times: Generation,
    interval: NonNullable<Aggregation['groupBy'][number]['interval']>,
    timezone?: string,
  ) =>
    (
      await aggregate(index(), times, {
        groupBy: [{ field: 'at', interval, ...(timezone && { timezone }) }],
        measures: [{ fn: 'count', as: 'n' }],
      })
    ).rows;

  test('intervals begin at local times when clocks are set forward', async () => {
    const spring = await loadTimes(
      '2024-03-30T22:59:59.999Z',
      '2024-03-30T23:00:00.000Z',
      '2024-03-31T21:59:59.999Z',
      '2024-03-31T22:00:00.000Z',
    );
    expect(await groupBy(spring, 'day', 'Europe/Berlin')).toEqual([
      ['2024-03-29T23:00:00.000Z', 1],
      ['2024-03-30T23:00:00.000Z', 2],
      ['2024-03-31T22:00:00.000Z', 1],
    ]);
    expect(await groupBy(spring, 'day')).toEqual([
      ['2024-03-30T00:00:00.000Z', 2],
      ['2024-03-31T00:00:00.000Z', 2],
    ]);
    expect(await groupBy(spring, 'month', 'America/New_York')).toEqual([['2024-03-01T05:00:00.000Z', 4]]);
    expect(await groupBy(spring, 'hour', 'Asia/Kolkata')).toEqual([
      ['2024-03-30T22:30:00.000Z', 2],
      ['2024-03-31T21:30:00.000Z', 2],
    ]);
  });

  describe('intervals of times in autumn', () => {
    let autumn: Generation;
    beforeAll(async () => {
      autumn = await loadTimes(
        '2024-10-27T00:30:00.000Z',
        '2024-10-27T01:30:00.000Z',
        '2024-01-07T12:00:00.000Z',
        '2024-01-08T12:00:00.000Z',
      );
    });

    test('hours begin at local times when clocks are set back', async () => {
      expect(await groupBy(autumn, 'hour', 'Europe/Berlin')).toEqual([
        ['2024-01-07T12:00:00.000Z', 1],
        ['2024-01-08T12:00:00.000Z', 1],
        ['2024-10-27T00:00:00.000Z', 1],
        ['2024-10-27T01:00:00.000Z', 1],
      ]);
    });

    test('weeks, quarters and years begin in UTC without a time zone', async () => {
      expect(await groupBy(autumn, 'week')).toEqual([
        ['2024-01-01T00:00:00.000Z', 1],
        ['2024-01-08T00:00:00.000Z', 1],
        ['2024-10-21T00:00:00.000Z', 2],
      ]);
      expect(await groupBy(autumn, 'quarter')).toEqual([
        ['2024-01-01T00:00:00.000Z', 2],
        ['2024-10-01T00:00:00.000Z', 2],
      ]);
      expect(await groupBy(autumn, 'year', 'UTC')).toEqual([['2024-01-01T00:00:00.000Z', 4]]);
    });

    test('an unknown time zone is refused', async () => {
      await expect(groupBy(autumn, 'day', 'Mars/Base')).rejects.toMatchObject({
        status: 400,
        message: 'Unknown time zone "Mars/Base"',
      });
    });
  });

  test('dates are grouped by calendar days in every time zone', async () => {
    const days = await loadRows(
      index(),
      [{ name: 'at', label: 'at', type: 'date' }],
      [{ at: '2024-03-31' }, { at: '2024-04-01' }, { at: null }],
    );
    expect(await groupBy(days, 'month', 'Europe/Berlin')).toEqual([
      ['2024-03-01', 1],
      ['2024-04-01', 1],
      [null, 1],
    ]);
    expect(await groupBy(days, 'hour')).toEqual([
      ['2024-03-31', 1],
      ['2024-04-01', 1],
      [null, 1],
    ]);
  });

  test.each<[Partial<Aggregation>, string]>([
    [{ groupBy: [{ field: 'nope' }] }, 'Unknown field "nope"'],
    [{ measures: [{ fn: 'sum', field: 'nope', as: 's' }] }, 'Unknown field "nope"'],
    [{ measures: [{ fn: 'sum', as: 's' }] }, 'The measure "s" needs a field'],
    [{ measures: [{ fn: 'sum', field: 'name', as: 's' }] }, 'The measure "s" needs a number, and "name" is a string'],
    [{ groupBy: [{ field: 'name', interval: 'day' }] }, 'An interval groups dates, not a string'],
    [
      { measures: [{ fn: 'count', as: 'n' }], sort: [{ column: 'm', descending: false }] },
      'Unknown column "m" in sort',
    ],
  ])('refuses %j', async (asked, message) => {
    await expect(aggregate(index(), generation, asked)).rejects.toMatchObject({ status: 400, message });
  });
}
