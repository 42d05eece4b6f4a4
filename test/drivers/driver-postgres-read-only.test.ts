import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { boundQuery, boundParameter, neverAborted, useSource } from '../support/postgres-source.ts';

const source = useSource();

describe('a query only reads, and is one statement, even for a superuser', () => {
  const marker = `/tmp/dws-marker-${randomUUID()}`;
  const program = `copy (select 1) to program 'touch ${marker}'`;

  test.each([
    program,
    `select 1) to program 'touch ${marker}' --`,
    `select 1) to program 'touch ${marker}' (format csv, null '\\N') /*`,
    `select 1\n) as q(c0)\n) to program 'touch ${marker}' --`,
    `select 1; ${program}`,
    `select 1;; ${program}; --`,
    `select 1 /* ; ${program}`,
    `select 1 -- \r; ${program}) `,
    `select 1 /* /* */ ) to program 'touch ${marker}' /* */ */ ) to program 'touch ${marker}' --`,
    `select $$ ) to program 'touch ${marker}' --`,
    `select E'\\' ) to program ''touch ${marker}'' --`,
    `select "a ) to program 'touch ${marker}' --`,
    `((select 1)) ) to program 'touch ${marker}' --`,
    `select '{{a}}; ${program} --'`,
    `select {{a}} -- {{a}}\n) to program 'touch ${marker}' --`,
    `select $1`,
    `select 1 where false; commit; ${program}`,
    '',
    ' ',
    '-- nothing',
    ';',
    'select 1 from',
    'select (1',
    'select 1)',
    'insert into t values (2)',
    'insert into t values (2) returning i',
    'update t set i = 3',
    'delete from t returning *',
    'truncate t',
    'drop table t',
    'create table u (i int)',
    'with gone as (delete from t returning i) select * from gone',
    'select * into u from t',
    'select * from t for update',
    `select nextval('s')`,
    `select setval('s', 9)`,
    `select set_config('transaction_read_only', 'off', false), nextval('s')`,
    `select lo_create(0)`,
    'begin',
    'commit',
    'rollback; drop table t',
    'set role postgres',
    'show server_version',
    'explain analyze delete from t',
    'call x()',
    `do $$ begin drop table t; end $$`,
    'vacuum',
    'lock table t',
    'listen x',
    `notify x`,
    'prepare p as select 1',
    'execute p',
    'declare c cursor for select 1',
    'copy t to stdout',
    'copy t from stdin',
    'table t; table t',
  ])('%j is refused', async (text) => {
    await source.sql(
      `drop table if exists t, u;
      drop sequence if exists s;
      create table t as select 1 as i;
      create sequence s`,
    );
    const query = boundQuery(text, [boundParameter('a', 'x')]);
    const refusal = { status: 400, code: 'BAD_USER_INPUT' };
    await expect(source.load(query)).rejects.toMatchObject(refusal);
    await expect(source.query(text, query.parameters)).rejects.toMatchObject(refusal);
    const unchanged = await source.sql(
      `select
        i,
        to_regclass('u') as u,
        (select is_called from s) as called,
        (select count(*)::int from pg_largeobject_metadata) as objects
      from t`,
    );
    expect(unchanged).toEqual([{ i: 1, u: null, called: false, objects: 0 }]);
    expect(existsSync(marker)).toBe(false);
  });

  test('describing does not run anything', async () => {
    expect(await source.connection.describe(boundQuery('select 1 / 0 as never'), neverAborted)).toMatchObject([
      { name: 'never', type: 'integer' },
    ]);
  });

  test('text that only looks like an attack is data', async () => {
    const { rows } = await source.load(
      boundQuery(`select ');--' as a, $x$ ) to program ' $x$ as b, 1 as "c)--" /* ) -- */ -- )`),
    );
    expect(rows).toEqual([[');--', ` ) to program ' `, '1']]);
  });

  test('an error of the source names the line and the hint', async () => {
    await expect(source.query('select 1,\n  relnam\nfrom (select 1 as relname) as c')).rejects.toMatchObject({
      status: 400,
      message: 'column "relnam" does not exist (line 2). Hint: Perhaps you meant to reference the column "c.relname".',
    });
    await expect(source.query('select 1 / 0')).rejects.toMatchObject({ status: 400, message: 'division by zero' });
  });
});
