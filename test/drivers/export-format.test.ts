import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { readXlsx } from 'hucre/xlsx';
import { describe, expect, test } from 'vitest';
import { EXPORT_ENCODERS } from '../../src/adapters/export-format/encoders.ts';
import { xlsxEncoder } from '../../src/adapters/export-format/xlsx.ts';
import { zipArchive } from '../../src/adapters/export-format/zip.ts';
import type { Row } from '../../src/core/dataset-index.ts';
import { EXPORT_FORMATS, type ExportEncoder } from '../../src/core/export-format.ts';
import type { Field } from '../../src/core/fields.ts';
import { arbitraryRow, EVERY_KIND } from '../core/criteria/arbitrary.ts';
import { readBack } from '../support/export-readers.ts';

const field = (name: string, type: Field['type'], format?: Field['format']): Field => ({
  name,
  label: `The ${name}`,
  type,
  ...(format && { format }),
});

async function* inBatches(rows: readonly Row[], size: number): AsyncGenerator<Row[]> {
  for (let at = 0; at < rows.length; at += size) yield rows.slice(at, at + size);
}

async function encodeFile(
  encoder: ExportEncoder,
  fields: readonly Field[],
  rows: readonly Row[],
  size = 100,
  title = 'Data',
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of encoder.encode(fields, inBatches(rows, size), title))
    pieces.push(Buffer.from(piece as string));
  return Buffer.concat(pieces);
}

/** The most characters of a cell in Excel. */
const MAX_CELL_CHARACTERS = 32_767;

/** Returns the row as a workbook returns it: long texts are cut. */
const cutForExcel = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' && value.length > MAX_CELL_CHARACTERS
        ? `${value.slice(0, MAX_CELL_CHARACTERS - 1)}…`
        : value,
    ]),
  );

