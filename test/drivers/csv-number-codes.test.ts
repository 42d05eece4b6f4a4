import { expect, test } from 'vitest';
import { xlsxOf } from '../support/zip-archive.ts';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

const problem = (code: string) => ({
  column: 'x',
  message: `Values such as ${code} are read as numbers. Set its type in columns to VARCHAR if they are codes`,
});

test.each<[string[], string | undefined]>([
  [['1e5', '5e3'], '1e5'],
  [['1234567', '7E10', 'NA'], '7E10'],
  [[' 12e3 ', '34'], '12e3'],
  [['1e+30', '2e+5'], undefined],
  [['1.5e3', '2e5'], undefined],
  [['-1e5', '2e5'], undefined],
  [['1e5', '2.5'], undefined],
  [['1.5', '2'], undefined],
  [['1', '2'], undefined],
  [['1.1', '1.10'], '1.10'],
  [['1', '1.9', '1.10', '2.1', 'NA'], '1.10'],
  [['10.20', '10.3', '10.125'], '10.20'],
  [['2.100', '2.10', ' 2.1 '], '2.100'],
  [['4.00638E+12', '4.00639E+12', 'NA'], '4.00638E+12'],
  [['"4,00638E+12"', '"4,00639E+12"'], '4,00638E+12'],
  [['4E+12', '12345'], '4E+12'],
  [['4.00638E+12', '1.5'], undefined],
  [['6.02214E+23', '1.5E+23'], undefined],
  [['1.5E+3', '2E+5'], undefined],
  [['"4,5"', '"1,25"'], undefined],
  // Equally many decimals, floats as programs print them, signs, and long numbers.
  [['1.10', '2.25', '3'], undefined],
  [['1.0', '2.25', '3.5'], undefined],
  [['-1.1', '1.10'], undefined],
  [['12345.1', '12345.10'], undefined],
  [['0.1234', '0.120'], undefined],
])('%j is reported as possible codes: %s', async (values, code) => {
  const { types, problems } = await readInProcess(`id,x\n${values.map((value, i) => `${i},${value}`).join('\n')}\n`);
  expect(types[1]).toMatch(/number|integer/);
  expect(problems).toEqual(code === undefined ? [] : [problem(code)]);
});

test('a declared type has no doubt, nor a given decimal separator', async () => {
  const columns = [{ name: 'x', type: 'VARCHAR' }];
  expect(await readInProcess('x\n1e5\n', { columns })).toMatchObject({ rows: [['1e5']], problems: [] });
  const kept = { rows: [['1.1'], ['1.10']], problems: [] };
  expect(await readInProcess('x\n1.1\n1.10\n', { columns })).toMatchObject(kept);
  expect(await readInProcess('x\n1.1\n1.10\n', { decimal: '.' })).toMatchObject({ rows: [[1.1], [1.1]], problems: [] });
  expect(await readInProcess('x,y\n1e5,2\n', { decimal: '.' })).toMatchObject({ rows: [[100_000, 2]], problems: [] });
});

test('texts of a sheet in cells formatted as numbers are reported as possible codes, and numbers are not', async () => {
  const cell = (text: string) => `<row><c s="1" t="inlineStr"><is><t>${text}</t></is></c><c><v>${text}</v></c></row>`;
  const name = '<row><c t="str"><v>x</v></c><c t="str"><v>n</v></c></row>';
  const sheet = xlsxOf(`${name}${['1.1', '1.10'].map(cell).join('')}`, [], ['0.00']);
  const rows = [
    [1.1, 1.1],
    [1.1, 1.1],
  ];
  expect(await readInProcess(sheet)).toMatchObject({ rows, problems: [problem('1.10')] });
  expect(await readInProcess(sheet, { decimal: '.' })).toMatchObject({ rows, problems: [] });
  const columns = ['x', 'n'].map((column) => ({ name: column, type: 'VARCHAR' }));
  expect(await readInProcess(sheet, { columns })).toMatchObject({
    rows: [
      ['1.1', '1.1'],
      ['1.10', '1.1'],
    ],
    problems: [],
  });
});
