import { describe, expect, test } from 'vitest';
import type { SourceConnection } from '../../src/core/row-source.ts';
import { HAS_MARIADB } from '../support/engines.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { boundQuery, useSource } from '../support/postgres-source.ts';
import { rejectionOf } from '../support/uploaded-source.ts';
import { useUploads } from './driver-file-fixture.ts';
import { useSqliteFiles } from './driver-sqlite-fixture.ts';

/**
 * Loads a query until `enough` rows are reported, then cancels it. Returns the reports, in order, and the number of
 * segments before.
 */
async function readReports(
  connection: SourceConnection,
  dir: string,
  text: string,
  enough: number,
): Promise<{ reports: number[]; segments: number }> {
  const stop = new AbortController();
  const reports: number[] = [];
  let segments = 0;
  const reading = (async () => {
    const query = boundQuery(text, [], 60_000);
    await connection.describe(query, stop.signal, { provisional: true });
    for await (const _ of connection.segments(query, dir, stop.signal, (rows) => {
      reports.push(rows);
      if (rows >= enough) stop.abort();
    }))
      segments += 1;
  })();
  expect(await rejectionOf(reading)).toMatchObject({ code: 'CANCELLED' });
  return { reports, segments };
}

describe('rows are counted as they arrive, long before they fill a segment', () => {
  /** Three rows that a server does not gather in its buffer, and then nothing. */
  const WIDE = `repeat('x', 40000)`;
  const source = useSource();

  test('from Postgres', async () => {
    const query = `select case when i > 3 then pg_sleep(60)::text else ${WIDE} end from generate_series(1, 9) i`;
    const { reports, segments } = await readReports(source.connection, source.dir, query, 2);
    expect(reports.at(-1)).toBeOneOf([2, 3]);
    expect(segments).toBe(0);
  });

  describe.skipIf(!HAS_MARIADB)('from MySQL', () => {
    const mysql = useMysqlSource();

    test('and MariaDB', async () => {
      const query = `select if(seq > 3, sleep(60), ${WIDE}) from seq_1_to_9`;
      const { reports, segments } = await readReports(mysql.connection, mysql.dir, query, 2);
      expect(reports.at(-1)).toBeOneOf([2, 3]);
      expect(segments).toBe(0);
    });
  });

  describe('from an uploaded file', () => {
    const { files, openSmallFile } = useUploads();

    test('of CSV', async () => {
      const query = `select r.range, length(repeat('x', 100000 + r.range)) from range(1000000) r`;
      const { connection } = await openSmallFile();
      const { reports, segments } = await readReports(connection, files.segments, query, 2);
      expect(reports.at(-1)).toBeGreaterThanOrEqual(2);
      expect(segments).toBe(0);
    });
  });

  describe('from an uploaded file', () => {
    const { files, createFile } = useSqliteFiles();

    test('of SQLite', async () => {
      const { file } = createFile(
        `create table t as with recursive r(i) as (values (1) union all select i + 1 from r where i < 200)
        select i from r`,
      );
      const slow = 'with recursive r(n) as (values (t.i) union all select n + 1 from r where n < 300000)';
      const query = `select i, (${slow} select count(*) from r) from t`;
      const { reports, segments } = await readReports(file.connection, files.segments, query, 2);
      expect(reports.at(-1)).toBeLessThan(200);
      expect(segments).toBe(0);
    });
  });
});
