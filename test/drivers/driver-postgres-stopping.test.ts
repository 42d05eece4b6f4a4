import { readdir, readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { boundQuery, neverAborted, openSource, useSource } from '../support/postgres-source.ts';
import { rejectionOf, waitUntil } from '../support/uploaded-source.ts';

const source = useSource();

const isIdle = async () => (await source.busy()).length === 0;

describe('stopping', () => {
  // In the select list, generate_series returns rows one by one; in FROM it would first collect all of them.
  const ENDLESS_ROWS_QUERY =
    'select i, repeat(md5(i::text), 10) as filling from (select generate_series(1, 1000000000) as i) as g';
  const SILENT_QUERY = 'select count(*) from generate_series(1, 100000000000)';

  test.each([
    ['that sends rows', ENDLESS_ROWS_QUERY],
    ['that computes and sends nothing', SILENT_QUERY],
  ])('aborting a load %s cancels it in the source and leaves no file', async (_, text) => {
    const stop = new AbortController();
    const reading = (async () => {
      for await (const { path } of source.connection.segments(boundQuery(text), source.dir, stop.signal))
        await rm(path);
    })();
    const outcome = rejectionOf(reading);
    await waitUntil(async () => (await source.busy()).some((query) => query.startsWith('COPY')));
    if (text === ENDLESS_ROWS_QUERY) await sleep(300);
    stop.abort();
    expect(await outcome).toMatchObject({ status: 409, code: 'CANCELLED' });
    await waitUntil(isIdle);
    expect(await readdir(source.dir)).toEqual([]);
  });

  test('aborting a load whose source waits for the reader cancels it', async () => {
    const stop = new AbortController();
    const loading = source.connection.segments(boundQuery(ENDLESS_ROWS_QUERY), source.dir, stop.signal);
    const segments = loading[Symbol.asyncIterator]();
    await rm((await segments.next()).value.path as string);
    const isWaiting = async () => {
      const waiting = await source.sql(
        `select wait_event
        from pg_stat_activity
        where wait_event = 'ClientWrite' and datname = current_database()`,
      );
      return waiting.length === 1;
    };
    await waitUntil(isWaiting);
    stop.abort();
    await waitUntil(isIdle);
    await expect(segments.next()).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await readdir(source.dir)).toEqual([]);
  });

  test('a reader that stops early cancels the load', async () => {
    for await (const segment of source.connection.segments(boundQuery(ENDLESS_ROWS_QUERY), source.dir, neverAborted)) {
      expect(segment.rows).toBeGreaterThan(1);
      await rm(segment.path);
      break;
    }
    await waitUntil(isIdle);
    expect(await readdir(source.dir)).toEqual([]);
  });

  test('closing the connection cancels what runs', async () => {
    const connection = openSource(source.database.url);
    const outcome = rejectionOf(connection.query(boundQuery(SILENT_QUERY), 10, neverAborted));
    await waitUntil(async () => (await source.busy()).some((query) => query.startsWith('select')));
    await connection.close();
    expect(await outcome).toMatchObject({ code: 'CANCELLED' });
    await waitUntil(isIdle);
  });

  test.each(['query', 'load'])(
    'a %s past its timeout fails with a query timeout and ends in the source',
    async (kind) => {
      const query = boundQuery(SILENT_QUERY, [], 300);
      const running = kind === 'query' ? source.connection.query(query, 10, neverAborted) : source.load(query);
      await expect(running).rejects.toMatchObject({
        status: 500,
        code: 'UPSTREAM_FAILED',
        message: 'query timeout after 300 ms',
      });
      await waitUntil(isIdle);
    },
  );

  test('the source has a statement timeout of its own', async () => {
    const result = await source.query(`select current_setting('statement_timeout') as limit`);
    expect(result.rows).toEqual([{ limit: '20s' }]);
  });

  test('an aborted signal opens no connection', async () => {
    await expect(source.connection.query(boundQuery('select 1'), 10, AbortSignal.abort())).rejects.toMatchObject({
      code: 'CANCELLED',
    });
  });
});

describe('large results', () => {
  test('a slow reader finds at most two segments waiting, and memory does not grow', async () => {
    const before = process.memoryUsage.rss();
    let maxFiles = 0;
    let rows = 0;
    for await (const segment of source.connection.segments(
      boundQuery(`select i, repeat('x', 1000) from (select generate_series(1, 100000) as i) as g`),
      source.dir,
      neverAborted,
    )) {
      await sleep(100);
      maxFiles = Math.max(maxFiles, (await readdir(source.dir)).length);
      rows += segment.rows;
      expect(segment.bytes).toBeLessThan(9 * 1024 * 1024);
      expect(segment.longestRow).toBeGreaterThan(1000);
      await rm(segment.path);
    }
    expect(rows).toBe(100_000);
    // One that is read and two that wait.
    expect(maxFiles).toBe(3);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024);
  });

  test('a million rows arrive complete and in order', async () => {
    let next = 1;
    for await (const segment of source.connection.segments(
      boundQuery(`select i, 'row ' || i as name from generate_series(1, 1000000) as g(i)`),
      source.dir,
      neverAborted,
    )) {
      const lines = (await readFile(segment.path, 'utf8')).split('\n');
      expect(lines.pop()).toBe('');
      expect(segment.rows).toBe(lines.length);
      expect(segment.longestRow).toBe(lines.reduce((longest, line) => Math.max(longest, line.length + 1), 0));
      const wrong = lines.find((line) => line !== `${next},row ${next++}`);
      expect(wrong).toBeUndefined();
      await rm(segment.path);
    }
    expect(next).toBe(1_000_001);
  });

  test('a row larger than a segment stays complete', async () => {
    const { rows, segments } = await source.load(
      boundQuery(`select repeat('ü', 10000000) as v union all select 'next'`),
    );
    expect(rows.map(([value]) => value!.length)).toEqual([10_000_000, 4]);
    expect(segments).toMatchObject([{ rows: 1, bytes: 20_000_003, longestRow: 20_000_003 }, { rows: 1 }]);
  });

  test('an error in the middle of the rows fails the load with the message of the source', async () => {
    await expect(
      source.load(boundQuery('select 1 / (500000 - i) from generate_series(1, 1000000) as g(i)')),
    ).rejects.toMatchObject({ status: 400, message: 'division by zero' });
  });
});
