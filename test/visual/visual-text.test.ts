import { describe, expect, test } from 'vitest';
import { labelsOf, shortFormat } from '../../src/adapters/chart/text.ts';
import { incompletePeriods } from '../../src/core/visual/incomplete-periods.ts';
import { readableName } from '../../src/core/visual/plan.ts';

describe('dates next to each other are as short as all of them permit', () => {
  test.each([
    ['date', ['2024-01-01', '2025-01-01'], ['2024', '2025']],
    ['date', ['2024-11-01', '2025-01-01', null], ['Nov 2024', 'Jan 2025', '(none)']],
    ['datetime', ['2024-11-04T00:00:00.000Z', '2024-11-11T00:00:00.000Z'], ['Nov 4, 2024', 'Nov 11, 2024']],
    ['datetime', ['2024-11-04T00:00:00.000Z', '2024-11-04T08:30:00.000Z'], ['2024-11-04', '2024-11-04 08:30']],
    ['string', ['2024-01-01', '2025-01-01'], ['2024-01-01', '2025-01-01']],
  ] as const)('%s %j', (type, values, labels) => {
    expect(values.map(labelsOf(values, type))).toEqual(labels);
  });
});

test('numbers next to each other have one unit and one number of digits', () => {
  const format = (values: number[], isScale = false) => values.map(shortFormat(values, isScale));
  expect(format([4_000_000, 3_312_000, 930_000, 12, 0])).toEqual(['4.0M', '3.3M', '0.9M', '12', '0']);
  expect(format([19_800, 2003.07])).toEqual(['19.8K', '2.0K']);
  expect(format([530_000, -20_400])).toEqual(['530K', '-20K']);
  expect(format([0, 500_000, 1_000_000, 1_500_000], true)).toEqual(['0', '0.5M', '1M', '1.5M']);
  expect(format([9999, 12.345])).toEqual(['9,999', '12.35']);
});

test('names of columns become words, and names that a user has spelled stay', () => {
  const names = ['ordered_at', 'orderId', 'total', 'Net amount', 'URL', 'Größe', 'a-b', '_x'];
  expect(names.map(readableName)).toEqual([
    'Ordered at',
    'Order id',
    'Total',
    'Net amount',
    'URL',
    'Größe',
    'A b',
    '_x',
  ]);
});

describe('a period is incomplete when more than a seventh of it is without data at an end', () => {
  const weeks = ['2026-01-05T00:00:00.000Z', '2026-01-12T00:00:00.000Z'];
  test.each([
    ['week', weeks, '2026-01-05T09:00:00Z', '2026-01-18T20:00:00Z', false, false],
    ['week', weeks, '2026-01-07T09:00:00Z', '2026-01-15T20:00:00Z', true, true],
    ['month', ['2026-01-01', '2026-02-01'], '2026-01-02', '2026-02-27', false, false],
    ['month', ['2026-01-01', '2026-02-01'], '2026-01-02', '2026-02-20', false, true],
    ['year', ['2024-01-01'], '2024-06-01', '2024-12-30', true, false],
    ['month', ['2026-01-01', '2026-02-01'], '2026-01-01', '2026-02-01', false, false],
    ['day', [null], null, null, false, false],
  ] as const)('%s', (interval, periods, earliest, latest, first, last) => {
    expect(incompletePeriods(periods, interval, { earliest, latest })).toEqual({ first, last });
  });
});
