import { describe, expect, test } from 'vitest';
import { boundQuery, openSource, useSource } from '../support/postgres-source.ts';
import { readSlowly, testMillionRows, testStopping } from './server-stopping.ts';

const source = useSource();

describe('stopping', () => {
  // In the select list, generate_series returns rows one by one; in FROM it would first collect all of them.
  const ENDLESS_ROWS_QUERY =
    'select i, repeat(md5(i::text), 10) as filling from (select generate_series(1, 1000000000) as i) as g';
  const SILENT_QUERY = 'select count(*) from generate_series(1, 100000000000)';

  testStopping(source, {
    open: () => openSource(source.database.url),
    endlessRowsQuery: ENDLESS_ROWS_QUERY,
    silentQuery: SILENT_QUERY,
    loadStatement: 'COPY',
    isWaitingForReader: async () => {
      const waiting = await source.sql(
        `select wait_event
          from pg_stat_activity
          where wait_event = 'ClientWrite' and datname = current_database()`,
      );
      return waiting.length === 1;
    },
  });

  test('the source has a statement timeout of its own', async () => {
    const result = await source.query(`select current_setting('statement_timeout') as limit`);
    expect(result.rows).toEqual([{ limit: '20s' }]);
  });
});

describe('large results', () => {
  test('a slow reader finds at most two segments waiting, and memory does not grow', async () => {
    const { rows, maxFiles } = await readSlowly(
      source,
      `select i, repeat('x', 1000) from (select generate_series(1, 100000) as i) as g`,
      1000,
    );
    expect(rows).toBe(100_000);
    // One that is read and two that wait.
    expect(maxFiles).toBeLessThanOrEqual(3);
  });

  testMillionRows(source, `select i, 'row ' || i as name from generate_series(1, 1000000) as g(i)`);

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
