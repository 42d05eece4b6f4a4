import { readdir, rm } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { HAS_MARIADB } from '../support/engines.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { boundQuery, boundParameter, neverAborted } from '../support/postgres-source.ts';
import { waitUntil } from '../support/uploaded-source.ts';
import { isIdle, readSlowly, testMillionRows, testStopping } from './server-stopping.ts';

describe.skipIf(!HAS_MARIADB)('MySQL and MariaDB: stopping and large results', () => {
  const source = useMysqlSource();
  const load = (text: string) => source.load(boundQuery(text, [boundParameter('a', 'x')]));

  describe('stopping', () => {
    const ENDLESS_ROWS_QUERY =
      'select a.seq, repeat(md5(a.seq), 10) as filling from seq_1_to_1000000 a, seq_1_to_1000000 b';
    const SILENT_QUERY = 'select count(*) from seq_1_to_1000000 a, seq_1_to_1000000 b where a.seq + b.seq < 0';
    testStopping(source, {
      open: () => source.open(),
      endlessRowsQuery: ENDLESS_ROWS_QUERY,
      silentQuery: SILENT_QUERY,
      loadStatement: 'select',
      isWaitingForReader: async () => {
        const waiting = await source.sql(
          `select state
          from information_schema.processlist
          where db = '${source.database}' and state in ('Writing to net', 'Sending data')`,
        );
        return waiting.length === 1;
      },
    });

    test('a cut result ends its statement', async () => {
      expect(await source.query(`${ENDLESS_ROWS_QUERY} limit 900000000`, [], 2)).toMatchObject({ truncated: true });
      await waitUntil(() => isIdle(source));
    });

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
  });

  describe('large results', () => {
    test('a slow reader finds at most two segments waiting, and memory does not grow', async () => {
      const { rows, maxFiles } = await readSlowly(source, `select seq, repeat('x', 300) from seq_1_to_300000`, 300);
      expect(rows).toBe(300_000);
      // One that is read and two that wait.
      expect(maxFiles).toBeLessThanOrEqual(3);
    });

    testMillionRows(source, `select seq, concat('row ', seq) as name from seq_1_to_1000000`);

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
