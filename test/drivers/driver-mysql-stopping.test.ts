import { readdir, readFile, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { HAS_MARIADB } from '../support/engines.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { boundQuery, boundParameter, neverAborted } from '../support/postgres-source.ts';
import { rejectionOf, waitUntil } from '../support/uploaded-source.ts';

describe.skipIf(!HAS_MARIADB)('MySQL and MariaDB: stopping and large results', () => {
  const source = useMysqlSource();
  const load = (text: string) => source.load(boundQuery(text, [boundParameter('a', 'x')]));

  describe('stopping', () => {
    const ENDLESS_ROWS_QUERY =
      'select a.seq, repeat(md5(a.seq), 10) as filling from seq_1_to_1000000 a, seq_1_to_1000000 b';
    const SILENT_QUERY = 'select count(*) from seq_1_to_1000000 a, seq_1_to_1000000 b where a.seq + b.seq < 0';
    const isIdle = async () => (await source.busy()).length === 0;

    test.each([
      ['that sends rows', ENDLESS_ROWS_QUERY],
      ['that computes and sends nothing', SILENT_QUERY],
    ])('aborting a load %s ends it in the source and leaves no file', async (_, text) => {
      const stop = new AbortController();
      const outcome = rejectionOf(
        (async () => {
          for await (const { path } of source.connection.segments(boundQuery(text), source.dir, stop.signal))
            await rm(path);
        })(),
      );
      await waitUntil(async () => (await source.busy()).some((query) => query.startsWith('select')));
      if (text === ENDLESS_ROWS_QUERY) await sleep(300);
      stop.abort();
      expect(await outcome).toMatchObject({ status: 409, code: 'CANCELLED' });
      await waitUntil(isIdle);
      expect(await readdir(source.dir)).toEqual([]);
    });

    test('aborting a load whose source waits for the reader ends it', async () => {
      const stop = new AbortController();
      const loading = source.connection.segments(boundQuery(ENDLESS_ROWS_QUERY), source.dir, stop.signal);
      const segments = loading[Symbol.asyncIterator]();
      await rm((await segments.next()).value.path as string);
      const isSending = async () => {
        const sending = await source.sql(
          `select state
          from information_schema.processlist
          where db = '${source.database}' and state in ('Writing to net', 'Sending data')`,
        );
        return sending.length === 1;
      };
      await waitUntil(isSending);
      await sleep(200);
      stop.abort();
      await waitUntil(isIdle);
      await expect(segments.next()).rejects.toMatchObject({ code: 'CANCELLED' });
      expect(await readdir(source.dir)).toEqual([]);
    });

    test('a reader that stops early ends the load', async () => {
      for await (const segment of source.connection.segments(
        boundQuery(ENDLESS_ROWS_QUERY),
        source.dir,
        neverAborted,
      )) {
        expect(segment.rows).toBeGreaterThan(1);
        await rm(segment.path);
        break;
      }
      await waitUntil(isIdle);
      expect(await readdir(source.dir)).toEqual([]);
    });

    test('closing the connection ends what runs', async () => {
      const connection = source.open();
      const outcome = rejectionOf(connection.query(boundQuery(SILENT_QUERY), 10, neverAborted));
      await waitUntil(async () => (await source.busy()).some((query) => query.startsWith('select')));
      await connection.close();
      expect(await outcome).toMatchObject({ code: 'CANCELLED' });
      await waitUntil(isIdle);
    });

    test('a cut result ends its statement', async () => {
      expect(await source.query(`${ENDLESS_ROWS_QUERY} limit 900000000`, [], 2)).toMatchObject({ truncated: true });
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

    test('the source has a statement timeout of its own, and waits as long for a slow reader', async () => {
      const { rows } = await source.query(
        `select
          @@max_statement_time as statement_s,
          @@net_write_timeout as write_s,
          @@tx_read_only as read_only,
          @@time_zone as zone`,
      );
      expect(rows).toEqual([{ statement_s: 20, write_s: 20, read_only: 1, zone: '+00:00' }]);
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
        boundQuery(`select seq, repeat('x', 300) from seq_1_to_300000`),
        source.dir,
        neverAborted,
      )) {
        await sleep(100);
        maxFiles = Math.max(maxFiles, (await readdir(source.dir)).length);
        rows += segment.rows;
        expect(segment.bytes).toBeLessThan(9 * 1024 * 1024);
        expect(segment.longestRow).toBeGreaterThan(300);
        await rm(segment.path);
      }
      expect(rows).toBe(300_000);
      // One that is read and two that wait.
      expect(maxFiles).toBeLessThanOrEqual(3);
      expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024);
    });

    test('a million rows arrive complete and in order', async () => {
      let next = 1;
      for await (const segment of source.connection.segments(
        boundQuery(`select seq, concat('row ', seq) as name from seq_1_to_1000000`),
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

    test('a row larger than a packet and a segment stays complete, with its quotes', async () => {
      const { rows, segments } = await source.load(
        boundQuery(`select repeat('ü', 5000000) as v, repeat('"', 7000000) as w union all select 'next', ''`),
      );
      expect(rows.map((row) => row.map((value) => value!.length))).toEqual([
        [5_000_000, 7_000_000],
        [4, 0],
      ]);
      expect(segments).toMatchObject([{ rows: 1, bytes: 24_000_006, longestRow: 24_000_006 }, { rows: 1 }]);
    });

    test('rows of 16 MB stream in constant memory', async () => {
      const before = process.memoryUsage.rss();
      let rows = 0;
      for await (const segment of source.connection.segments(
        boundQuery(`select repeat('x', 16000000) as v from seq_1_to_30`),
        source.dir,
        neverAborted,
      )) {
        rows += segment.rows;
        await rm(segment.path);
      }
      expect(rows).toBe(30);
      expect(process.memoryUsage.rss() - before).toBeLessThan(350 * 1024 * 1024);
    });

    test('an error in the middle of the rows fails the load with the message of the source', async () => {
      await expect(
        load(`select if(seq = 500000, (select 1 union select 2), seq) from seq_1_to_1000000`),
      ).rejects.toMatchObject({ status: 400, message: 'Subquery returns more than 1 row' });
      expect(await readdir(source.dir)).toEqual([]);
    });
  });
});
