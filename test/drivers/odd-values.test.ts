import { describe, expect, test } from 'vitest';
import { xlsxOf } from '../support/zip-archive.ts';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

const numbers = Array.from({ length: 400 }, (_, i) => i + 1);
const dates = numbers.map((n) => `20${10 + (n % 80)}-01-15`);
const odd = (most: string, text: string) => ({
  column: 'v',
  message: `Most values are ${most}, but "${text}" is not, so the column is text. Set nullValues, or its type in columns`,
});

describe('a text among numbers or dates is reported wherever it is in the column', () => {
  test.each<[string, (number | string)[], object[]]>([
    ['the last of 401 values', [...numbers, 'unknown'], [odd('numbers', 'unknown')]],
    ['the first', ['unknown', ...numbers], [odd('numbers', 'unknown')]],
    ['the last of 401 dates', [...dates, 'unknown'], [odd('dates', 'unknown')]],
    ['many texts', [...numbers.slice(0, 5), 'a', 'b', 'c'], []],
  ])('%s', async (_, values, problems) => {
    const rows = values.map((value) => [String(value), 'x']);
    const csv = await readInProcess(`v,t\n${rows.map((row) => row.join(',')).join('\n')}\n`);
    expect(csv).toMatchObject({ types: ['v string', 't string'], rows, problems });
    const json = await readInProcess(JSON.stringify(values.map((v) => ({ v, t: 'x' }))), {}, 'x.json');
    expect(json).toMatchObject({ types: ['v string', 't string'], rows, problems });
  });

  test('in a workbook', async () => {
    const text = (value: string) => `<row><c t="str"><v>${value}</v></c></row>`;
    const cells = numbers.map((n) => `<row><c><v>${n}</v></c></row>`).join('');
    const { problems } = await readInProcess(xlsxOf(text('v') + cells + text('unknown')));
    expect(problems).toEqual([odd('numbers', 'unknown')]);
  });
});
