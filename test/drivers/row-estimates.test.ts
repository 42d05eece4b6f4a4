import { rm } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { SourceConnection } from '../../src/core/row-source.ts';
import { HAS_MARIADB } from '../support/engines.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { boundQuery, neverAborted, useSource } from '../support/postgres-source.ts';
import { SELECT_ALL, useUploads } from './driver-file-fixture.ts';

const ROWS = 1000;

/** Reads all rows of a query. Returns their number and the estimates, in order. */
async function readEstimates(
  connection: SourceConnection,
  dir: string,
  query: ReturnType<typeof boundQuery>,
): Promise<{ rows: number; estimates: number[] }> {
  const estimates: number[] = [];
  let rows = 0;
  await connection.describe(query, neverAborted);
  for await (const segment of connection.segments(
    query,
    dir,
    neverAborted,
    () => {},
    (estimate) => estimates.push(estimate),
  )) {
    rows += segment.rows;
    await rm(segment.path);
  }
  return { rows, estimates };
}

describe('a Postgres source', () => {
  const source = useSource();

  test('estimates the rows by the plan of the query, parameters included', async () => {
    await source.sql(`create table counted as select i from generate_series(1, ${ROWS}) i; analyze counted`);
    const read = (text: string, ...parameters: Parameters<typeof boundQuery>[1] & object) =>
      readEstimates(source.connection, source.dir, boundQuery(text, parameters));
    expect(await read('select i from counted')).toEqual({ rows: ROWS, estimates: [ROWS] });
    expect(await read('select i from counted limit 7')).toEqual({ rows: 7, estimates: [7] });
    const bound = await read('select i, {{n}} as n from counted', { name: 'n', dataType: 'number', value: 5 });
    expect(bound).toEqual({ rows: ROWS, estimates: [ROWS] });
  });
});

describe.skipIf(!HAS_MARIADB)('a MySQL source', () => {
  const source = useMysqlSource();

  test('estimates the rows by the plan of the query, unless it is a union', async () => {
    await source.sql(
      `create table counted (i int primary key) engine = aria; insert into counted select seq from seq_1_to_${ROWS};
      analyze table counted`,
    );
    const read = (text: string) => readEstimates(source.connection, source.dir, boundQuery(text));
    expect(await read('select i from counted')).toEqual({ rows: ROWS, estimates: [ROWS] });
    expect(await read('select i from counted union all select 1')).toEqual({ rows: ROWS + 1, estimates: [] });
  });
});

describe('an uploaded file', () => {
  const { files, upload } = useUploads();
  const COUNT = 250_000;
  const NOTE = 'x'.repeat(80);

  test.each([
    ['csv', `id,note\n${Array.from({ length: COUNT }, (_, i) => `${i},${NOTE}\n`).join('')}`],
    ['ndjson', Array.from({ length: COUNT }, (_, id) => `${JSON.stringify({ id, note: NOTE })}\n`).join('')],
  ])('of %s has an estimate by its bytes while its rows arrive', async (format, text) => {
    const { file } = await upload(text, `notes.${format}`);
    const { rows, estimates } = await readEstimates(
      file.connection,
      files.segments,
      boundQuery(`${SELECT_ALL} where md5(repeat(note, 20)) <> ''`),
    );
    expect(rows).toBe(COUNT);
    expect(estimates.length).toBeGreaterThan(0);
    for (const estimate of estimates) expect(Math.abs(estimate - COUNT)).toBeLessThan(COUNT / 20);
  });
});
