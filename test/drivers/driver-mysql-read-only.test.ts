import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { HAS_MARIADB } from '../support/engines.ts';
import { useMysqlSource } from '../support/mysql-source.ts';
import { boundQuery, boundParameter, neverAborted } from '../support/postgres-source.ts';

describe.skipIf(!HAS_MARIADB)('MySQL and MariaDB: read-only access', () => {
  const source = useMysqlSource();
  const load = (text: string) => source.load(boundQuery(text, [boundParameter('a', 'x')]));

  describe('a query only reads, and is one statement, even for an administrator', () => {
    const marker = `/tmp/dws-marker-${randomUUID()}`;
    const outfile = `select 1 into outfile '${marker}'`;

    test.each([
      outfile,
      `${outfile} -- `,
      `select i from t into outfile '${marker}'`,
      `select i into dumpfile '${marker}' from t`,
      `(${outfile})`,
      `select 1 union ${outfile}`,
      `select 1 /*! into outfile '${marker}' */`,
      `select 1 /*M! into outfile '${marker}' */`,
      `select 1 /*!50000 into outfile '${marker}' */ `,
      `select 1 into @x`,
      `select 1 into x`,
      `select 1) select 2 into outfile '${marker}' -- `,
      `select 1\n) select * from dws_query into outfile '${marker}' -- `,
      `select 1) , b as (select 2`,
      `select 1 /*! ) select 2 into outfile '${marker}' -- */`,
      `select 1; ${outfile}`,
      `select 1;; drop table t; -- `,
      'select 1 /*! ; drop table t */',
      `select 1 /* ; drop table t`,
      `select "a"; drop table t; -- "`,
      'select `a; drop table t; -- `',
      `select '{{a}}; drop table t'`,
      `select {{a}} -- {{a}}\n; drop table t`,
      'select ?',
      'select {{a}}, ?',
      'select {{a}} /*! , ? */',
      '',
      ' ',
      '-- nothing',
      '# nothing',
      ';',
      'select 1 from',
      'select (1',
      'select 1)',
      'insert into t values (2)',
      'insert into t values (2) returning i',
      'replace into t values (2)',
      'update t set i = 3',
      'delete from t returning i',
      'truncate t',
      'drop table t',
      'create table u (i int)',
      'create table u as select 1',
      'create or replace view u as select 1',
      'alter table t add j int',
      'rename table t to u',
      'select i from t for update',
      `select nextval(s)`,
      `select setval(s, 9)`,
      'select next value for s',
      'begin',
      'commit',
      'rollback',
      'start transaction read write',
      'set @x = 1',
      'set global max_connections = 1',
      'set statement max_statement_time = 0 for select 1',
      'set session transaction read write',
      'show tables',
      'show grants',
      'describe t',
      'explain select 1',
      'analyze select 1',
      'explain delete from t',
      'call x()',
      'do sleep(0)',
      'handler t open',
      'kill 1',
      'shutdown',
      'flush tables',
      'reset query cache',
      'optimize table t',
      'lock tables t write',
      'prepare p from "select 1"',
      'execute p',
      `execute immediate 'drop table t'`,
      `load data infile '/etc/passwd' into table t`,
      `load data local infile '/etc/passwd' into table t`,
      'grant all on *.* to root@localhost',
      'create user x',
      'install plugin x soname "x"',
      'use mysql',
      'select 1 procedure analyse()',
      'begin not atomic drop table t; end',
      'xa start "x"',
      'help "x"',
      'values (1) into outfile "x"',
    ])('%j is refused', async (text) => {
      await source.sql(
        `drop table if exists t, u;
        drop sequence if exists s;
        create table t as select 1 as i;
        create sequence s`,
      );
      const refusal = { status: 400, code: 'BAD_USER_INPUT' };
      await expect(load(text)).rejects.toMatchObject(refusal);
      await expect(source.query(text, [boundParameter('a', 'x')])).rejects.toMatchObject(refusal);
      const unchanged = await source.sql('select i, (select next_not_cached_value from s) as next from t');
      expect(unchanged).toEqual([{ i: 1, next: 1 }]);
      expect((await source.sql('show tables')).length).toBe(2);
      expect(existsSync(marker)).toBe(false);
    });

    test('describing does not run anything', async () => {
      const fails = 'select (select 1 union select 2) as never';
      expect(await source.connection.describe(boundQuery(fails), neverAborted)).toMatchObject([
        { name: 'never', type: 'integer' },
      ]);
      await expect(load(fails)).rejects.toMatchObject({ status: 400, message: 'Subquery returns more than 1 row' });
    });

    test('a function cannot write', async () => {
      await source.sql(
        `create or replace table written (i int);
        drop function if exists writes;
        create function writes() returns int
        begin
          insert into written values (1);
          return 1;
        end`,
      );
      await expect(load('select writes()')).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('READ ONLY') as string,
      });
      expect(await source.sql('select * from written')).toEqual([]);
    });

    test('variables and locks of a query end with its session', async () => {
      expect((await load('select @left := 5, get_lock("dws_test", 0)')).rows).toEqual([['5', '1']]);
      expect((await load('select @left, is_free_lock("dws_test")')).rows).toEqual([[null, '1']]);
    });

    test('text that only looks like an attack is data', async () => {
      expect((await load(`select ');--' as a, "x' into outfile '" as \`c)--\` /* ) -- */ -- )`)).rows).toEqual([
        [');--', `x' into outfile '`],
      ]);
      expect((await load(`select 'a\\'; drop table t; -- ' -- \r; drop table t`)).rows).toEqual([
        [`a'; drop table t; -- `],
      ]);
    });

    test('the SQL has the same meaning in every SQL mode of the server', async () => {
      const [before] = await source.sql('select @@global.sql_mode as mode');
      await source.sql(`set global sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'`);
      try {
        expect((await load(`select "a\\"b", 'c\\'d', 0 || 1`)).rows).toEqual([['a"b', `c'd`, '1']]);
      } finally {
        await source.sql(`set global sql_mode = '${String(before!.mode)}'`);
      }
    });

    test('an error has the message of the source, with its line', async () => {
      await expect(source.query('select 1,\n  relnam\nfrom t')).rejects.toMatchObject({
        status: 400,
        message: `Unknown column 'relnam' in 'SELECT'`,
      });
      await expect(source.query('select 1\nfrm t')).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('at line 2') as string,
      });
    });
  });
});