describe.each(EXPORT_FORMATS)('%s', (format) => {
  const encoder = EXPORT_ENCODERS[format];
  const roundTrip = async (fields: readonly Field[], rows: readonly Row[], size?: number) =>
    (await readBack(format, await encodeFile(encoder, fields, rows, size), fields)).rows;

  test('rows of every kind come back equal, under the names of their fields', async () => {
    const rows = fc.sample(arbitraryRow(EVERY_KIND), { numRuns: 300, seed: 11 });
    const { names, rows: found } = await readBack(format, await encodeFile(encoder, EVERY_KIND, rows), EVERY_KIND);
    expect(names).toEqual(EVERY_KIND.map(({ name }) => name));
    expect(found).toEqual(format === 'xlsx' ? rows.map(cutForExcel) : rows);
  });

  test('any texts, numbers and moments come back', async () => {
    const fields = [
      field('s', 'string'),
      field('n', 'number'),
      field('i', 'integer'),
      field('t', 'datetime'),
      field('d', 'date'),
    ];
    const moment = (min: string) =>
      fc.date({ min: new Date(min), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });
    const row = fc.record({
      s: fc.option(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 20 }),
          fc.string({
            unit: fc.constantFrom('_', 'x', '0', '4', '1', '\u0001', '\r', '\uFFFE', '<', '&', ']', '"', '\n', ' '),
            maxLength: 30,
          }),
        ),
      ),
      n: fc.option(
        fc
          .double({ noNaN: true, noDefaultInfinity: true, min: -9e307, max: 9e307 })
          .filter((n) => n === 0 || Math.abs(n) > 1e-307)
          .map((n) => n || 0),
      ),
      i: fc.option(fc.maxSafeInteger()),
      t: fc.option(moment('0001-01-01').map((at) => at.toISOString())),
      d: fc.option(moment('0001-01-01').map((at) => at.toISOString().slice(0, 10))),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 40 }), async (rows) => {
        // Text is UTF-8 in every format, which excludes half a surrogate pair.
        const written = rows.map((each) => ({ ...each, s: each.s?.toWellFormed() ?? null }));
        expect(await roundTrip(fields, written, 7)).toEqual(written);
      }),
      { numRuns: 40 },
    );
  });

  test('columns without any value, and a single row, come back', async () => {
    const nothing = Object.fromEntries(EVERY_KIND.map(({ name }) => [name, null]));
    // A sheet does not store how many empty rows it ends with.
    const last = { ...nothing, name: 'last' };
    expect(await roundTrip(EVERY_KIND, [nothing, nothing, last])).toEqual([nothing, nothing, last]);
    const one = fc.sample(arbitraryRow(EVERY_KIND), { numRuns: 1, seed: 3 });
    expect(await roundTrip(EVERY_KIND, one)).toEqual(one);
  });

  test('without rows there is a header where the format has one, and without fields still a file', async () => {
    const { names, rows } = await readBack(format, await encodeFile(encoder, EVERY_KIND, []), EVERY_KIND);
    expect(rows).toEqual([]);
    expect(names).toEqual(format === 'json' || format === 'ndjson' ? [] : EVERY_KIND.map(({ name }) => name));
    const empty = await encodeFile(encoder, [], []);
    // DuckDB refuses a file without columns.
    if (format === 'parquet')
      expect([empty.subarray(0, 4).toString(), empty.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1']);
    else expect((await readBack(format, empty, [])).rows).toEqual([]);
  });

  test('numbers of 64 bits come back to the last digit, signed and unsigned', async () => {
    const fields = [field('signed', 'integer', 'int64'), field('unsigned', 'integer', 'int64')];
    const rows = [
      ['-9223372036854775808', '0'],
      ['9223372036854775807', '9223372036854775807'],
      [null, null],
      ['-1', '18446744073709551615'],
    ].map(([signed, unsigned]) => ({ signed, unsigned }));
    expect(await roundTrip(fields, rows)).toEqual(rows);
  });

  test('rows of several batches come back in order', async () => {
    const fields = [field('n', 'integer'), field('s', 'string')];
    const rows = Array.from({ length: 45_000 }, (_, n) => ({ n, s: n % 3 ? `row ${n}` : null }));
    expect(await roundTrip(fields, rows, 2048)).toEqual(rows);
  });

  test('batches are requested only when pieces are', async () => {
    let requested = 0;
    const batch = Array.from({ length: 1000 }, (_, n) => ({ n, s: `${n}-${Math.random()}`.repeat(20) }));
    async function* endless() {
      for (;;) {
        requested += 1;
        yield batch;
      }
    }
    const file = encoder.encode([field('n', 'integer'), field('s', 'string')], endless(), 'Data');
    const pieces = file[Symbol.asyncIterator]();
    let seen = 0;
    for (let taken = 0; taken < 200 && seen < 3; taken++) {
      const before = requested;
      await pieces.next();
      // The buffers of the streams between them are soon full.
      await expect
        .poll(async () => {
          const after = requested;
          await new Promise((resolve) => {
            setTimeout(resolve, 5);
          });
          return requested - after;
        })
        .toBe(0);
      if (requested > before) seen += 1;
      // A row group of Parquet is about 8 MB of rows, a piece of a sheet 256 K characters.
      expect(requested - before).toBeLessThanOrEqual(60);
    }
    expect(seen).toBe(3);
    await pieces.return?.();
  });

  test('memory does not grow with the rows', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const fields = Array.from({ length: 30 }, (_, i) =>
      field(`column ${i}`, (['string', 'integer', 'number', 'datetime'] as const)[i % 4]!),
    );
    const value = (n: number, i: number) =>
      [`text ${n % 977} of ${i}`, n * i, n / 7 + i, new Date(1.7e12 + n * 1e5).toISOString()][i % 4];
    const text = JSON.stringify(
      Array.from({ length: 1000 }, (_, n) => Object.fromEntries(fields.map(({ name }, i) => [name, value(n, i)]))),
    );
    const used = () => {
      collect();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    const measured: number[] = [];
    async function* batches() {
      for (let n = 0; n < 300; n++) {
        if (n % 50 === 25) measured.push(used());
        yield JSON.parse(text) as Row[];
      }
    }
    const base = used();
    let length = 0;
    for await (const piece of encoder.encode(fields, batches(), 'Data')) length += piece.length;
    expect(measured).toHaveLength(6);
    expect(Math.max(...measured) - base).toBeLessThan(60e6);
    // The second half does not use more than the first.
    expect(Math.max(...measured.slice(3)) - Math.max(...measured.slice(0, 3))).toBeLessThan(15e6);
    expect(length).toBeGreaterThan(format === 'parquet' ? 5e6 : 20e6);
  });
});

