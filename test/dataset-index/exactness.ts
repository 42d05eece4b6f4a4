import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Aggregation, DatasetIndex } from '../../src/core/dataset-index.ts';
import type { Storage } from '../../src/core/fields.ts';
import { aggregate, createColumn, loadTexts, NEVER, search, selectAllRows } from './generation-fixture.ts';

async function loadNumbers(index: DatasetIndex, storage: Storage, texts: (string | null)[]) {
  const type = storage.kind === 'int64' || storage.kind === 'uint64' ? 'integer' : 'number';
  const generation = await loadTexts(
    index,
    [createColumn('x', type, storage)],
    texts.map((text) => [text]),
  );
  return { format: generation.fields[0]!.format, values: (await search(index, generation)).rows.map(({ x }) => x) };
}

/** Returns the digits without trailing zeros. */
const canonical = (digits: string) => (digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits);

/** Tests that a number that JSON would round is returned as its exact digits, and so is its whole field. */
export function exactnessContract(index: () => DatasetIndex): void {
  test('integers are numbers up to the safe ones and exact strings beyond', async () => {
    expect(await loadNumbers(index(), { kind: 'int64' }, ['9007199254740991', '-9007199254740991', null])).toEqual({
      format: undefined,
      values: [9007199254740991, -9007199254740991, null],
    });
    expect(await loadNumbers(index(), { kind: 'int64' }, ['9223372036854775807', '-1', null])).toEqual({
      format: 'int64',
      values: ['9223372036854775807', '-1', null],
    });
    expect(await loadNumbers(index(), { kind: 'uint64' }, ['18446744073709551615', '0'])).toEqual({
      format: 'int64',
      values: ['18446744073709551615', '0'],
    });
    expect(await loadNumbers(index(), { kind: 'uint64' }, ['5'])).toEqual({ format: undefined, values: [5] });
  });

  test('decimals are numbers if each prints unchanged as a double, and exact strings otherwise', async () => {
    expect(
      await loadNumbers(index(), { kind: 'decimal', precision: 12, scale: 2 }, ['1.10', '-9999999999.99', '0.00']),
    ).toEqual({ format: undefined, values: [1.1, -9999999999.99, 0] });
    expect(
      await loadNumbers(index(), { kind: 'decimal', precision: 38, scale: 18 }, ['0.1', '1234.5678', '-0.3']),
    ).toEqual({
      format: undefined,
      values: [0.1, 1234.5678, -0.3],
    });
    expect(
      await loadNumbers(index(), { kind: 'decimal', precision: 20, scale: 1 }, ['900719925474099.3', '1.0']),
    ).toEqual({
      format: 'decimal',
      values: ['900719925474099.3', '1'],
    });
    expect(await loadNumbers(index(), { kind: 'decimal' }, ['1.50', '100', null])).toEqual({
      format: undefined,
      values: [1.5, 100, null],
    });
    expect(await loadNumbers(index(), { kind: 'decimal' }, ['12345678901234567890.12', '100', '-0.5'])).toEqual({
      format: 'decimal',
      values: ['12345678901234567890.12', '100', '-0.5'],
    });
    expect(await loadNumbers(index(), { kind: 'decimal' }, [null, null])).toEqual({
      format: undefined,
      values: [null, null],
    });
  });

  test('digits past every decimal type are stored exactly and sorted as numbers', async () => {
    const long = `${'1234567890'.repeat(6)}.5`;
    const generation = await loadTexts(
      index(),
      [createColumn('x', 'number', { kind: 'decimal' })],
      [[long], ['9'], ['-0.25'], ['10']],
    );
    expect(
      (await search(index(), generation, { sort: [{ field: 'x', descending: false }] })).rows.map(({ x }) => x),
    ).toEqual(['-0.25', '9', '10', long]);
  });

  const measuresOf = async (storage: Storage, texts: string[]) => {
    const type = storage.kind === 'int64' || storage.kind === 'uint64' ? 'integer' : 'number';
    const generation = await loadTexts(
      index(),
      [createColumn('x', type, storage), createColumn('g', 'string')],
      texts.map((text) => [text, 'one']),
    );
    const measures: Aggregation['measures'] = [
      { fn: 'sum', field: 'x', as: 'sum' },
      { fn: 'avg', field: 'x', as: 'avg' },
    ];
    const found = [];
    for (const groupBy of [[], [{ field: 'g' }]])
      found.push((await aggregate(index(), generation, { groupBy, measures })).rows[0]!.slice(-2));
    expect(found[0]).toEqual(found[1]);
    const { fields } = await index().profile(selectAllRows(generation), ['x'], NEVER);
    const { avg, stdDev, histogram } = fields[0]!;
    return { sum: found[0]![0], mean: found[0]![1], avg, stdDev, bins: histogram.length };
  };
  const MAX = Number.MAX_VALUE;

  test.each<[string, Storage, string[], Awaited<ReturnType<typeof measuresOf>>]>([
    [
      'one value at the end of the doubles',
      { kind: 'float64' },
      [`${-MAX}`, '1', '2', '3'],
      { sum: -MAX, mean: -MAX / 4, avg: -MAX / 4, stdDev: expect.closeTo(MAX * (Math.sqrt(3) / 4), -294), bins: 20 },
    ],
    [
      'a sum past them',
      { kind: 'float64' },
      [`${MAX}`, `${MAX}`, '0'],
      {
        sum: null,
        mean: null,
        avg: expect.closeTo((MAX / 3) * 2, -294),
        stdDev: expect.closeTo((MAX / 3) * Math.SQRT2, -294),
        bins: 20,
      },
    ],
    [
      'squares past them',
      { kind: 'float64' },
      ['3e180', '-3e180'],
      { sum: 0, mean: 0, avg: 0, stdDev: 3e180, bins: 20 },
    ],
    [
      'equal values',
      { kind: 'float64' },
      [`${MAX}`, `${MAX}`],
      { sum: null, mean: null, avg: MAX, stdDev: 0, bins: 1 },
    ],
    [
      'a width below them',
      { kind: 'float64' },
      ['0', '5e-324'],
      {
        sum: 5e-324,
        mean: expect.closeTo(0) as number,
        avg: expect.closeTo(0) as number,
        stdDev: expect.closeTo(0) as number,
        bins: 0,
      },
    ],
    [
      'digits past them',
      { kind: 'decimal' },
      ['9'.repeat(401), '1', '2'],
      { sum: null, mean: null, avg: null, stdDev: null, bins: 0 },
    ],
    [
      'digits past them with an exponent',
      { kind: 'decimal' },
      ['-1e400', '1'],
      { sum: null, mean: null, avg: null, stdDev: null, bins: 0 },
    ],
  ])('an aggregate of %s is a number or missing', async (_, storage, texts, expected) => {
    expect(await measuresOf(storage, texts)).toEqual(expected);
  });

  test('numbers inside JSON that would lose digits are texts with all digits, also where a type is kept', async () => {
    const documents = [
      '{"id":9007199254740993,"d":1234567890123.4567,"s":"9007199254740993","x":1.50}',
      '[18446744073709551616,-0.5,1e400]',
      '9007199254740993',
      '{"plain":1}',
      null,
    ];
    const expected = [
      { id: '9007199254740993', d: '1234567890123.4567', s: '9007199254740993', x: 1.5 },
      ['18446744073709551616', -0.5, '1e400'],
      '9007199254740993',
      { plain: 1 },
      null,
    ];
    const rows = documents.map((text) => [text]);
    const json = await loadTexts(index(), [createColumn('x', 'json', { kind: 'json' })], rows);
    expect((await search(index(), json)).rows.map(({ x }) => x)).toEqual(expected);
    const kept = { keepTypes: [{ name: 'x', label: 'x', type: 'json' as const }] };
    const converted = await loadTexts(index(), [createColumn('x', 'string')], rows, kept);
    expect((await search(index(), converted)).rows.map(({ x }) => x)).toEqual(expected);
  });

  test('random decimals keep their value', async () => {
    const digits = fc
      .tuple(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), fc.integer({ min: 0, max: 12 }))
      .map(([n, scale]) => {
        const text = (n < 0n ? -n : n).toString().padStart(scale + 1, '0');
        const whole = text.slice(0, text.length - scale);
        const fraction = scale > 0 ? `.${text.slice(text.length - scale)}` : '';
        return `${n < 0n ? '-' : ''}${whole}${fraction}`;
      });
    const short = fc
      .tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.integer({ min: 0, max: 6 }))
      .map(([n, scale]) => (n / 10 ** scale).toFixed(scale));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(short, short, short, digits), { minLength: 1, maxLength: 8 }),
        async (texts) => {
          const { format, values } = await loadNumbers(index(), { kind: 'decimal' }, texts);
          const isRounded = texts.some(
            (text) => canonical(text).replace(/^-0$/, '0') !== canonical(printDigits(Number(text))),
          );
          expect(format).toBe(isRounded ? 'decimal' : undefined);
          const expected = texts.map((text) => canonical(text).replace(/^-(?=0$)/, ''));
          expect(values).toEqual(isRounded ? expected : expected.map(Number));
        },
      ),
      { numRuns: 25 },
    );
  });
}

/** Prints a double's shortest digits without an exponent. */
function printDigits(value: number): string {
  const [digits = '', exponent] = String(value).split('e');
  if (exponent === undefined) return digits === '-0' ? '0' : digits;
  const [whole = '', fraction = ''] = digits.replace('-', '').split('.');
  const shift = Number(exponent);
  const sign = value < 0 ? '-' : '';
  if (shift < 0) return `${sign}0.${'0'.repeat(-shift - 1)}${whole}${fraction}`;
  return `${sign}${whole}${fraction.padEnd(shift, '0')}`;
}
