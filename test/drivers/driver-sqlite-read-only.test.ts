import { rm, stat } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { rejectionOf, filesIn } from '../support/uploaded-source.ts';
import { useSqliteFiles } from './driver-sqlite-fixture.ts';

const { files, createFile } = useSqliteFiles();

describe('a query only reads, and only this file', () => {
  test.each([
    `attach '/etc/passwd' as p`,
    `attach ':memory:' as p`,
    'pragma user_version = 5',
    'pragma writable_schema = on',
    `select * from pragma_table_info('t')`,
    'pragma hard_heap_limit = 0',
    `select load_extension('/tmp/x.so')`,
    `select fts3_tokenizer('simple')`,
    `select sqlite_log(1, 'x')`,
    'select sqlite_compileoption_get(1)',
    'select sqlite_source_id()',
    'select * from pragma_database_list',
    'select * from main.pragma_database_list',
    'select d.file from (with pragma_database_list as (select 1) select 1 from pragma_database_list), pragma_database_list d',
    'with pragma_database_list as (select * from pragma_database_list) select * from pragma_database_list',
    'select * from pragma_function_list',
    'select * from pragma_compile_options',
    `select * from bytecode('select 1')`,
    `select * from fsdir('/')`,
    'select * from sqlite_dbpage',
    `vacuum into '/tmp/copy'`,
    'vacuum',
    'create temp table x (i)',
    'create table x (i)',
    'create temp view v as select 1',
    'insert into t values (1)',
    'insert into t values (1) returning i',
    'update t set i = 1',
    'delete from t',
    'drop table t',
    'begin',
    'commit',
    'savepoint s',
    'explain select 1',
    'reindex',
    'analyze',
    'select 1; select 2',
    'select 1; drop table t',
    'select 1) union select (2',
    'select 1 /*',
    '',
    ' ',
    ';',
    '-- nothing',
    'select',
    `select readfile('/etc/passwd')`,
    `select writefile('/tmp/x', 'y')`,
    `select edit('x')`,
    'select "no such column"',
    `select * from main.nothing`,
    `select '{{x}}'`,
    'with x as (select 1) delete from t',
    `create virtual table v using fts5(a)`,
  ])('%j is refused', async (text) => {
    const { name, file } = createFile('create table t (i); insert into t values (1)');
    const before = await stat(files.path(name));
    await expect(file.query(text)).rejects.toMatchObject({ status: 400, code: 'BAD_USER_INPUT' });
    expect((await stat(files.path(name))).mtimeMs).toBe(before.mtimeMs);
    expect((await filesIn(files.dir)).filter((file) => file.startsWith(`${name}-`))).toEqual([]);
  });

  test('a view of the file cannot do more than a query', async () => {
    const { file } = createFile(`create table t (i); create view v as select load_extension('/tmp/x.so') as x`);
    await expect(file.query('select * from v')).rejects.toMatchObject({ status: 400 });
  });

  test('files in WAL mode, full-text tables and JSON functions are readable', async () => {
    const { file } = createFile(
      `pragma journal_mode = wal;
      create virtual table f using fts5(body);
      insert into f values ('quick brown fox')`,
    );
    const { rows } = await file.query(`select body, json_extract('{"a":1}', '$.a') as a from f where f match 'brown'`);
    expect(rows).toEqual([{ body: 'quick brown fox', a: 1 }]);
  });

  test('an error does not contain the path of the file', async () => {
    const { name, file } = createFile('create table t (i)');
    await rm(files.path(name));
    const error = (await rejectionOf(file.query('select 1'))) as Error;
    expect(error).toMatchObject({ status: 400 });
    expect(JSON.stringify([error.message, error])).not.toContain(files.dir);
  });
});
