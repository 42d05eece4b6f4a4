import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { csvSegments, CsvSegmentWriter, csvText } from '../../src/adapters/drivers/csv-encoder.ts';
import type { Segment } from '../../src/core/row-source.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dws-csv-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test('a null differs from every text', () => {
  expect([null, '', '\\N', 'a', 'a"b', 'a,b', 'a\nb', 'a\rb', ' a '].map(csvText)).toEqual([
    '\\N',
    '""',
    '"\\N"',
    'a',
    '"a""b"',
    '"a,b"',
    '"a\nb"',
    '"a\rb"',
    ' a ',
  ]);
});

test('a segment reports its rows, its bytes and its longest record', async () => {
  const writer = new CsvSegmentWriter(dir);
  writer.row(['1', 'é', null]);
  writer.text('2');
  writer.text('longer');
  writer.text('');
  writer.endRow();
  const segment = await writer.flush();
  expect(await readFile(segment.path, 'utf8')).toBe('1,é,\\N\n2,longer,""\n');
  expect(segment).toMatchObject({ rows: 2, bytes: 20, longestRow: 12, temporary: true });
  expect(writer.rows).toBe(0);
});

test('segments have about 8 MB of complete records, even if one record is larger', async () => {
  const row = ['x'.repeat(999)];
  const huge = ['é'.repeat(10_000_000)];
  async function* batches() {
    yield Array.from({ length: 20_000 }, () => row);
    yield [huge, row];
  }
  const segments: Segment[] = [];
  for await (const segment of csvSegments(batches(), dir)) segments.push(segment);
  expect(segments.map(({ rows, longestRow }) => [rows, longestRow])).toEqual([
    [8389, 1000],
    [8389, 1000],
    [3223, 20_000_001],
    [1, 1000],
  ]);
  for (const { path, rows, bytes } of segments) {
    const text = await readFile(path, 'utf8');
    expect(Buffer.byteLength(text)).toBe(bytes);
    expect(text.split('\n')).toHaveLength(rows + 1);
  }
});
