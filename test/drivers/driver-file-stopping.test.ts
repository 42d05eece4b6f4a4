import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { boundQuery, neverAborted } from '../support/postgres-source.ts';
import { rejectionOf, filesIn, queryProcesses, waitUntil } from '../support/uploaded-source.ts';
import { SELECT_ALL, useUploads } from './driver-file-fixture.ts';

const { files, upload, openSmallFile } = useUploads();

describe('segments', () => {
  const ROWS = 10_000;

  test.each([
    ['short', 'ü"",'.repeat(100)],
    ['long', 'x"",'.repeat(1000)],
  ])('of %s rows are one table with all of them, in the order of the file', async (_, text) => {
    const { file } = await upload(`i,s\n${Array.from({ length: ROWS }, (__, i) => `${i},"${text}"`).join('\n')}\n`);
    const value = text.replaceAll('""', '"');
    const { rows, segments } = await file.load(boundQuery(SELECT_ALL));
    expect(rows.length).toBe(ROWS);
    for (const [i, row] of rows.entries())
      if (row[0] !== String(i) || row[1] !== value) expect(row).toEqual([i, value]);
    const bytes = Buffer.byteLength(value);
    expect(segments).toEqual([
      {
        path: join(files.segments, 'segment.table'),
        rows: ROWS,
        bytes: expect.toSatisfy((size: number) => size > ROWS * bytes && size < ROWS * (bytes + 20)) as number,
        longestRow: expect.toSatisfy((size: number) => size > bytes && size < bytes + 20) as number,
        temporary: true,
        table: true,
      },
    ]);
    expect(await filesIn(files.segments)).toEqual([]);
  });
});

describe('stopping', () => {
  const SILENT_QUERY = 'select count(*) from range(1000000) a, range(1000000) b where (a.range * b.range) % 7 = 9';
  const ENDLESS_ROWS_QUERY = 'select a.range, b.range from range(1000000) a, range(1000000) b';

  test.each([
    ['query', SILENT_QUERY],
    ['load', SILENT_QUERY],
    ['load', ENDLESS_ROWS_QUERY],
  ])('a %s past its timeout fails with a query timeout, and its process has ended', async (kind, text) => {
    const file = await openSmallFile();
    await expect(
      kind === 'query'
        ? file.connection.query(boundQuery(text, [], 1000), 10, neverAborted)
        : file.load(boundQuery(text, [], 1000)),
    ).rejects.toMatchObject({ status: 500, code: 'UPSTREAM_FAILED', message: 'query timeout after 1000 ms' });
    expect(queryProcesses()).toEqual([]);
    expect(await filesIn(files.segments)).toEqual([]);
  });

  test('aborting ends the process before the call rejects', async () => {
    const stop = new AbortController();
    const outcome = rejectionOf((await openSmallFile()).connection.query(boundQuery(SILENT_QUERY), 10, stop.signal));
    await waitUntil(() => queryProcesses().length === 1);
    stop.abort();
    expect(await outcome).toMatchObject({ status: 409, code: 'CANCELLED' });
    expect(queryProcesses()).toEqual([]);
  });

  test('a reader that stops early ends the process, and no file remains', async () => {
    const stop = new AbortController();
    const { connection } = await openSmallFile();
    const segments = connection.segments(boundQuery(ENDLESS_ROWS_QUERY), files.segments, stop.signal);
    const outcome = rejectionOf(segments[Symbol.asyncIterator]().next());
    await waitUntil(async () => (await filesIn(files.segments)).length > 0);
    stop.abort();
    expect(await outcome).toMatchObject({ code: 'CANCELLED' });
    expect(queryProcesses()).toEqual([]);
    expect(await filesIn(files.segments)).toEqual([]);
  });

  test.each([
    ['list(range) from range(1000000000)'],
    [`repeat('x', 10000000000)`],
    [`string_agg(md5(range::VARCHAR), '') from range(1000000000)`],
  ])('select %s is refused for the memory that it requires', async (text) => {
    const error = (await rejectionOf((await openSmallFile()).query(`select ${text}`))) as Error;
    expect(error).toMatchObject({ status: 400 });
    expect(queryProcesses()).toEqual([]);
  });
});
