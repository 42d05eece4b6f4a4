import { writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { BoundQuery } from '../../src/core/row-source.ts';
import { HAS_MARIADB } from '../support/engines.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { boundQuery, boundParameter, neverAborted, useSource } from '../support/postgres-source.ts';
import { useFiles } from '../support/uploaded-source.ts';

describe('Postgres counts', () => {
  const source = useSource();
  const count = (text: string, parameters: BoundQuery['parameters'] = []) =>
    source.connection.count(boundQuery(text, parameters), neverAborted);

  test('the rows of any query, with bound values', async () => {
    expect(await count('select 1 as id, null as id, 3 as id -- equal names')).toBe(1);
    const filtered = `
      with a as (select generate_series(1, 1000) as i)
      select * from a where i > {{minimum}} order by i;`;
    expect(await count(filtered, [boundParameter('minimum', 600)])).toBe(400);
    const awkwardTypes = `values ('x', '{}'::json, row(1, 2), array[1], null::xml), (null, null, null, null, null)`;
    expect(await count(awkwardTypes)).toBe(2);
    expect(await count(`select pg_sleep(0) from generate_series(1, 3)`)).toBe(3);
    expect(await count('select 1 where false')).toBe(0);
    expect(await count(`select ${Array.from({ length: 1600 }, (_, i) => i).join()}`)).toBe(1);
  });

  test('with evaluation of every column, so that its errors show', async () => {
    await expect(count('select 1 / (i - 3) as x from generate_series(1, 5) i')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('division by zero'),
    });
  });

  test('only a single select, which writes nothing', async () => {
    await source.sql('create table t (i int)');
    const refused = [
      'show timezone',
      'insert into t values (1) returning i',
      'select 1; select 2',
      'select 1) as q; drop table t; select (1',
    ];
    for (const text of refused) await expect(count(text), text).rejects.toMatchObject({ status: 400 });
    await expect(count(`select nextval(pg_get_serial_sequence('t', 'i'))::int, lo_create(0)`)).rejects.toMatchObject({
      message: expect.stringContaining('read-only'),
    });
    expect(await source.sql('select * from t')).toEqual([]);
  });

  test('until its timeout', async () => {
    await expect(
      source.connection.count(boundQuery('select pg_sleep(60)', [], 300), neverAborted),
    ).rejects.toMatchObject({
      message: 'query timeout after 300 ms',
    });
    await expect.poll(() => source.busy()).toEqual([]);
  });
});

describe.skipIf(!HAS_MARIADB)('MySQL counts', () => {
  const source = HAS_MARIADB ? useMysqlSource() : null!;
  const count = (text: string, parameters: BoundQuery['parameters'] = []) =>
    source.connection.count(boundQuery(text, parameters), neverAborted);

  test('the rows of any query, with bound values', async () => {
    expect(await count('select 1 as id, null as id, 3 as id # equal names')).toBe(1);
    const filtered = `
      with a as (select seq from seq_1_to_1000)
      select * from a where seq > {{minimum}} order by seq limit {{limit}};`;
    expect(await count(filtered, [boundParameter('minimum', 600), boundParameter('limit', 300)])).toBe(300);
    const awkwardTypes = `select json_object('a', 1), x'00', null, point(1, 2) union all select null, null, null, null`;
    expect(await count(awkwardTypes)).toBe(2);
    expect(await count('select 1 from dual where false')).toBe(0);
  });

  test('only a single select', async () => {
    for (const text of ['show tables', 'select 1; select 2', 'select 1) select 1 -- ', 'nonsense'])
      await expect(count(text), text).rejects.toMatchObject({ status: 400 });
  });

  test('until it is cancelled or its timeout', async () => {
    const cancellation = new AbortController();
    const counting = source.connection
      .count(boundQuery('select sleep(60), 7 as n'), cancellation.signal)
      .catch((error: unknown) => error);
    await expect.poll(() => source.busy()).toEqual([expect.stringContaining('sleep')]);
    cancellation.abort();
    expect(await counting).toMatchObject({ code: 'CANCELLED' });
    await expect(source.connection.count(boundQuery('select sleep(60)', [], 500), neverAborted)).rejects.toMatchObject({
      status: 500,
      message: 'query timeout after 500 ms',
    });
    await expect.poll(() => source.busy()).toEqual([]);
  });
});

describe('an uploaded file counts', () => {
  const files = useFiles();

  const openCsv = async () => {
    const lines = Array.from({ length: 1000 }, (_, i) => `${i + 1},w${i + 1}`);
    await writeFile(files.path('numbers.csv'), `i,w\n${lines.join('\n')}\n`);
    return files.open('file', 'numbers.csv', { format: 'csv' }).connection;
  };
  const openSqlite = async () => {
    const database = new DatabaseSync(files.path('numbers.sqlite'));
    database.exec(`
      drop table if exists data;
      create table data (i integer, w text);
      with recursive r(i) as (values (1) union all select i + 1 from r where i < 1000)
      insert into data select i, 'w' || i from r`);
    database.close();
    return files.open('sqlite', 'numbers.sqlite').connection;
  };
  /** Ways to open equal files: 1000 rows of a number `i` and a word `w`. */
  const DRIVERS = [
    ['sqlite', openSqlite],
    ['file', openCsv],
  ] as const;

  test.for(DRIVERS)('the rows of any query, with bound values (%s)', async ([, open]) => {
    const connection = await open();
    const count = (text: string, parameters: BoundQuery['parameters'] = []) =>
      connection.count(boundQuery(text, parameters), neverAborted);
    const filtered = 'select i, i, w from data where i > {{minimum}} order by w -- all';
    expect(await count(filtered, [boundParameter('minimum', 600)])).toBe(400);
    expect(await count('with d as (select w from data) select distinct substr(w, 1, 2) from d;')).toBe(9);
    expect(await count('select null as n from data where i < 0')).toBe(0);
    for (const text of ['pragma table_info(data)', 'select 1; select 2', 'delete from data', 'select 1) select (1'])
      await expect(count(text), text).rejects.toMatchObject({ status: 400 });
  });

  test.for(DRIVERS)('until it is cancelled or its timeout (%s)', async ([, open]) => {
    const connection = await open();
    const endless = 'select a.w from data a, data b, data c, data d where a.w || b.w || c.w || d.w = {{never}}';
    const query = (timeout: number) => boundQuery(endless, [boundParameter('never', 'x')], timeout);
    await expect(connection.count(query(1500), neverAborted)).rejects.toMatchObject({
      status: 500,
      message: 'query timeout after 1500 ms',
    });
    const cancellation = new AbortController();
    const counting = connection.count(query(60_000), cancellation.signal).catch((error: unknown) => error);
    cancellation.abort();
    expect(await counting).toMatchObject({ code: 'CANCELLED' });
  });
});
