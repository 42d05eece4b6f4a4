import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DatasetIndex, Row } from '../../src/core/dataset-index.ts';
import { arbitraryRow, EVERY_KIND } from '../core/criteria/arbitrary.ts';
import { createColumn, fieldsOf, loadRows, loadTexts, search } from './generation-fixture.ts';

const readValues = async (index: DatasetIndex, generation: Awaited<ReturnType<typeof loadTexts>>, name = 'x') =>
  (await search(index, generation)).rows.map((row) => row[name]);

/** Tests that values come back in the JSON form of their type (docs/contract/datasets.md#fields). */
export function fidelityContract(index: () => DatasetIndex): void {
  test('every text comes back unchanged, with quotes, line ends, blanks and NUL', async () => {
    const texts = [
      '',
      ' ',
      'a,b',
      '"',
      '""',
      'a"b',
      '\n',
      'a\r\nb',
      '\r',
      '\\N',
      '\\',
      'NULL',
      'null',
      '#x',
      'é😀',
      '\u0000',
      'a\u0000b',
      '\t',
      "it's",
      '$1',
      '{{x}}',
      '\uFEFFx',
      ' lead',
      'trail ',
    ];
    const rows = texts.map((text, i) => [String(i), text]);
    const generation = await loadTexts(
      index(),
      [createColumn('n', 'integer'), createColumn('x', 'string')],
      [...rows, ['99', null]],
    );
    expect(await readValues(index(), generation)).toEqual([...texts, null]);
    expect(generation).toMatchObject({ records: texts.length + 1, warnings: [] });
    const alone = await loadTexts(index(), [createColumn('x', 'string')], [[''], [null], ['a'], ['']]);
    expect(await readValues(index(), alone)).toEqual(['', null, 'a', '']);
  });

  test('random rows of every kind come back equal', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 });
    const row = fc.record({
      s: fc.option(text),
      n: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
      i: fc.option(fc.maxSafeInteger()),
      j: fc.option(fc.jsonValue({ maxDepth: 2 })),
      t: fc.option(
        fc
          .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
          .map((at) => at.toISOString()),
      ),
    });
    const kinds = [
      { name: 's', label: 's', type: 'string' as const },
      { name: 'n', label: 'n', type: 'number' as const },
      { name: 'i', label: 'i', type: 'integer' as const },
      { name: 'j', label: 'j', type: 'json' as const },
      { name: 't', label: 't', type: 'datetime' as const },
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 60 }), async (rows) => {
        const generation = await loadRows(index(), kinds, rows);
        // JSON has one zero, and null is the only form of a missing value.
        expect((await search(index(), generation)).rows).toEqual(JSON.parse(JSON.stringify(rows)));
      }),
      { numRuns: 15 },
    );
  });

  test('fields of awkward names and every kind come back under their names', async () => {
    const rows = fc.sample(arbitraryRow(EVERY_KIND), { numRuns: 300, seed: 7 });
    const generation = await loadRows(index(), EVERY_KIND, rows);
    expect(generation.fields.map(({ name, type, format }) => [name, type, format])).toEqual(
      EVERY_KIND.map(({ name, type, format }) => [name, type, format]),
    );
    expect((await search(index(), generation)).rows).toEqual(rows);
  });

  test('a repeated column name is changed to one that no other column has', async () => {
    const generation = await loadTexts(
      index(),
      ['id', 'id', 'id_2', 'ID', '__proto__'].map((name) => createColumn(name, 'integer')),
      [['1', '2', '3', '4', '5']],
    );
    expect(generation.fields.map(({ name }) => name)).toEqual(['id', 'id_3', 'id_2', 'ID', '__proto__']);
    expect((await search(index(), generation)).rows.map((row) => Object.entries(row))).toEqual([
      [
        ['id', 1],
        ['id_3', 2],
        ['id_2', 3],
        ['ID', 4],
        ['__proto__', 5],
      ],
    ]);
  });

  test('dates are days, microseconds are cut, also before 1970', async () => {
    const generation = await loadTexts(
      index(),
      [createColumn('d', 'date'), createColumn('t', 'datetime')],
      [
        ['0001-01-01', '0001-01-01 00:00:00'],
        ['9999-12-31', '9999-12-31 23:59:59.999999+00'],
        ['1969-12-31', '1969-12-31T23:59:59.999999Z'],
        ['2024-02-29', '2024-03-31 02:30:00.123456'],
      ],
    );
    expect((await search(index(), generation)).rows).toEqual([
      { d: '0001-01-01', t: '0001-01-01T00:00:00.000Z' },
      { d: '9999-12-31', t: '9999-12-31T23:59:59.999Z' },
      { d: '1969-12-31', t: '1969-12-31T23:59:59.999Z' },
      { d: '2024-02-29', t: '2024-03-31T02:30:00.123Z' },
    ]);
  });

  test('values without a JSON form are missing, and the generation warns of them', async () => {
    const columns = [
      createColumn('n', 'number'),
      createColumn('p', 'number', { kind: 'decimal', precision: 6, scale: 2 }),
      createColumn('q', 'number', { kind: 'decimal' }),
      createColumn('d', 'date'),
      createColumn('t', 'datetime'),
    ];
    const generation = await loadTexts(index(), columns, [
      ['NaN', 'NaN', 'NaN', 'infinity', '-infinity'],
      ['Infinity', '1.50', 'Infinity', '0044-03-15 BC', '0044-03-15 10:00:00 BC'],
      ['1e400', null, '2.5', '12345-01-01', '12345-01-01 00:00:00+00'],
      ['1', '2', null, '2024-01-01', null],
    ]);
    const none: Row = { n: null, p: null, q: null, d: null, t: null };
    expect((await search(index(), generation)).rows).toEqual([
      none,
      { ...none, p: 1.5 },
      { ...none, q: 2.5 },
      { ...none, n: 1, p: 2, d: '2024-01-01' },
    ]);
    expect(generation.warnings).toEqual([
      'Field "n": 3 values are missing (not a finite number)',
      'Field "p": 1 value is missing (not a finite number)',
      'Field "q": 2 values are missing (not a finite number)',
      'Field "d": 3 values are missing (outside the years 1 to 9999)',
      'Field "t": 3 values are missing (outside the years 1 to 9999)',
    ]);
  });

  test('a json document that is null is a missing value', async () => {
    const generation = await loadTexts(
      index(),
      [createColumn('j', 'json')],
      [['null'], ['[null]'], ['"null"'], [null]],
    );
    expect(await readValues(index(), generation, 'j')).toEqual([null, [null], 'null', null]);
    expect(
      (await search(index(), generation, { where: { kind: 'missing', field: fieldsOf(generation)[0]! }, total: true }))
        .total,
    ).toBe(2);
  });

  test('a string with a value past 8,000 characters is a text; characters are code points', async () => {
    const generation = await loadTexts(
      index(),
      [createColumn('s', 'string'), createColumn('t', 'string'), createColumn('e', 'string')],
      [['x'.repeat(8000), 'x'.repeat(8001), '😀'.repeat(8000)]],
    );
    expect(generation.fields.map(({ type }) => type)).toEqual(['string', 'text', 'string']);
  });

  test('a record of 9 MB is read', async () => {
    const long = 'line\n"x",'.repeat(1_000_000);
    const generation = await loadTexts(
      index(),
      [createColumn('n', 'integer'), createColumn('x', 'string')],
      [
        ['1', 'a'],
        ['2', long],
        ['3', 'b'],
      ],
    );
    const { rows } = await search(index(), generation);
    expect(rows.map(({ n }) => n)).toEqual([1, 2, 3]);
    expect(rows[1]!.x === long).toBe(true);
  });
}
