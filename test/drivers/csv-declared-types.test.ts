import { writeOds } from 'hucre/ods';
import { writeXlsx } from 'hucre/xlsx';
import { describe, expect, test } from 'vitest';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();
const declare = (...types: (string | object)[]) => ({
  columns: types.map((type, i) => ({ name: 'ab'[i], ...(typeof type === 'string' ? { type } : type) })),
});

describe('declared types', () => {
  test.each<[string, string, object, number, string, string]>([
    ['a word', 'a,b\n1,2\nx,3\n', declare('BIGINT', 'BIGINT'), 3, 'a', '"x" is not a BIGINT'],
    ['the first of several', 'a,b\n1,y\nx,3\n', declare('BIGINT', 'BIGINT'), 2, 'b', '"y" is not a BIGINT'],
    ['a fraction', 'a,b\n1,"2\n"\n\n2,3.5\n', declare('BIGINT', 'BIGINT'), 5, 'b', '"3.5" is not a BIGINT'],
    ['decimals', 'a,b\n1,2\n2,3.55\n', declare('BIGINT', 'DECIMAL(3,1)'), 3, 'b', '"3.55" is not a DECIMAL(3,1)'],
    [
      'a time of day',
      'a,b\r\n1,2024-01-01\r\n2,2024-01-01 10:00\r\n',
      declare('BIGINT', 'DATE'),
      3,
      'b',
      '"2024-01-01 10:00"',
    ],
    ['a blank', 'a,b\n1,\n2, \n', declare('BIGINT', 'BIGINT'), 3, 'b', '" " is not a BIGINT'],
    ['a blank line above', '\na\n1\n\nx\n', declare('BIGINT'), 5, 'a', '"x" is not a BIGINT'],
    ['leading zeros', 'a,b\n1,2\n01067,3\n', declare('BIGINT', 'BIGINT'), 3, 'a', '"01067" is not a BIGINT'],
    ['a plus sign', 'a,b\n+49351,2\n', declare('DOUBLE', 'BIGINT'), 2, 'a', '"+49351" is not a DOUBLE'],
    ['an underscore', 'a,b\n1_000,2\n', declare('DECIMAL(9,1)', 'BIGINT'), 2, 'a', '"1_000" is not a DECIMAL(9,1)'],
    ['small decimals', 'a,b\n1.25e0,2\n', declare('DECIMAL(3,1)', 'BIGINT'), 2, 'a', '"1.25e0" is not a DECIMAL(3,1)'],
    ['a late fraction', 'a,b\n9007199254740993.5,2\n', declare('BIGINT', 'BIGINT'), 2, 'a', '"9007199254740993.5"'],
    ['a read fraction', 'a;b\n1;1,5\n', declare('BIGINT', { type: 'BIGINT', decimal: ',' }), 2, 'b', '"1,5"'],
    [
      'a read time of day',
      'a;b\n1;31.12.2025 10:00\n',
      declare('BIGINT', { type: 'DATE', dateFormat: '%d.%m.%Y %H:%M' }),
      2,
      'b',
      '"31.12.2025 10:00" is not a DATE',
    ],
    [
      'a short year',
      'a;b\n1;31.12.25\n',
      declare('BIGINT', { type: 'DATE', dateFormat: '%d.%m.%Y' }),
      2,
      'b',
      '"31.12.25"',
    ],
    ['another separator', 'a;b\n1;1,5\n2;2.5\n', declare('BIGINT', { type: 'DOUBLE', decimal: ',' }), 3, 'b', '"2.5"'],
    ['lines left out', 'Title\n\na,b\n1,2\n3,x\n', declare('BIGINT', 'BIGINT'), 5, 'b', '"x" is not a BIGINT'],
  ])('%s that does not fit is named with its line', async (_, content, given, line, column, value) => {
    await expect(readInProcess(content, given as Record<string, unknown>)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(`Line ${line} of the file, column "${column}": ${value}`) as string,
    });
  });

  test('values that fit are read', async () => {
    const columns = declare({ type: 'BIGINT', nullValues: ['NA'], trim: true }, { type: 'DECIMAL(3,1)' });
    expect(await readInProcess('a,b\n NA ,1.50\n2 ,\n\u00a03,2e0\n', columns)).toMatchObject({
      rows: [
        [null, 1.5],
        [2, null],
        [3, 2],
      ],
    });
  });

  test.each<[string, string]>([
    ['x.json', '[{"a":"5","b":1},{"a":"007","b":2}]'],
    ['x.ndjson', '{"a":"5","b":1}\n{"a":"007","b":2}\n'],
    ['x.ndjson', '{"a":5,"b":1}\n{"a":7.5,"b":2}\n'],
  ])('a value of %s that would change is named with its record', async (filename, content) => {
    await expect(readInProcess(content, declare('BIGINT', 'BIGINT'), filename)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/^Record 2 of the file, column "a": "(007|7\.5)" is not a BIGINT\. /) as string,
    });
  });

  test.each([
    ['xlsx', writeXlsx],
    ['ods', writeOds],
  ] as const)('a text of %s with leading zeros is not a number', async (format, write) => {
    const rows = ['5', '01067'].map((text) => [text, 1]);
    const content = Buffer.from(await write({ sheets: [{ name: 'One', rows: [['a', 'b'], ...rows] }] }));
    await expect(readInProcess(content, declare('BIGINT', 'BIGINT'), `x.${format}`)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('Record 2 of the file, column "a": "01067" is not a BIGINT') as string,
    });
  });

  test.each<[string, boolean | undefined]>([
    ...['true', 'TRUE', 't', 'yes', 'Yes', 'y', '1'].map((word): [string, boolean] => [word, true]),
    ...['false', 'False', 'f', 'no', 'NO', 'n', '0'].map((word): [string, boolean] => [word, false]),
    ...['2', '-1', '1.0', '01', 'on', 'off', 'x', 'wahr', 'ja', 'tru'].map((word): [string, undefined] => [
      word,
      undefined,
    ]),
  ])('%j in a column of booleans is %j', async (word, value) => {
    const reading = readInProcess(`a,b\n1,${word}\n`, declare('BIGINT', 'BOOLEAN'));
    if (value !== undefined) return expect((await reading).rows).toEqual([[1, value]]);
    await expect(reading).rejects.toThrow(`Line 2 of the file, column "b": "${word}" is not a BOOLEAN`);
  });

  test.each([
    [{ type: 'TIMESTAMP' }, '2024-01-01T10:00:00.1234567Z'],
    [{ type: 'TIMESTAMP' }, '2024-01-01 10:00:00.1230001'],
    [{ type: 'TIMESTAMP', dateFormat: '%d.%m.%Y %H:%M:%S.%n' }, '01.01.2024 10:00:00.123456789'],
  ])('digits that a declared time loses are reported: %j', async (column, text) => {
    const { problems } = await readInProcess(`a,b\n1,${text}\n`, declare('BIGINT', column));
    expect(problems).toEqual([
      {
        column: 'b',
        message: `1 value, such as ${text}, is cut to milliseconds. Set its type in columns to VARCHAR to keep the texts`,
      },
    ]);
  });

  test('texts that a user declares as numbers and booleans are these', async () => {
    const rows = [
      [1, true],
      [2, false],
    ];
    expect(await readInProcess('a,b\n1,yes\n2,0\n', declare('BIGINT', 'BOOLEAN'))).toMatchObject({ rows });
    const lines = '{"a":"1","b":"t"}\n{"a":2,"b":0}\n';
    expect(await readInProcess(lines, declare('BIGINT', 'BOOLEAN'), 'x.ndjson')).toMatchObject({ rows });
  });
});
