import { readFile, rm } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { boundQuery, neverAborted } from '../support/postgres-source.ts';
import { rejectionOf, filesIn, queryProcesses, waitUntil } from '../support/uploaded-source.ts';
import { SELECT_ALL, useUploads } from './driver-file-fixture.ts';

const { files, upload, openSmallFile } = useUploads();

describe('segments', () => {
  test('report their rows and bytes in the order of the file, and at most three exist for a slow reader', async () => {
    const { file } = await upload(
      `i,s\n${Array.from({ length: 60_000 }, (_, i) => `${i},"${'ü"",'.repeat(100)}"`).join('\n')}\n`,
    );
    let next = 0;
    let maxFiles = 0;
    for await (const segment of file.connection.segments(boundQuery(SELECT_ALL), files.segments, neverAborted)) {
      maxFiles = Math.max(maxFiles, (await filesIn(files.segments)).length);
      const bytes = await readFile(segment.path);
      const lines = bytes.toString().split('\n').slice(0, -1);
      expect(segment).toMatchObject({
        rows: lines.length,
        bytes: bytes.length,
        longestRow: Math.max(...lines.map((line) => Buffer.byteLength(line) + 1)),
        temporary: true,
      });
      for (const line of lines) expect(line.startsWith(`${next++},"ü"",`)).toBe(true);
      await rm(segment.path);
    }
    expect(next).toBe(60_000);
    expect(maxFiles).toBeLessThanOrEqual(3);
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
    for await (const segment of (await openSmallFile()).connection.segments(
      boundQuery(ENDLESS_ROWS_QUERY),
      files.segments,
      neverAborted,
    )) {
      await rm(segment.path);
      break;
    }
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