describe('a workbook', () => {
  const FIELDS = [
    field('id', 'integer'),
    field('amount', 'number'),
    field('day', 'date'),
    field('moment', 'datetime'),
    field('a name that is longer than its values', 'boolean'),
  ];
  const ROW = { id: 1, amount: 1234.5, day: '2026-01-31', moment: '2026-01-31T08:00:00.000Z' };

  test('has a bold header, a filter, a frozen header, column widths and formats', async () => {
    const bytes = await encodeFile(EXPORT_ENCODERS.xlsx, FIELDS, [ROW, ROW], 100, 'Sales');
    const [sheet] = (await readXlsx(bytes, { readStyles: true })).sheets;
    expect(sheet).toMatchObject({ name: 'Sales', autoFilter: { range: 'A1:E3' }, freezePane: { rows: 1 } });
    expect(sheet!.columns!.map(({ width }) => width)).toEqual([12, 16, 12, 25, 41]);
    const styleAt = (row: number, column: number) => sheet!.cells!.get(`${row},${column}`)?.style;
    expect([0, 1, 2, 3, 4].map((column) => styleAt(0, column)?.font?.bold)).toEqual([true, true, true, true, true]);
    expect([0, 1, 2, 3].map((column) => styleAt(1, column)?.numFmt)).toEqual([
      '0',
      '#,##0.00########',
      'yyyy\\-mm\\-dd',
      'yyyy\\-mm\\-dd\\ hh:mm:ss.000',
    ]);
    expect(styleAt(1, 0)?.font?.bold ?? false).toBe(false);
  });

  test.each([
    ['Sales & "more" <2026>', 'Sales & "more" <2026>'],
    ['a/b\\c?d*e[f]:g', 'a b c d e f  g'],
    [`'quoted'`, 'quoted'],
    ['History', 'Data'],
    [' ', 'Data'],
    ['x'.repeat(40), 'x'.repeat(31)],
    [`${'x'.repeat(30)}🦆`, 'x'.repeat(30)],
  ])('a dataset %j is a sheet %j', async (title, name) => {
    const { sheets } = await readXlsx(
      await encodeFile(xlsxEncoder({ rows: 2, characters: 1e9 }), FIELDS, [ROW, ROW], 100, title),
    );
    expect(sheets.map((sheet) => sheet.name)).toEqual([name, `${name.slice(0, 29)} 2`]);
  });

  const readCells = async (rows: unknown[]) =>
    (
      await readXlsx(
        await encodeFile(
          EXPORT_ENCODERS.xlsx,
          [field('x', 'string')],
          rows.map((x) => ({ x })),
        ),
      )
    ).sheets[0]!.rows.slice(1).map(([cell]) => cell);

  test('has further sheets with the header when there are too many rows for one', async () => {
    const rows = Array.from({ length: 7 }, (_, n) => ({ n }));
    const { sheets } = await readXlsx(
      await encodeFile(xlsxEncoder({ rows: 4, characters: 1e9 }), [field('n', 'integer')], rows, 2),
    );
    expect(sheets.map(({ name, rows: found }) => [name, found])).toEqual([
      ['Data', [['n'], [0], [1], [2]]],
      ['Data 2', [['n'], [3], [4], [5]]],
      ['Data 3', [['n'], [6]]],
    ]);
    const full = await readXlsx(
      await encodeFile(xlsxEncoder({ rows: 4, characters: 1e9 }), [field('n', 'integer')], rows.slice(0, 6), 2),
    );
    expect(full.sheets.map(({ name }) => name)).toEqual(['Data', 'Data 2']);
    const long = await readXlsx(
      await encodeFile(
        xlsxEncoder({ rows: 1e6, characters: 1e6 }),
        [field('s', 'string')],
        Array.from({ length: 100 }, () => ({ s: 'x'.repeat(30_000) })),
      ),
    );
    expect(long.sheets.map(({ rows: found }) => found.length)).toEqual([35, 35, 33]);
  });

  test('that is abandoned between two sheets ends', async () => {
    const next = Promise.withResolvers<void>();
    let hasEnded = false;
    const archive = zipArchive(
      (async function* () {
        try {
          yield { path: 'first', texts: ['1'] };
          await next.promise;
          yield { path: 'second', texts: ['2'] };
        } finally {
          hasEnded = true;
        }
      })(),
    );
    await archive.next();
    const returned = archive.return(undefined);
    next.resolve();
    await returned;
    expect(hasEnded).toBe(true);
  });

  test('never contains a formula, and cuts texts that Excel refuses between characters', async () => {
    const texts = [
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      "=cmd|' /C calc'!A0",
      ' ',
      '_x0041_',
      '_x0041_x0042_',
      '_x0041\u0001',
      '_x005F_',
    ];
    expect(await readCells(texts)).toEqual(texts);
    expect(await readCells(['x'.repeat(40_000), '😀'.repeat(20_000), 'x'.repeat(32_767)])).toEqual([
      `${'x'.repeat(32_766)}…`,
      `${'😀'.repeat(16_383)}…`,
      'x'.repeat(32_767),
    ]);
  });

  test('stores as text what its calendar or its numbers cannot represent', async () => {
    const fields = [field('d', 'date'), field('t', 'datetime'), field('n', 'number')];
    const rows = [
      { d: '1900-02-28', t: '1899-12-31T23:00:00.000Z', n: 1.7e308 },
      { d: '1900-03-01', t: '1900-03-01T00:00:00.001Z', n: -5e-324 },
    ];
    const [, first, second] = (await readXlsx(await encodeFile(EXPORT_ENCODERS.xlsx, fields, rows))).sheets[0]!.rows;
    expect(first).toEqual(['1900-02-28', '1899-12-31T23:00:00.000Z', '1.7e+308']);
    expect(second).toEqual([new Date('1900-03-01'), new Date('1900-03-01T00:00:00.001Z'), '-5e-324']);
  });

  test('is refused for more columns than a sheet has', () => {
    const fields = Array.from({ length: 16_385 }, (_, i) => field(`c${i}`, 'integer'));
    expect(() => EXPORT_ENCODERS.xlsx.check!(fields)).toThrow('16384');
    expect(EXPORT_ENCODERS.xlsx.check!(fields.slice(1))).toBeUndefined();
  });
});
