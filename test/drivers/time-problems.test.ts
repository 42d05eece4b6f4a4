import { expect, test } from 'vitest';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();
const KEEP = 'Set its type in columns to VARCHAR to keep the texts';
const local = (text: string) => `Times without a zone, such as ${text}, are read as UTC among times with one. ${KEEP}`;
const date = (text: string) =>
  `Dates without a time, such as ${text}, are read as midnight in UTC among times. ${KEEP}`;

test.each<[string[], { line: number; message: string }[]]>([
  [['2025-01-01T10:00:00Z', '2025-01-02T10:00:00'], [{ line: 3, message: local('2025-01-02T10:00:00') }]],
  [['2025-01-01 10:00:00', '2025-01-02 10:00:00+02:00'], [{ line: 2, message: local('2025-01-01 10:00:00') }]],
  [['2025-01-01 10:00:00-05', '', '2025-01-01 10:00'], [{ line: 4, message: local('2025-01-01 10:00') }]],
  [['2025-01-01 10:00:00', '2025-01-02'], [{ line: 3, message: date('2025-01-02') }]],
  [
    ['2025-01-01', '2025-01-02 10:00:00', '2025-01-03 10:00:00Z'],
    [
      { line: 3, message: local('2025-01-02 10:00:00') },
      { line: 2, message: date('2025-01-01') },
    ],
  ],
  [['2025-01-01 10:00:00', '2025-01-02T10:00'], []],
  [['2025-01-01 10:00:00Z', '2025-01-02T10:00:00+02:00'], []],
  [['2025-01-01', '2025-01-02'], []],
])('times of CSV in several forms are reported by their first line: %j', async (values, expected) => {
  const { problems } = await readInProcess(`x,t\n${values.map((value) => `k,${value}\n`).join('')}`);
  expect(problems).toEqual(expected.map((problem) => ({ ...problem, column: 't' })));
});

test('times of JSON in several forms are reported, and declared ones are not', async () => {
  const lines = '{"t":"2025-01-01"}\n{"t":"2025-01-02T10:00:00"}\n{"t":"2025-01-02T10:00:00Z"}\n';
  const { problems } = await readInProcess(lines, {}, 'x.ndjson');
  expect(problems).toEqual([
    { column: 't', message: local('2025-01-02T10:00:00') },
    { column: 't', message: date('2025-01-01') },
  ]);
  const columns = [{ name: 't', type: 'TIMESTAMP' }];
  expect(await readInProcess(lines, { columns }, 'x.ndjson')).toMatchObject({
    problems: [],
    rows: [['2025-01-01T00:00:00.000Z'], ['2025-01-02T10:00:00.000Z'], ['2025-01-02T10:00:00.000Z']],
  });
});
