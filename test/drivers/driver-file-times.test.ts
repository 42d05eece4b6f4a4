import { describe, expect, test } from 'vitest';
import { useUploads } from './driver-file-fixture.ts';

const { readInProcess } = useUploads();

const declared = (type: string, dateFormat?: string) => ({
  columns: [{ name: 'v', type, ...(dateFormat !== undefined && { dateFormat }) }],
});

describe('a declared TIMESTAMP is UTC where the text has no zone, in any order of the rows', () => {
  const texts = [
    '2024-01-01 10:00:00 America/New_York',
    '2024-01-01 10:00:00',
    '2024-01-02',
    '2024-01-01T10:00:00+02:00',
  ];
  const times = [
    '2024-01-01T15:00:00.000Z',
    '2024-01-01T10:00:00.000Z',
    '2024-01-02T00:00:00.000Z',
    '2024-01-01T08:00:00.000Z',
  ];

  test.each([
    [0, 1, 2, 3],
    [1, 0, 2, 3],
    [3, 2, 1, 0],
    [0, 2, 0, 1],
  ])('%j %j %j %j', async (...order) => {
    const rows = order.map((i) => [times[i]]);
    const written = order.map((i) => texts[i]!);
    const csv = await readInProcess(`v\n${written.join('\n')}\n`, declared('TIMESTAMP'));
    expect(csv.rows).toEqual(rows);
    const json = JSON.stringify(written.map((v) => ({ v })));
    expect((await readInProcess(json, declared('TIMESTAMP'), 'x.json')).rows).toEqual(rows);
  });
});

describe('a text that is not one date or time of a declared type is refused', () => {
  test.each([
    ['DATE', '24-01-05'],
    ['DATE', '5-1-24'],
    ['DATE', 'epoch'],
    ['DATE', '2024-01-05 and more'],
    ['DATE', '2024-01-05 10:00:00 Europe/Berlin'],
    ['TIMESTAMP', '24-01-05'],
    ['TIMESTAMP', '24-01-05 10:00:00'],
    ['TIMESTAMP', '2024-01-05 10:00:00+01:60'],
    ['TIMESTAMP', '2024-01-05 10:00:00-25:00'],
    ['TIMESTAMP', '2024-07-01 10:00:00 BST'],
    ['TIMESTAMP', '2024-07-01 10:00:00 CET'],
    ['TIMESTAMP', '2024-03-31 02:30:00 Europe/Berlin'],
    ['TIMESTAMP', '2024-10-27 02:30:00 Europe/Berlin'],
    ['TIMESTAMP', '2024-01-05 10:00:00 Nowhere/City'],
    ['DATE', '2023-366', '%Y-%j'],
    ['DATE', '2023-000', '%Y-%j'],
    ['DATE', '2023-W53-1', '%G-W%V-%u'],
    ['DATE', '2024 53', '%Y %U'],
    ['DATE', '2024 00 1', '%Y %W %w'],
    ['DATE', 'Mon 2024-01-05', '%a %Y-%m-%d'],
    ['DATE', '24-01-05', '%d.%m.%Y'],
    ['TIMESTAMP', '2023-366 10:00', '%Y-%j %H:%M'],
    ['TIMESTAMP', '2024-01-05 10:00 -25:00', '%Y-%m-%d %H:%M %z'],
    ['TIMESTAMP', '2024-01-05 10:00 +01:60', '%Y-%m-%d %H:%M %z'],
    ['TIMESTAMP', '2024-07-01 10:00 BST', '%Y-%m-%d %H:%M %Z'],
    ['TIMESTAMP', '2024-07-01 10:00 CET', '%Y-%m-%d %H:%M %Z'],
    ['TIMESTAMP', '2024-03-31 02:30 Europe/Berlin', '%Y-%m-%d %H:%M %Z'],
    ['TIMESTAMP', '2024-10-27 02:30 Europe/Berlin', '%Y-%m-%d %H:%M %Z'],
  ])('%s %s %s', async (type, text, format?: string) => {
    const message = expect.stringContaining(`column "v": ${JSON.stringify(text)} is not a ${type}.`);
    const given = declared(type, format);
    await expect(readInProcess(`v\n${text}\n`, given)).rejects.toMatchObject({ status: 400, message });
    const json = JSON.stringify([{ v: text }]);
    await expect(readInProcess(json, given, 'x.json')).rejects.toMatchObject({ status: 400, message });
  });
});

test.each([
  ['DATE', '2024-01-05', '2024-01-05'],
  ['DATE', '2024-01-05 00:00', '2024-01-05'],
  ['DATE', '0024-01-05', '0024-01-05'],
  ['TIMESTAMP', '2024-01-05 10:00:00+05:30', '2024-01-05T04:30:00.000Z'],
  ['TIMESTAMP', '2024-01-05 10:00:00 UTC', '2024-01-05T10:00:00.000Z'],
  ['TIMESTAMP', '2024-07-01 10:00:00 Europe/Berlin', '2024-07-01T08:00:00.000Z'],
  ['DATE', '2024-366', '2024-12-31', '%Y-%j'],
  ['DATE', '2020-W53-1', '2020-12-28', '%G-W%V-%u'],
  ['DATE', 'fri 5. January 2024', '2024-01-05', '%a %d. %B %Y'],
  ['TIMESTAMP', 'Fri 05/Jan/2024:01:00:00 -0500', '2024-01-05T06:00:00.000Z', '%a %d/%b/%Y:%H:%M:%S %z'],
  ['TIMESTAMP', '2024-366 3:05:07.5 PM', '2024-12-31T15:05:07.500Z', '%Y-%j %I:%M:%S.%f %p'],
  ['TIMESTAMP', '2024-07-01 10:00 Europe/Berlin', '2024-07-01T08:00:00.000Z', '%Y-%m-%d %H:%M %Z'],
  ['TIMESTAMP', '10:00 GMT 2024-07-01', '2024-07-01T10:00:00.000Z', '%H:%M %Z %Y-%m-%d'],
])('%s %s is %s', async (type, text, read, format?: string) => {
  expect((await readInProcess(`v\n${text}\n`, declared(type, format))).rows).toEqual([[read]]);
});

test.each(['2024-01-01 10:00:00-25:00', '2024-01-01 10:00:00+01:60', '2024-01-01T10:00:00+16'])(
  '%s is a text, because no zone has this offset',
  async (text) => {
    const rows = [[text], ['2024-01-01 10:00:00+01:00']];
    const csv = await readInProcess(`v,n\n${text},1\n${String(rows[1])},2\n`);
    expect(csv).toMatchObject({ types: ['v string', 'n integer'], rows: rows.map((row, i) => [...row, i + 1]) });
    const json = await readInProcess(JSON.stringify(rows.map(([v]) => ({ v }))), {}, 'x.json');
    expect(json).toMatchObject({ types: ['v string'], rows });
  },
);
