import { writeFile } from 'node:fs/promises';
import { writeOds } from 'hucre/ods';
import { writeXlsx } from 'hucre/xlsx';
import { expect, test } from 'vitest';
import { openEngine } from '../../src/adapters/drivers/file/file-engine.ts';
import { detectLike } from '../../src/adapters/drivers/file/former-config.ts';
import type { DetectedFile } from '../../src/core/row-source.ts';
import { boundQuery } from '../support/postgres-source.ts';
import { SELECT_ALL, useUploads } from './driver-file-fixture.ts';

const { files } = useUploads();
let written = 0;

type Value = string | number | boolean;
const sheetsOf = (values: Value[]) => [{ name: 'One', rows: [['v', 'x'], ...values.map((value) => [value, 'k'])] }];
const FORMATS = {
  csv: (values: Value[]) => `v;x\n${values.map((value) => `${value};k\n`).join('')}`,
  json: (values: Value[]) => JSON.stringify(values.map((v) => ({ v, x: 'k' }))),
  ndjson: (values: Value[]) => values.map((v) => `${JSON.stringify({ v, x: 'k' })}\n`).join(''),
  xlsx: async (values: Value[]) => new Uint8Array(await writeXlsx({ sheets: sheetsOf(values) })),
  ods: async (values: Value[]) => new Uint8Array(await writeOds({ sheets: sheetsOf(values) })),
};
type Format = keyof typeof FORMATS;

/** Replaces a file of one column by another. Returns the type of the column, its values, and the problems. */
async function replace(format: Format, before: Value[], after: Value[]) {
  const [former, path] = await Promise.all(
    [before, after].map(async (values) => {
      const file = files.path(`former-${written++}`);
      await writeFile(file, await FORMATS[format](values));
      return file;
    }),
  );
  const filename = `x.${format}`;
  const { config: like } = (await openEngine(former!, {}).detectConfig(filename))!;
  const found = (await detectLike(like, {}, (given, from) =>
    openEngine(path!, { ...given }).detectConfig(filename, from),
  )) as DetectedFile;
  const { fields, rows } = await openEngine(path!, found.config).rows(boundQuery(SELECT_ALL), 100);
  const problems = found.problems.map(({ line, message }) =>
    line === undefined ? message : `Line ${line}: ${message}`,
  );
  return { type: fields[0]!.type, values: rows.map(({ v }) => v), problems };
}

const TEXTS: Format[] = ['csv', 'json', 'ndjson', 'xlsx', 'ods'];
const CHANGING: [formats: Format[], before: Value[], after: Value[]][] = [
  [TEXTS, [80331, 90210], ['01067', '80331']],
  [TEXTS, [1, 2], ['+49351', '5']],
  [TEXTS, [1.5, 2.5], ['12E3', '1_000']],
  [TEXTS, [1.5, 2.5], ['1_000', '2']],
  [TEXTS, [true, false], ['t', 'no']],
  [TEXTS, [true, false], ['yes', 'false']],
  [TEXTS, ['2025-01-01'], ['2025-1-5']],
  [
    ['json', 'ndjson', 'xlsx', 'ods'],
    [1, 2],
    ['7', '8'],
  ],
  [
    ['json', 'ndjson', 'xlsx', 'ods'],
    [true, false],
    ['true', 'false'],
  ],
  [['csv'], ['5 €', '6 €'], ['12 $', '13 €']],
  [['csv'], ['13/01/2025'], ['01/02/25']],
];

test.each(CHANGING.flatMap(([formats, ...pair]) => formats.map((format) => [format, ...pair] as const)))(
  'values of %s that the type of %j would change are texts: %j',
  async (format, before, after) => {
    expect(await replace(format, [...before], [...after])).toMatchObject({ type: 'string', values: after });
  },
);

const OTHERS: [formats: Format[], before: Value[], after: Value[], type: string, values: Value[]][] = [
  [TEXTS, [1, 2], [1.5, 3], 'number', [1.5, 3]],
  [TEXTS, [1.5, 2.5], [3, 4], 'number', [3, 4]],
  [['csv'], [true, false], [1, 0], 'integer', [1, 0]],
  [['json', 'ndjson', 'xlsx', 'ods'], [true, false], [1, 0], 'integer', [1, 0]],
  [TEXTS, [true, false], [false, true], 'boolean', [false, true]],
  [TEXTS, ['a', 'b'], [1067, 2], 'string', ['1067', '2']],
  [['csv'], [1, 2], [' 3 ', 4], 'integer', [3, 4]],
  [['csv'], ['1.234.567', '2'], ['1.234,5', '3'], 'number', [1234.5, 3]],
  [['csv'], ['2025-01-01T10:00:00'], ['2025-01-02 11:00:00Z'], 'datetime', ['2025-01-02T11:00:00.000Z']],
];

test.each(OTHERS.flatMap(([formats, ...rest]) => formats.map((format) => [format, ...rest] as const)))(
  'values of %s that replace %j are unchanged: %j',
  async (format, before, after, type, values) => {
    expect(await replace(format, [...before], [...after])).toEqual({ type, values, problems: [] });
  },
);

const SEVERAL = 'The values can be read in several ways, and are read as in the former file, with the';
const DOUBTFUL: [format: Format, before: Value[], after: Value[], type: string, values: Value[], problems: string[]][] =
  [
    [
      'csv',
      ['1.234,56', '2.000,00'],
      ['1.234', '2.345'],
      'number',
      [1234, 2345],
      [`${SEVERAL} decimal ",". Set decimal, or its type in columns`],
    ],
    [
      'csv',
      ['13/01/2025'],
      ['01/02/2025', '12/03/2025'],
      'date',
      ['2025-02-01', '2025-03-12'],
      [`${SEVERAL} dateFormat "%d/%m/%Y". Set dateFormat, or its type in columns`],
    ],
    [
      'csv',
      [1.5, 2.5],
      ['12E3', '7'],
      'number',
      [12000, 7],
      ['Values such as 12E3 are read as numbers. Set its type in columns to VARCHAR if they are codes'],
    ],
    [
      'csv',
      ['2025-01-01 10:00:00'],
      ['2025-01-02 11:00:00', '2025-01-03'],
      'datetime',
      ['2025-01-02T11:00:00.000Z', '2025-01-03T00:00:00.000Z'],
      [
        'Line 3: Dates without a time, such as 2025-01-03, are read as midnight in UTC among times. ' +
          'Set its type in columns to VARCHAR to keep the texts',
      ],
    ],
  ];

test.each(DOUBTFUL)(
  'doubtful values of %s after %j are read like those and reported: %j',
  async (format, before, after, type, values, problems) => {
    expect(await replace(format, before, after)).toEqual({ type, values, problems });
  },
);
