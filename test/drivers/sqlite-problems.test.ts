import { describe, expect, test } from 'vitest';
import { neverAborted } from '../support/postgres-source.ts';
import { driverOf } from '../support/uploaded-source.ts';
import { useSqliteFiles } from './driver-sqlite-fixture.ts';

const { files, createFile } = useSqliteFiles();

/** Returns the problems of a SQLite file with these statements. */
async function problemsOf(sql: string) {
  const { name } = createFile(sql);
  const found = await driverOf('sqlite').upload!.detectConfig(files.path(name), name, neverAborted);
  return found!.problems;
}

describe('values that change, and types that values decide, are among the problems of the file', () => {
  const CUT = "Select it as an expression, such as x || '', in the query to keep the texts";
  test.each([
    ['real', ['9e999', '-9e999', '1.5'], '2 values, such as "Infinity", are missing (not a finite number)'],
    ['text', ["x'41ff'", "'a'"], '1 value is bytes, and written in Base64'],
    [
      'text',
      ["cast(x'4bf36c6e' as text)", "'Köln'", "'\ufffd'"],
      '1 value, such as "K\ufffdln", is not UTF-8: what cannot be read becomes the character U+FFFD',
    ],
    ['integer', ['1', "'1.5x'"], '1 value, such as "1.5x", is text among numbers, so the column is text'],
    ['', ['1', "'b'", "'a'"], '2 values, such as "b", are text among numbers, so the column is text'],
    [
      'date',
      ["'2026-11-29'", "'29.11.2026'"],
      '1 value, such as "29.11.2026", is not of the declared type date, which is not used',
    ],
    [
      'datetime',
      ["'0000-01-01'", "'2026-11-29 10:00:00.123456'"],
      '1 value, such as "0000-01-01", is not of the declared type datetime, which is not used',
    ],
    ['boolean', ['0', '2'], '1 value, such as "2", is not of the declared type boolean, which is not used'],
    ['json', [`'{"a":1}'`, "'{'"], '1 value, such as "{", is not of the declared type json, which is not used'],
    [
      'datetime',
      ["'2026-11-29 10:00:00.123456'", "'2026-11-29 10:00:00.123000'"],
      `1 value, such as "2026-11-29 10:00:00.123456", is cut to milliseconds. ${CUT}`,
    ],
    [
      'timestamp',
      ["'2026-11-29 10:00:00+02:00'", "'2026-11-29T10:00:00Z'", "'2026-11-29 10:00:00'"],
      `1 value, such as "2026-11-29 10:00:00", is without a time zone, and read as UTC among times with one. ${CUT}`,
    ],
    [
      'date',
      ["'2026-11-29'", "'2026-11-30'", "'2026-11-29 10:00:00'"],
      `2 values, such as "2026-11-29", are without a time, and read as midnight in UTC among times. ${CUT}`,
    ],
  ])('a column of %s with %j', async (type, values, message) => {
    const rows = values.map((value) => `(${value})`).join(', ');
    expect(await problemsOf(`create table t ("odd ""x""" ${type}); insert into t values ${rows}`)).toEqual([
      { column: 'odd "x"', message },
    ]);
  });

  test('one odd value behind thousands of others is found', async () => {
    expect(
      await problemsOf(`create table t (n integer);
        insert into t with recursive r(i) as (values (1) union all select i + 1 from r where i < 60000) select i from r;
        insert into t values ('late')`),
    ).toEqual([{ column: 'n', message: '1 value, such as "late", is text among numbers, so the column is text' }]);
  });

  test('with several tables the message names the table; views are not read', async () => {
    expect(
      await problemsOf(`create table a (x real); insert into a values (9e999); create table b (x real);
        create view c as select * from a`),
    ).toEqual([{ column: 'x', message: 'Table "a": 1 value, such as "Infinity", is missing (not a finite number)' }]);
  });

  test.each([
    ['boolean', ['1', '0', "'true'"]],
    ['bool', ["'false'", '1', 'null']],
  ])('a column of %s with %j has the declared type and no problem', async (type, values) => {
    const rows = values.map((value) => `(${value})`).join(', ');
    expect(await problemsOf(`create table t (b ${type}); insert into t values ${rows}`)).toEqual([]);
  });

  test('usual values are not a problem, nor are usual values of a file in UTF-16', async () => {
    const sql = `create table t (i integer, r real, s text, d date, t datetime, z datetime, b boolean, n numeric, any);
      insert into t values
        (1, 1.5, 'ü', '2026-01-01', '2026-01-01 10:00:00.5', '2026-01-01T10:00:00+02:00', 1, 2, null),
          (null, 2, '5', '2026-01-02', null, '2026-01-01T10:00:00Z', 0, 1.5, 1)`;
    expect(await problemsOf(sql)).toEqual([]);
    expect(await problemsOf(`pragma encoding = 'UTF-16le'; ${sql}`)).toEqual([]);
  });
});
